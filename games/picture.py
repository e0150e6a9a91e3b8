"""What a board looks like: one description for terminals and for pages.

A `Picture` shows one position: its *points* (where a piece can be) with the pieces on them,
the lines between points, the labels along the sides, and what else is to be told in words. It
says nothing of pixels. A point has a row and a column; `Picture.xy` places it in the plane, with
neighbours a distance of about 1 apart. A `Touch` says how a person makes a move on it: by
touching a place, by dragging from one to another, or by a button.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from itertools import product

LETTERS = "abcdefghijklmnopqrstuvwxyz"
#: The height of a row of hexagons whose neighbours are 1 apart.
_HEXAGON_ROW = 3**0.5 / 2


class Surface(StrEnum):
    """What the points are."""

    SQUARES = "squares"
    CROSSINGS = "crossings"  # of the picture's lines
    HEXAGONS = "hexagons"  # every row lies half a cell to the right of the one above
    EDGES = "edges"  # sides of boxes; the corners are the dots at even rows and columns
    PITS = "pits"  # a point holds `count` seeds; the stores are at both ends of row 1
    HEAPS = "heaps"  # a point is a heap of `count`


class Ground(StrEnum):
    """What the board is made of."""

    PLAIN = "plain"
    FELT = "felt"
    WOOD = "wood"


class Shape(StrEnum):
    DISC = "disc"
    SQUARE = "square"
    BAR = "bar"  # along an edge


class Colour(StrEnum):
    BLACK = "black"
    WHITE = "white"
    GREY = "grey"
    RED = "red"
    YELLOW = "yellow"
    BLUE = "blue"
    GREEN = "green"
    BROWN = "brown"


@dataclass(frozen=True, slots=True)
class Piece:
    """A kind of piece of one side. `sign` is the character that stands for it in text."""

    name: str
    sign: str
    shape: Shape = Shape.DISC
    colour: Colour = Colour.GREY
    #: A character to be written on the shape; empty: none.
    glyph: str = ""
    #: 0 for the first player, 1 for the second, None if it belongs to nobody.
    side: int | None = None


BLACK_STONE = Piece("black", "X", colour=Colour.BLACK, side=0)
WHITE_STONE = Piece("white", "O", colour=Colour.WHITE, side=1)


@dataclass(frozen=True, slots=True)
class Point:
    name: str
    #: From 0, counted from the upper left corner.
    row: int
    col: int
    piece: Piece | None = None
    #: How many seeds or counters are here, where that is what counts.
    count: int | None = None


@dataclass(frozen=True, slots=True)
class Picture:
    surface: Surface
    points: tuple[Point, ...]
    #: What stands below the board, the side to move in the last line.
    captions: tuple[str, ...] = ()
    #: Pairs of points, by their numbers, that a line joins.
    lines: tuple[tuple[int, int], ...] = ()
    #: Labels of the rows, from the top, and of the columns; empty: none are shown.
    rows: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    columns_below: bool = False
    ground: Ground = Ground.PLAIN
    #: The sign of an empty point in text.
    empty: str = "-"
    #: Rows of points along the border that a side is to join, with the colour of that side.
    borders: tuple[tuple[tuple[int, ...], Colour], ...] = ()

    def xy(self, point: int) -> tuple[float, float]:
        """Where a point is: to the right and downwards from the first row and column."""
        at = self.points[point]
        if self.surface is Surface.HEXAGONS:
            return at.col + at.row / 2, at.row * _HEXAGON_ROW
        return float(at.col), float(at.row)


class TouchKind(StrEnum):
    PLACE = "place"  # touch the point; of several all get a piece
    FROM_TO = "from-to"  # from the first point to the second
    BUTTON = "button"  # a button with the move's name, beside the points if there are any


@dataclass(frozen=True, slots=True)
class Touch:
    kind: TouchKind
    #: The numbers of points of the picture.
    points: tuple[int, ...] = ()


def grid_picture(
    rows: int,
    cols: int,
    pieces: Sequence[Piece | None],
    captions: Sequence[str],
    *,
    surface: Surface = Surface.SQUARES,
    ground: Ground = Ground.PLAIN,
    empty: str = "-",
    from_below: bool = False,
) -> Picture:
    """A rectangular board, its pieces in reading order; `from_below` counts rows as Go does."""
    grid, lines = _grid(rows, cols, from_below)
    points = tuple([
        point if piece is None else Point(point.name, point.row, point.col, piece)
        for point, piece in zip(grid, pieces, strict=True)
    ])  # fmt: skip
    numbers = tuple(point.name[1:] for point in grid[::cols])
    return Picture(
        surface, points, tuple(captions), lines if surface is Surface.CROSSINGS else (), numbers,
        tuple(LETTERS[:cols]), from_below, ground, empty,
    )


@lru_cache(maxsize=64)
def _grid(
    rows: int, cols: int, from_below: bool
) -> tuple[tuple[Point, ...], tuple[tuple[int, int], ...]]:
    """The empty points of a rectangular board, and the lines between neighbours."""
    numbers = [rows - row if from_below else row + 1 for row in range(rows)]
    points = tuple(
        Point(f"{LETTERS[col]}{numbers[row]}", row, col)
        for row, col in product(range(rows), range(cols))
    )
    lines = [(at, at + 1) for at, point in enumerate(points) if point.col + 1 < cols]
    lines += [(at, at + cols) for at, point in enumerate(points) if point.row + 1 < rows]
    return points, tuple(lines)
