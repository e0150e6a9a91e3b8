"""The symmetries of rectangular boards, for every game that is played on one.

A board's points are numbered ``stride * row + column``.
"""

from __future__ import annotations

from functools import cached_property


class Image(dict[int, int]):
    """Where a symmetry of the board moves every point."""

    @cached_property
    def by_byte(self) -> list[list[int]]:
        """For each byte of a bitboard and each value of it: the images of its points."""
        images = []
        for first in range(0, max(self) + 1, 8):
            table = [0]
            for point in range(first, first + 8):
                moved = 1 << self[point] if point in self else 0
                table += [others | moved for others in table]
            images.append(table)
        return images


def symmetry_maps(rows: int, cols: int, stride: int) -> list[Image]:
    """For each symmetry of the board: where every point goes, the identity first."""
    maps: list[Image] = []
    for transpose in (False, True) if rows == cols else (False,):
        for mirror_rows in (False, True):
            for mirror_cols in (False, True):
                image = Image()
                for point in (stride * row + col for row in range(rows) for col in range(cols)):
                    row, col = divmod(point, stride)
                    row = rows - 1 - row if mirror_rows else row
                    col = cols - 1 - col if mirror_cols else col
                    row, col = (col, row) if transpose else (row, col)
                    image[point] = stride * row + col
                maps.append(image)
    return maps


def permute(bitboard: int, image: Image) -> int:
    """The bitboard with every point moved to its image."""
    moved = 0
    for images in image.by_byte:
        moved |= images[bitboard & 255]
        bitboard >>= 8
    return moved
