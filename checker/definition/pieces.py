"""What is on a board: values of cells, counters, regions, and how a game starts."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from zermelo.checker.definition.boards import MAPS, Board
from zermelo.checker.definition.expressions import KEYWORDS, OWNERS, number_of
from zermelo.checker.definition.limits import LARGEST, MOST_COUNTERS, MOST_KINDS, MOST_PLIES
from zermelo.checker.definition.reading import Section

EMPTY = 0
CLOCK = "clock"
_NAME = re.compile(r"[a-z][a-z0-9_]{0,23}", re.ASCII)
_SIDE = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,11}", re.ASCII)
_RESERVED = {
    *OWNERS, *KEYWORDS, "empty", "filled", "board", "to", "from", "over", "row", "col", "cell",
    "pending", "size", "taken", "rest", "store", "seeds", "largest", "heaps", "if", CLOCK,
}  # fmt: skip
_OWNERS: dict[str, tuple[tuple[int | None, ...], str]] = {
    "each": ((0, 1), "XO"), "first": ((0,), "X"), "second": ((1,), "O"), "neutral": ((None,), "#"),
}
RESULTS = ("win", "loss", "draw", "first", "second", "score")


@dataclass(frozen=True, slots=True)
class Piece:
    """One thing that can be on a cell; `side` None: it is nobody's."""

    kind: str
    side: int | None
    sign: str


@dataclass(frozen=True, slots=True)
class Counter:
    name: str
    side: int | None
    start: int
    most: int


@dataclass(slots=True)
class Setup:
    board: Board
    numbers: dict[str, int]
    #: What the second player sees where the first sees a cell.
    view: tuple[int, ...]
    sides: tuple[str, str] = ("X", "O")
    solo: bool = False
    stuck: str = "loss"
    pieces: list[Piece] = field(default_factory=lambda: [Piece("", None, "-")])
    counters: list[Counter] = field(default_factory=list)
    #: The names of counters that rules may change.
    changeable: set[str] = field(default_factory=set)
    regions: dict[str, frozenset[int]] = field(default_factory=dict)
    #: The counter of plies without progress, and what reaching its end is worth.
    clock: int | None = None
    limit_score: int = 0

    @property
    def kinds(self) -> set[str]:
        return {piece.kind for piece in self.pieces[1:]}

    def piece(self, kind: str, side: int) -> int | None:
        """The value of a cell with this kind of piece of a side, or of nobody."""
        for value, piece in enumerate(self.pieces):
            if value and piece.kind == kind and piece.side in (side, None):
                return value
        return None

    def counter(self, name: str, side: int | None) -> int | None:
        for at, counter in enumerate(self.counters):
            if counter.name == name and counter.side == side:
                return at
        return None

    def seen(self, cell: int, side: int) -> int:
        return self.view[cell] if side else cell

    def heap_counters(self) -> list[int]:
        """The counters of heaps, by size from 1."""
        return list(range(max(self.board.heaps))) if self.board.kind == "heaps" else []

    def hole_counters(self, side: int) -> list[int]:
        first = side * (self.board.holes + 1)
        return list(range(first, first + self.board.holes))

    @property
    def all_seeds(self) -> int:
        return 2 * self.board.holes * self.board.seeds


def read_setup(document: Section, board: Board, numbers: dict[str, int]) -> Setup:
    players = document.section("players")
    name = players.choice("second", tuple(MAPS), "same")
    view = board.map(name)
    if view is None:
        players.fail("second", f"{name} is no map of this board onto itself")
    setup = Setup(board, numbers, view, solo=players.flag("solo"))
    setup.stuck = players.choice("stuck", ("loss", "win", "draw", "score", "pass"), "loss")
    if names := players.texts("names"):
        if len(names) != 2 or len(set(names)) != 2 or not all(map(_SIDE.fullmatch, names)):
            players.fail("names", "two different names are needed")
        setup.sides = names[0], names[1]
    players.finish()
    _read_pieces(document.section("pieces"), setup)
    _read_counters(document.section("counters"), setup)
    regions = document.section("regions")
    for region in regions.names():
        _check_name(regions, region, setup)
        setup.regions[region] = read_region(regions, region, setup)
    if "limit" in document:
        _read_limit(document.section("limit"), setup)
    return setup


def _check_name(table: Section, name: str, setup: Setup) -> None:
    taken = {*setup.numbers, *setup.kinds, *(each.name for each in setup.counters)}
    if not _NAME.fullmatch(name) or name in _RESERVED or name in taken:
        table.fail(name[:40], "this name cannot be used here")


def _read_pieces(table: Section, setup: Setup) -> None:
    for kind in table.names():
        if not _NAME.fullmatch(kind) or kind in _RESERVED or kind in setup.numbers:
            table.fail(kind[:40], "this name cannot be used here")
        plain = isinstance(table.take(kind), str)
        inner = None if plain else table.section(kind)
        of = inner.choice("of", tuple(_OWNERS), "each") if inner else (
            table.choice(kind, tuple(_OWNERS)))
        owners, signs = _OWNERS[of]
        if inner:
            signs = inner.text("signs", signs)
            inner.finish()
        if len(signs) != len(owners):
            table.fail(kind, "there is not one sign for each side")
        for side, sign in zip(owners, signs, strict=True):
            taken = any(sign == piece.sign for piece in setup.pieces)
            if taken or not sign.isascii() or not sign.isprintable() or sign in " /;=":
                table.fail(kind, f"the sign {sign!a} cannot be used")
            setup.pieces.append(Piece(kind, side, sign))
    if len(setup.kinds) > MOST_KINDS or (setup.kinds and not setup.board.size):
        table.fail("", "there are too many kinds of pieces, or no cells for them")


def _read_counters(table: Section, setup: Setup) -> None:
    board, counters = setup.board, setup.counters
    if board.kind == "heaps":
        total = sum(board.heaps)
        counters += [Counter(f"heap{size}", None, board.heaps.count(size), total // size)
                     for size in range(1, max(board.heaps) + 1)]
    for side in (0, 1) if board.kind == "pits" else ():
        counters += [Counter(f"hole{hole}", side, board.seeds, setup.all_seeds)
                     for hole in range(1, board.holes + 1)]
        counters.append(Counter("store", side, 0, setup.all_seeds))
    for name in table.names():
        _check_name(table, name, setup)
        inner = table.section(name)
        most = number_of(inner.tree("max"), setup.numbers)
        start = number_of(inner.tree("start", "0"), setup.numbers)
        each = inner.choice("of", ("each", "shared"), "shared") == "each"
        inner.finish()
        if not 1 <= most <= LARGEST or not 0 <= start <= most:
            table.fail(name, f"a counter from {start} to {most}")
        owners: tuple[int | None, ...] = (0, 1) if each else (None,)
        counters += [Counter(name, owner, start, most) for owner in owners]
        setup.changeable.add(name)
    if len(counters) > MOST_COUNTERS:
        table.fail("", f"more than {MOST_COUNTERS} counters")


def _read_limit(table: Section, setup: Setup) -> None:
    plies = number_of(table.tree("plies"), setup.numbers)
    if not 1 <= plies <= MOST_PLIES:
        table.fail("plies", f"a limit of {plies} plies")
    result = table.choice("is", ("win", "loss", "draw"), "draw")
    setup.clock = len(setup.counters)
    setup.counters.append(Counter(CLOCK, None, 0, plies))
    setup.limit_score = result_value(result, 0)


def result_value(result: str, side: int) -> int:
    """What a result is worth for the side to move."""
    wins = {"win": True, "loss": False, "first": side == 0, "second": side == 1}
    return 0 if result == "draw" else 1 if wins[result] else -1


def read_region(table: Section, key: str, setup: Setup) -> frozenset[int]:
    board = setup.board
    if isinstance(table.take(key), list):
        names = table.texts(key)
        if any(name not in board.names for name in names):
            table.fail(key, "it names no cell")
        return frozenset(board.names.index(name) for name in names)
    tree = table.tree(key)
    return frozenset(
        cell for cell in range(board.size)
        if number_of(tree, {**setup.numbers, **board.beside(cell)})
    )


def read_start(document: Section, setup: Setup) -> list[int]:
    """The value of each cell at the start."""
    table = document.section("start")
    cells = [EMPTY] * setup.board.size

    def put(value: int, region: frozenset[int], where: str) -> None:
        for cell in region:
            if cells[cell] != EMPTY:
                table.fail(where, f"two pieces start on {setup.board.names[cell]}")
            cells[cell] = value

    for key in table.names():
        if key in ("first", "second"):
            inner, side = table.section(key), int(key == "second")
            for kind in inner.names():
                value = setup.piece(kind, side)
                if value is None or setup.pieces[value].side is None:
                    inner.fail(kind[:40], "this side has no such piece")
                put(value, read_region(inner, kind, setup), key)
            continue
        if key not in setup.kinds:
            table.fail(key[:40], "there is no such piece")
        region = read_region(table, key, setup)
        both = {piece.side for piece in setup.pieces[1:] if piece.kind == key} >= {0, 1}
        for value, piece in enumerate(setup.pieces):
            if value and piece.kind == key:
                mirrored = both and piece.side == 1
                put(value, frozenset(setup.seen(cell, int(mirrored)) for cell in region), key)
    return cells
