"""The symmetries of rectangular boards, for every game that is played on one.

A board's points are numbered ``stride * row + column``.
"""

from __future__ import annotations

from collections.abc import Mapping

Image = Mapping[int, int]


def symmetry_maps(rows: int, cols: int, stride: int) -> list[Image]:
    """For each symmetry of the board: where every point goes, the identity first."""
    maps: list[Image] = []
    for transpose in (False, True) if rows == cols else (False,):
        for mirror_rows in (False, True):
            for mirror_cols in (False, True):
                image = {}
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
    while bitboard:
        lowest = bitboard & -bitboard
        moved |= 1 << image[lowest.bit_length() - 1]
        bitboard ^= lowest
    return moved
