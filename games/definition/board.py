"""Boards: cells with names, coordinates, directions, links, lines, and maps onto themselves.

A board has cells (grid, hex, path, edges, rings, points) or none (heaps, pits): then its state
is in counters alone. Cells are numbered in reading order and sets of them are bit masks::

    grid 2 x 3      edges 1 x 1: the sides of one box      hex 2 x 2
      a b c              a b c
    1 0 1 2           1  . 0 .                               0 - 1
    2 3 4 5           2  1   2                                \\ / \\
                      3  . 3 .                                  2 - 3
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from zermelo.games.definition.document import Table
from zermelo.games.definition.errors import shorten, unknown
from zermelo.games.definition.limits import MOST_CELLS, MOST_LINES
from zermelo.games.definition.params import Value
from zermelo.games.definition.static import number
from zermelo.games.picture import LETTERS

Cell = int
Mask = int
#: Where every cell goes.
Permutation = tuple[Cell, ...]
#: A cell, the direction of the link, and the cell it leads to.
Link = tuple[Cell, str, Cell]

KINDS = ("grid", "hex", "path", "edges", "points", "rings", "heaps", "pits")
DIRECTIONS = {
    "n": (-1, 0), "s": (1, 0), "w": (0, -1), "e": (0, 1),
    "nw": (-1, -1), "ne": (-1, 1), "sw": (1, -1), "se": (1, 1),
}  # fmt: skip
GROUPS = {
    "orthogonal": ("n", "s", "w", "e"),
    "diagonal": ("nw", "ne", "sw", "se"),
    "all": tuple(DIRECTIONS),
    "hexagonal": ("n", "s", "w", "e", "ne", "sw"),
}
MOST_COORDINATE = 50
MOST_HEAP = 22
MOST_HOLES = 12
MOST_RINGS = 4
_POINT = re.compile(r"[a-z0-9]{1,4}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Board:
    kind: str
    names: tuple[str, ...] = ()
    #: Row and column of every cell, from 0.
    places: tuple[tuple[int, int], ...] = ()
    links: tuple[Link, ...] = ()
    lines: tuple[Mask, ...] = ()
    #: Sizes of the heaps at the start, or (holes, seeds) of a board with pits.
    heaps: tuple[int, ...] = ()
    holes: int = 0
    _at: dict[tuple[int, int], Cell] = field(default_factory=dict)

    @property
    def cells(self) -> int:
        return len(self.names)

    @property
    def all(self) -> Mask:
        return (1 << self.cells) - 1

    def neighbour(self, cell: Cell, direction: str) -> Cell | None:
        """The next cell in a compass direction, whether it is linked or not."""
        row, col = self.places[cell]
        down, right = DIRECTIONS[direction]
        return self._at.get((row + down, col + right))

    def along(self, directions: Sequence[str] | None) -> list[Link]:
        """The links in these directions; None: the links that the board declares."""
        if directions is None:
            return list(self.links)
        if self.kind in ("points", "rings"):
            return [link for link in self.links if link[1] in directions]
        return [
            (cell, direction, after)
            for cell in range(self.cells)
            for direction in directions
            if (after := self.neighbour(cell, direction)) is not None
        ]

    def map_named(self, name: str) -> Permutation | None:
        """One of the maps of the plane, if it maps the board onto itself."""
        return self._permutation(_MAPS[name])

    def maps(self) -> list[Permutation]:
        """All maps of the plane that map the cells onto themselves, the identity first."""
        found = [self._permutation(move) for move in _MAPS.values()]
        return list(dict.fromkeys(each for each in found if each is not None))

    def _permutation(self, move: Callable[[int, int, int, int], tuple[int, int]]) -> (
        Permutation | None
    ):
        if not self.cells:
            return () if move is _MAPS["same"] else None
        height = max(row for row, _ in self.places)
        width = max(col for _, col in self.places)
        images = [self._at.get(move(row, col, height, width)) for row, col in self.places]
        cells = [cell for cell in images if cell is not None]
        return tuple(cells) if len(set(cells)) == self.cells else None


_MAPS: dict[str, Callable[[int, int, int, int], tuple[int, int]]] = {
    "same": lambda row, col, height, width: (row, col),
    "rotate": lambda row, col, height, width: (height - row, width - col),
    "flip": lambda row, col, height, width: (height - row, col),
    "mirror": lambda row, col, height, width: (row, width - col),
    "transpose": lambda row, col, height, width: (col, row),
    "antitranspose": lambda row, col, height, width: (width - col, height - row),
    "quarter": lambda row, col, height, width: (col, height - row),
    "backquarter": lambda row, col, height, width: (width - col, row),
}
MAPS = tuple(_MAPS)


def permute(mask: Mask, image: Permutation) -> Mask:
    """The set with every cell moved to its image."""
    moved = 0
    while mask:
        lowest = mask & -mask
        moved |= 1 << image[lowest.bit_length() - 1]
        mask ^= lowest
    return moved


def cells_of(mask: Mask) -> list[Cell]:
    found = []
    while mask:
        lowest = mask & -mask
        found.append(lowest.bit_length() - 1)
        mask ^= lowest
    return found


def mask_of(cells: Iterable[Cell]) -> Mask:
    found = 0
    for cell in cells:
        found |= 1 << cell
    return found


# -- reading -------------------------------------------------------------------------------


def read_board(document: Table, values: Mapping[str, Value], names: Mapping[str, int]) -> Board:
    table = document.table("board", optional=False)
    table.only(*KINDS, "links", "lines", "seeds")
    kinds = [kind for kind in KINDS if kind in table]
    if len(kinds) != 1:
        table.place().fail(f"{len(kinds)} boards; write exactly one of {', '.join(KINDS)}")
    kind = kinds[0]
    if kind == "heaps":
        return _heaps(table, values, names)
    if kind == "pits":
        return _pits(table, names)
    if kind == "points":
        return _points(table)
    if kind == "rings":
        return _rings(table, names)
    places = _places(table, kind, names)
    if kind == "path":
        labels = [str(col + 1) for _, col in places]
    else:
        labels = [f"{LETTERS[col]}{row + 1}" for row, col in places]
    board = _board(kind, labels, places)
    links = tuple(_links(table, board, names))
    lines = _boxes(board) if kind == "edges" else tuple(_windows(table, board, names))
    return _board(kind, labels, places, links, lines)


def _board(
    kind: str, names: Sequence[str], places: Sequence[tuple[int, int]],
    links: tuple[Link, ...] = (), lines: tuple[Mask, ...] = (),
) -> Board:
    at = {place: cell for cell, place in enumerate(places)}
    return Board(kind, tuple(names), tuple(places), links, lines, _at=at)


def _size(table: Table, kind: str, names: Mapping[str, int], count: int) -> list[int]:
    parts = table.text(kind).split(" x ")
    if len(parts) != count:
        pattern = " x ".join(["ROWS", "COLS"][-count:])
        table.place(kind).fail(f"'{shorten(table.text(kind))}' is not {pattern}")
    return [number(table.parsed(kind, part), names) for part in parts]


def _places(table: Table, kind: str, names: Mapping[str, int]) -> list[tuple[int, int]]:
    path = kind == "path"
    rows, cols = [1, *_size(table, kind, names, 1)] if path else _size(table, kind, names, 2)
    cells = 2 * rows * cols + rows + cols if kind == "edges" else rows * cols
    if rows < 1 or cols < 1 or cells > MOST_CELLS:
        table.place(kind).fail(
            f"{rows} x {cols} is a board of {max(cells, 0)} cells; it must have 1 to {MOST_CELLS}"
        )
    if kind == "edges":
        rows, cols = 2 * rows + 1, 2 * cols + 1
    if kind != "path" and max(rows, cols) > len(LETTERS):
        table.place(kind).fail(f"{rows} x {cols}: a side has at most {len(LETTERS)} cells")
    return [
        (row, col) for row in range(rows) for col in range(cols)
        if kind != "edges" or (row + col) % 2
    ]


def read_directions(table: Table, key: str, text: str) -> list[str]:
    """Compass directions from their names and the names of groups."""
    found: list[str] = []
    for word in text.split():
        if word not in DIRECTIONS and word not in GROUPS:
            table.place(key).fail(unknown("direction", word, [*DIRECTIONS, *GROUPS]))
        found.extend(GROUPS.get(word, (word,)))
    if not found:
        table.place(key).fail("no direction; write names such as n, se, orthogonal or all")
    return list(dict.fromkeys(found))


def _links(table: Table, board: Board, names: Mapping[str, int]) -> list[Link]:
    if board.kind == "edges":
        return []  # edges have no neighbours
    default = "hexagonal" if board.kind == "hex" else "orthogonal"
    found: list[Link] = []
    for part in table.text("links", default).split(";"):
        directions, where, condition = part.partition(" where ")
        ways = read_directions(table, "links", directions)
        for cell in range(board.cells):
            local = {**names, **cell_names(board, cell)}
            if where and not number(table.parsed("links", condition), local):
                continue
            for way in ways:
                after = board.neighbour(cell, way)
                if after is not None:
                    found.append((cell, way, after))
    return list(dict.fromkeys(found))


def cell_names(board: Board, cell: Cell) -> dict[str, int]:
    """What the condition of a region knows about a cell: its row and column, from 1."""
    row, col = board.places[cell]
    return {"row": row + 1, "col": col + 1, "cell": cell + 1}


def _windows(table: Table, board: Board, names: Mapping[str, int]) -> list[Mask]:
    """All straight lines of a length."""
    if "lines" not in table:
        return []
    inner = table.table("lines")
    inner.only("length", "along")
    length = number(inner.expression("length"), names)
    if length < 1:
        inner.place("length").fail(f"a line of {length} cells; it has at least 1")
    ways = read_directions(inner, "along", inner.text("along", "all"))
    found: dict[Mask, None] = {}
    for start in range(board.cells):
        for way in ways:
            line: list[Cell] = []
            at: Cell | None = start
            while at is not None and len(line) < length:
                line.append(at)
                at = board.neighbour(at, way)
            if len(line) == length:
                found[mask_of(line)] = None
    if len(found) > MOST_LINES:
        inner.place().fail(f"{len(found)} lines; at most {MOST_LINES}")
    return list(found)


def _boxes(board: Board) -> tuple[Mask, ...]:
    height = max(row for row, _ in board.places)
    width = max(col for _, col in board.places)
    return tuple(
        mask_of(cell for cell, (r, c) in enumerate(board.places)
                if abs(r - row) + abs(c - col) == 1)
        for row in range(1, height, 2) for col in range(1, width, 2)
    )


def _points(table: Table) -> Board:
    inner = table.table("points", optional=False)
    names: list[str] = []
    places: list[tuple[int, int]] = []
    for name in inner:
        value = inner.raw(name)
        if not _POINT.fullmatch(name):
            inner.place(name).fail(f"'{shorten(name)}' is no name of a point: 1 to 4 of a-z, 0-9")
        if (not isinstance(value, list) or len(value) != 2
                or not all(type(at) is int and 0 <= at <= MOST_COORDINATE for at in value)):
            inner.place(name).fail(
                f"{shorten(value)} is not [row, column], each 0 to {MOST_COORDINATE}"
            )
        names.append(name)
        places.append((value[0], value[1]))
    if not 1 <= len(names) <= MOST_CELLS or len(set(places)) != len(places):
        inner.place().fail(f"1 to {MOST_CELLS} points at different places are needed")
    top, left = min(row for row, _ in places), min(col for _, col in places)
    places = [(row - top, col - left) for row, col in places]
    lines: dict[Mask, None] = {}
    links: dict[Link, None] = {}
    for text in table.texts("lines"):
        cells = []
        for name in text.split():
            if name not in names:
                table.place("lines").fail(unknown("point", name, names))
            cells.append(names.index(name))
        lines[mask_of(cells)] = None
        for one, other in pairwise(cells):
            if one == other:
                table.place("lines").fail(f"{names[one]} twice in a row in '{shorten(text)}'")
            links[one, _way(places[one], places[other]), other] = None
            links[other, _way(places[other], places[one]), one] = None
    if len(lines) > MOST_LINES:
        table.place("lines").fail(f"{len(lines)} lines; at most {MOST_LINES}")
    return _board("points", names, places, tuple(links), tuple(lines))


def _rings(table: Table, names: Mapping[str, int]) -> Board:
    """Squares inside each other, joined in the middle of their sides, as for morris.

    One ring has a point in its centre too, and lines through it in all directions.
    """
    rings = number(table.expression("rings"), names)
    if not 1 <= rings <= MOST_RINGS:
        table.place("rings").fail(f"{rings} rings; it must be 1 to {MOST_RINGS}")
    places = sorted(
        (rings + ring * down, rings + ring * right)
        for ring in range(1, rings + 1)
        for down in (-1, 0, 1) for right in (-1, 0, 1) if down or right
    )
    if rings == 1:
        places = sorted([*places, (1, 1)])
    at = {place: cell for cell, place in enumerate(places)}
    lines = [
        [at[rings + ring * down, rings + ring * right] for down, right in side]
        for ring in range(1, rings + 1) for side in _SIDES
    ]
    if rings == 1:
        lines += [[at[place] for place in line] for line in (
            ((0, 0), (1, 1), (2, 2)), ((0, 2), (1, 1), (2, 0)),
            ((0, 1), (1, 1), (2, 1)), ((1, 0), (1, 1), (1, 2)),
        )]
    else:
        lines += [
            [at[rings + ring * down, rings + ring * right] for ring in range(1, rings + 1)]
            for down, right in ((-1, 0), (1, 0), (0, -1), (0, 1))
        ]
    links = [
        (one, _way(places[one], places[other]), other)
        for line in lines for pair in pairwise(line)
        for one, other in (pair, pair[::-1])
    ]
    labels = [f"{LETTERS[col]}{row + 1}" for row, col in places]
    full = [mask_of(line) for line in lines if len(line) > 2]
    return _board("rings", labels, places, tuple(dict.fromkeys(links)), tuple(full))


_SIDES = (
    ((-1, -1), (-1, 0), (-1, 1)), ((1, -1), (1, 0), (1, 1)),
    ((-1, -1), (0, -1), (1, -1)), ((-1, 1), (0, 1), (1, 1)),
)  # fmt: skip


def _way(one: tuple[int, int], other: tuple[int, int]) -> str:
    sign = tuple((b > a) - (b < a) for a, b in zip(one, other, strict=True))
    return next(name for name, way in DIRECTIONS.items() if way == sign)


def _heaps(table: Table, values: Mapping[str, Value], names: Mapping[str, int]) -> Board:
    name = table.text("heaps")
    value = values.get(name)
    heaps = value if isinstance(value, tuple) else (number(table.expression("heaps"), names),)
    for heap in heaps:
        if not 1 <= heap <= MOST_HEAP:
            table.place("heaps").fail(f"a heap of {heap}; it must be 1 to {MOST_HEAP}")
    return Board("heaps", heaps=heaps)


def _pits(table: Table, names: Mapping[str, int]) -> Board:
    holes = number(table.expression("pits"), names)
    seeds = number(table.expression("seeds"), names)
    if not 1 <= holes <= MOST_HOLES:
        table.place("pits").fail(f"{holes} holes; a side must have 1 to {MOST_HOLES}")
    if not 1 <= seeds <= 10:
        table.place("seeds").fail(f"{seeds} seeds; a hole must start with 1 to 10")
    return Board("pits", heaps=(seeds,), holes=holes)
