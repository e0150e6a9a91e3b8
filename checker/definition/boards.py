"""Boards: cells in reading order, the links that pieces follow, and the lines that count."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise

from zermelo.checker.definition.expressions import number_of
from zermelo.checker.definition.limits import MOST_CELLS, MOST_LINES
from zermelo.checker.definition.parameters import Values
from zermelo.checker.definition.reading import Section

Place = tuple[int, int]
Line = frozenset[int]

COMPASS: dict[str, Place] = {
    "n": (-1, 0), "s": (1, 0), "w": (0, -1), "e": (0, 1),
    "nw": (-1, -1), "ne": (-1, 1), "sw": (1, -1), "se": (1, 1),
}  # fmt: skip
_SETS = {
    "orthogonal": "n s w e", "diagonal": "nw ne sw se", "all": "n s w e nw ne sw se",
    "hexagonal": "n s w e ne sw",
}
#: Where a map of the plane takes row and column of a board with this last row and column.
MAPS: dict[str, Callable[[int, int, int, int], Place]] = {
    "same": lambda row, col, last, end: (row, col),
    "rotate": lambda row, col, last, end: (last - row, end - col),
    "flip": lambda row, col, last, end: (last - row, col),
    "mirror": lambda row, col, last, end: (row, end - col),
    "transpose": lambda row, col, last, end: (col, row),
    "antitranspose": lambda row, col, last, end: (end - col, last - row),
    "quarter": lambda row, col, last, end: (col, last - row),
    "backquarter": lambda row, col, last, end: (end - col, row),
}
_KINDS = ("grid", "hex", "path", "edges", "points", "rings", "heaps", "pits")
_ALPHABET = "abcdefghijklmnopqrstuvwxyz"
_POINT = re.compile(r"[a-z0-9]{1,4}", re.ASCII)
_FARTHEST, _LARGEST_HEAP, _MOST_HOLES, _MOST_SEEDS, _MOST_RINGS = 50, 22, 12, 10, 4


@dataclass(slots=True)
class Board:
    kind: str
    names: list[str] = field(default_factory=list)
    places: list[Place] = field(default_factory=list)
    #: From which cell in which direction to which other, in the order of the text.
    links: list[tuple[int, str, int]] = field(default_factory=list)
    lines: list[Line] = field(default_factory=list)
    #: The sizes of the heaps at the start.
    heaps: tuple[int, ...] = ()
    #: On a board of pits: the holes of each side, and the seeds in each hole at the start.
    holes: int = 0
    seeds: int = 0
    at: dict[Place, int] = field(default_factory=dict)

    @property
    def size(self) -> int:
        return len(self.names)

    def put(self, name: str, place: Place) -> None:
        self.at[place] = len(self.names)
        self.names.append(name)
        self.places.append(place)

    def next(self, cell: int, way: str) -> int | None:
        """The neighbour in a direction, linked or not."""
        (row, col), (down, right) = self.places[cell], COMPASS[way]
        return self.at.get((row + down, col + right))

    def ray(self, cell: int, way: str) -> list[int]:
        """All cells behind a cell in a direction."""
        found: list[int] = []
        after = self.next(cell, way)
        while after is not None:
            found.append(after)
            after = self.next(after, way)
        return found

    def map(self, name: str) -> tuple[int, ...] | None:
        """Where a map of the plane takes each cell; None if it leaves the board."""
        if not self.size:
            return () if name == "same" else None
        last = max(row for row, _ in self.places)
        end = max(col for _, col in self.places)
        images = [self.at.get(MAPS[name](row, col, last, end), -1) for row, col in self.places]
        return tuple(images) if sorted(images) == list(range(self.size)) else None

    def beside(self, cell: int) -> dict[str, int]:
        """What expressions about a cell know, counted from 1."""
        row, col = self.places[cell]
        return {"row": row + 1, "col": col + 1, "cell": cell + 1}


def directions(section: Section, key: str, text: str) -> list[str]:
    found = [way for word in text.split() for way in _SETS.get(word, word).split()]
    if not found or any(way not in COMPASS for way in found):
        section.fail(key, "these are no directions")
    return list(dict.fromkeys(found))


def read_board(document: Section, values: Values) -> Board:
    table = document.section("board")
    kinds = [kind for kind in _KINDS if kind in table]
    if len(kinds) != 1:
        table.fail("", f"exactly one of {', '.join(_KINDS)} is needed")
    board = Board(kinds[0])
    table.leave("links", "lines", "seeds")
    match board.kind:
        case "heaps":
            _read_heaps(table, board, values)
        case "pits":
            board.holes = number_of(table.tree("pits"), values.numbers)
            board.seeds = number_of(table.tree("seeds"), values.numbers)
            if not 1 <= board.holes <= _MOST_HOLES or not 1 <= board.seeds <= _MOST_SEEDS:
                table.fail("pits", f"{board.holes} holes of {board.seeds} seeds")
        case "points":
            _read_points(table, board)
        case "rings":
            _read_rings(table, board, values)
        case _:
            _read_plane(table, board, values)
    if board.size > MOST_CELLS or len(board.lines) > MOST_LINES:
        table.fail("", f"{board.size} cells and {len(board.lines)} lines are too many")
    table.finish()
    return board


def _read_heaps(table: Section, board: Board, values: Values) -> None:
    given = values.given.get(table.text("heaps"))
    if isinstance(given, tuple):
        board.heaps = given
    else:
        board.heaps = (number_of(table.tree("heaps"), values.numbers),)
    if not all(1 <= heap <= _LARGEST_HEAP for heap in board.heaps):
        table.fail("heaps", f"a heap has 1 to {_LARGEST_HEAP}")


# -- grids and their like ------------------------------------------------------------------


def _read_plane(table: Section, board: Board, values: Values) -> None:
    sizes = [
        number_of(table.parsed(board.kind, part), values.numbers)
        for part in table.text(board.kind).split(" x ")
    ]
    path, edges = board.kind == "path", board.kind == "edges"
    if len(sizes) != 2 - path or not all(1 <= size <= MOST_CELLS for size in sizes):
        table.fail(board.kind, "this is no size of a board")
    rows, cols = [1, *sizes] if path else sizes
    if edges:
        rows, cols = 2 * rows + 1, 2 * cols + 1
    if rows * cols > (2 + 2 * edges) * MOST_CELLS or (
        not path and max(rows, cols) > len(_ALPHABET)
    ):
        table.fail(board.kind, f"{rows} x {cols} is too large")
    for row in range(rows):
        for col in range(cols):
            if not edges:
                board.put(str(col + 1) if path else f"{_ALPHABET[col]}{row + 1}", (row, col))
            elif (row + col) % 2:
                board.put(f"{_ALPHABET[col]}{row + 1}", (row, col))
    if edges:
        board.lines = [
            frozenset(board.at[place] for place in
                      ((row - 1, col), (row + 1, col), (row, col - 1), (row, col + 1)))
            for row in range(1, rows, 2) for col in range(1, cols, 2)
        ]
        return
    board.links = list(dict.fromkeys(_links(table, board, values.numbers)))
    if "lines" in table:
        board.lines = list(dict.fromkeys(_windows(table.section("lines"), board, values.numbers)))


def _links(
    table: Section, board: Board, numbers: dict[str, int]
) -> Iterator[tuple[int, str, int]]:
    default = "hexagonal" if board.kind == "hex" else "orthogonal"
    for part in table.text("links", default).split(";"):
        named, where, condition = part.partition(" where ")
        ways = directions(table, "links", named)
        tree = table.parsed("links", condition) if where else None
        for cell in range(board.size):
            if tree is not None and not number_of(tree, {**numbers, **board.beside(cell)}):
                continue
            for way in ways:
                after = board.next(cell, way)
                if after is not None:
                    yield cell, way, after


def _windows(table: Section, board: Board, numbers: dict[str, int]) -> Iterator[Line]:
    length = number_of(table.tree("length"), numbers)
    if length < 1:
        table.fail("length", "a line has at least one cell")
    ways = directions(table, "along", table.text("along", "all"))
    table.finish()
    for cell in range(board.size):
        for way in ways:
            line = [cell, *board.ray(cell, way)[: length - 1]]
            if len(line) == length:
                yield frozenset(line)


# -- points joined by lines ----------------------------------------------------------------


def _read_points(table: Section, board: Board) -> None:
    inner = table.section("points")
    given: list[tuple[str, Place]] = []
    for name in inner.names():
        place = inner.take(name)
        if not _POINT.fullmatch(name) or not isinstance(place, list) or len(place) != 2 or not all(
            type(each) is int and 0 <= each <= _FARTHEST for each in place
        ):
            inner.fail(name[:40], "it is no point with a row and a column")
        given.append((name, (place[0], place[1])))
    if not given or len({place for _, place in given}) != len(given):
        table.fail("points", "points at different places are needed")
    top, left = min(row for _, (row, _) in given), min(col for _, (_, col) in given)
    for name, (row, col) in given:
        board.put(name, (row - top, col - left))
    for text in table.texts("lines"):
        names = text.split()
        if any(name not in board.names for name in names):
            table.fail("lines", "a line names no point")
        if any(one == other for one, other in pairwise(names)):
            table.fail("lines", "a line has a point twice in a row")
        _join(board, [board.names.index(name) for name in names], counts=bool(names))
    board.lines = list(dict.fromkeys(board.lines))


def _read_rings(table: Section, board: Board, values: Values) -> None:
    rings = number_of(table.tree("rings"), values.numbers)
    if not 1 <= rings <= _MOST_RINGS:
        table.fail("rings", f"there are 1 to {_MOST_RINGS} rings")
    around = [(down, right) for down in (-1, 0, 1) for right in (-1, 0, 1) if down or right]
    places = {(rings + ring * down, rings + ring * right)
              for ring in range(1, rings + 1) for down, right in around}
    for row, col in sorted(places | ({(1, 1)} if rings == 1 else set())):
        board.put(f"{_ALPHABET[col]}{row + 1}", (row, col))
    corners = ((-1, 0), (1, 0), (0, -1), (0, 1))
    for ring in range(1, rings + 1):
        for down, right in corners:
            # A side of the ring: its middle, and the corners beside it.
            _join(board, [
                board.at[rings + ring * (down + step * abs(right)),
                         rings + ring * (right + step * abs(down))]
                for step in (-1, 0, 1)
            ], counts=True)
    if rings == 1:
        for way in ((1, 1), (1, -1), (1, 0), (0, 1)):
            _join(board, [board.at[1 + step * way[0], 1 + step * way[1]]
                          for step in (-1, 0, 1)], counts=True)
        return
    for down, right in corners:
        spoke = [board.at[rings + ring * down, rings + ring * right]
                 for ring in range(1, rings + 1)]
        _join(board, spoke, counts=rings > 2)


def _join(board: Board, cells: list[int], *, counts: bool) -> None:
    """Link the cells of a line one after the other, there and back."""
    if counts:
        board.lines.append(frozenset(cells))
    for one, other in pairwise(cells):
        for link in ((one, _way(board, one, other), other), (other, _way(board, other, one), one)):
            if link not in board.links:
                board.links.append(link)


def _way(board: Board, one: int, other: int) -> str:
    (row, col), (below, beyond) = board.places[one], board.places[other]
    step = (below > row) - (below < row), (beyond > col) - (beyond < col)
    return next(way for way, each in COMPASS.items() if each == step)
