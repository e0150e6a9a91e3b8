"""The geometry and the stones of Go: chains, liberties, captures, area.

Plain Python on bitboards, written to be read; the compiled engine is tested against
it. Whatever its size, a board lies in the upper left corner of one layout::

        a   b   c        g   |
    r   0   1   2  ...   6   |  7        point = 8 * row + column; row 0 is the top,
        8   9  10  ...  14   | 15        which people call row r = number of rows
       ...                   |
    1  48  49  50  ...  54   | 55        column 7 is never on a board: a shift by one
                                         that leaves a row falls off the board
"""

from __future__ import annotations

from collections.abc import Iterator

from zermelo.games.symmetry import symmetry_maps

Point = int
Bitboard = int

STRIDE = 8
LONGEST_SIDE = 7
COLUMN_NAMES = "abcdefg"


class Board:
    """An empty board of one size: which points it has and how they touch."""

    def __init__(self, rows: int, cols: int) -> None:
        self.rows, self.cols = rows, cols
        self.points: list[Point] = [
            STRIDE * row + col for row in range(rows) for col in range(cols)
        ]
        self.mask: Bitboard = sum(1 << point for point in self.points)
        self.symmetries = symmetry_maps(rows, cols, STRIDE)

    def neighbours(self, stones: Bitboard) -> Bitboard:
        """The points that touch any of these points, these themselves left out."""
        touched = stones << STRIDE | stones >> STRIDE | stones << 1 | stones >> 1
        return touched & self.mask & ~stones

    def flood(self, seed: Bitboard, area: Bitboard) -> Bitboard:
        """All points of `area` connected to `seed` within `area`."""
        filled = seed & area
        while (grown := filled | self.neighbours(filled) & area) != filled:
            filled = grown
        return filled

    def components(self, area: Bitboard) -> Iterator[Bitboard]:
        """The connected parts of an area; of one colour's stones, its chains."""
        while area:
            part = self.flood(area & -area, area)
            yield part
            area &= ~part

    def without_liberties(self, stones: Bitboard, other: Bitboard) -> Bitboard:
        """Those of `stones` whose chain touches no empty point."""
        empty = self.mask & ~(stones | other)
        return stones & ~self.flood(self.neighbours(empty), stones)

    def area(self, stones: Bitboard, other: Bitboard) -> Bitboard:
        """The stones and the empty regions that touch no stone of the other colour."""
        empty = self.mask & ~(stones | other)
        return (stones | empty & ~self.flood(self.neighbours(other), empty)) if stones else 0

    def point_name(self, point: Point) -> str:
        row, col = divmod(point, STRIDE)
        return f"{COLUMN_NAMES[col]}{self.rows - row}"
