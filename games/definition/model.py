"""What a position of a definition consists of: pieces on cells, and counters."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from zermelo.games.definition.board import MAPS, Board, Mask, Permutation, cell_names, permute
from zermelo.games.definition.document import Table
from zermelo.games.definition.errors import shorten, unknown
from zermelo.games.definition.expression import OWNERS, WORDS
from zermelo.games.definition.limits import MOST_COUNTERS, MOST_NUMBER, MOST_PIECE_KINDS
from zermelo.games.definition.static import number

FIRST, SECOND = 0, 1
SIDES = (FIRST, SECOND)
BELONGINGS = ("each", "first", "second", "neutral")
EMPTY_SIGN = "-"
CLOCK = "clock"
_NAME = re.compile(r"[a-z][a-z0-9_]{0,23}", re.ASCII)
_SIDE_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,11}", re.ASCII)
#: Names that mean something in every definition.
RESERVED = {
    *OWNERS, *WORDS, "empty", "filled", "board", "to", "from", "over", "row", "col", "cell",
    "pending", "size", "taken", "rest", "store", "seeds", "largest", "heaps", "if", CLOCK,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class PieceValue:
    """One thing that can be on a cell."""

    kind: str
    #: None: it belongs to nobody.
    side: int | None
    sign: str


@dataclass(frozen=True, slots=True)
class Counter:
    """A number from 0 to `most`; effects that would leave this range stop at its ends."""

    name: str
    side: int | None
    start: int
    most: int


@dataclass(slots=True)
class Model:
    board: Board
    #: The numbers that expressions know.
    numbers: Mapping[str, int]
    #: What the cells look like to the second player: its rules are the first player's, mapped.
    view: Permutation
    side_names: tuple[str, str] = ("X", "O")
    solo: bool = False
    stuck: str = "loss"
    #: Whether a rule makes a piece go on after its move.
    chains: bool = False
    #: Values of cells; 0 is the empty cell.
    values: list[PieceValue] = field(default_factory=lambda: [PieceValue("", None, EMPTY_SIGN)])
    counters: list[Counter] = field(default_factory=list)
    #: The counters that rules may change; heaps, pits and the clock change by themselves.
    declared: set[str] = field(default_factory=set)
    regions: dict[str, Mask] = field(default_factory=dict)

    @property
    def kinds(self) -> list[str]:
        return list(dict.fromkeys(value.kind for value in self.values[1:]))

    def value_of(self, kind: str, side: int) -> int | None:
        """What a side puts on a cell when it puts this kind there."""
        for at, value in enumerate(self.values):
            if value.kind == kind and value.side in (side, None) and at:
                return at
        return None

    def counter(self, name: str, side: int | None) -> int | None:
        for at, counter in enumerate(self.counters):
            if (counter.name, counter.side) == (name, side):
                return at
        return None

    @property
    def free_counters(self) -> list[str]:
        """The names of the counters that are neither heaps nor pits."""
        free = {*self.declared, CLOCK}
        return list(dict.fromkeys(each.name for each in self.counters if each.name in free))

    def heap_size(self, counter: int) -> int:
        """The size of the heaps that a counter counts; 0 if it counts something else."""
        name = self.counters[counter].name
        if self.board.kind != "heaps" or name in self.free_counters:
            return 0
        return int(name.removeprefix("heap"))

    def heaps(self, counters: Sequence[int]) -> list[int]:
        """The sizes of all heaps, the largest first."""
        found: list[int] = []
        for at, count in enumerate(counters):
            found += [size] * count if (size := self.heap_size(at)) else []
        return sorted(found, reverse=True)

    def region(self, name: str, side: int) -> Mask:
        mask = self.regions[name]
        return permute(mask, self.view) if side == SECOND else mask

    def seen(self, cell: int, side: int) -> int:
        """The cell that the second player has where the first has this one."""
        return self.view[cell] if side == SECOND else cell


def read_model(document: Table, board: Board, numbers: Mapping[str, int]) -> Model:
    players = document.table("players")
    players.only("second", "names", "solo", "stuck")
    name = players.choice("second", MAPS, "same")
    view = board.map_named(name)
    if view is None:
        players.place("second").fail(f"{name!r} does not map this board onto itself")
    model = Model(board, numbers, view, solo=players.flag("solo"))
    model.stuck = players.choice("stuck", ("loss", "win", "draw", "score", "pass"), "loss")
    names = players.texts("names")
    if names:
        if len(set(names)) != 2 or len(names) != 2 or not all(map(_SIDE_NAME.fullmatch, names)):
            players.place("names").fail("write two different names such as [\"X\", \"O\"]")
        model.side_names = (names[0], names[1])
    _read_pieces(document.table("pieces"), model)
    _read_counters(document.table("counters"), model)
    _read_regions(document.table("regions"), model)
    return model


def _new_name(table: Table, name: str, taken: set[str]) -> None:
    if not _NAME.fullmatch(name) or name in RESERVED:
        table.place(name).fail(
            f"'{shorten(name)}' cannot be a name here; names have a-z, 0-9 and _,"
            " and words of the language are reserved"
        )
    if name in taken:
        table.place(name).fail(f"{name!r} is the name of something else already")


def _read_pieces(table: Table, model: Model) -> None:
    signs = {EMPTY_SIGN}
    for kind in table:
        _new_name(table, kind, set(model.numbers))
        inner = table.table(kind) if isinstance(table.raw(kind), dict) else None
        if inner is not None:
            inner.only("of", "signs")
        of = inner.choice("of", BELONGINGS, "each") if inner else table.choice(kind, BELONGINGS)
        sides: list[int | None] = {
            "each": [FIRST, SECOND], "first": [FIRST], "second": [SECOND], "neutral": [None],
        }[of]  # type: ignore[assignment]
        default = {"each": "XO", "first": "X", "second": "O", "neutral": "#"}[of]
        wanted = inner.text("signs", default) if inner else default
        place = inner.place("signs") if inner else table.place(kind)
        if len(wanted) != len(sides):
            place.fail(f"{len(sides)} signs are needed, one for each side that has the piece")
        for side, sign in zip(sides, wanted, strict=True):
            if sign in signs or not (sign.isascii() and sign.isprintable()) or sign in " /;=":
                place.fail(f"the sign {sign!r} is taken or cannot be used; write signs = \"..\"")
            signs.add(sign)
            model.values.append(PieceValue(kind, side, sign))
    if len(model.kinds) > MOST_PIECE_KINDS:
        table.place().fail(f"{len(model.kinds)} kinds of pieces; at most {MOST_PIECE_KINDS}")
    if model.values[1:] and not model.board.cells:
        table.place().fail("a board of heaps or pits has no cells to put pieces on")


def _read_counters(table: Table, model: Model) -> None:
    board = model.board
    if board.kind == "heaps":
        total = sum(board.heaps)
        for size in range(1, max(board.heaps) + 1):
            model.counters.append(
                Counter(f"heap{size}", None, board.heaps.count(size), total // size)
            )
    if board.kind == "pits":
        (seeds,) = board.heaps
        total = 2 * board.holes * seeds
        for side in SIDES:
            for hole in range(1, board.holes + 1):
                model.counters.append(Counter(f"hole{hole}", side, seeds, total))
            model.counters.append(Counter("store", side, 0, total))
    taken = {*model.numbers, *model.kinds, *(counter.name for counter in model.counters)}
    for name in table:
        _new_name(table, name, taken)
        inner = table.table(name)
        inner.only("of", "start", "max")
        most = number(inner.expression("max"), model.numbers)
        start = number(inner.expression("start", "0"), model.numbers)
        if not 1 <= most <= MOST_NUMBER or not 0 <= start <= most:
            inner.place().fail(f"a counter from {start} to {most}; 0 <= start <= max is needed")
        of = inner.choice("of", ("each", "shared"), "shared")
        owners: tuple[int | None, ...] = SIDES if of == "each" else (None,)
        for owner in owners:
            model.counters.append(Counter(name, owner, start, most))
        model.declared.add(name)
    if len(model.counters) > MOST_COUNTERS:
        table.place().fail(f"{len(model.counters)} counters; at most {MOST_COUNTERS}")


def _read_regions(table: Table, model: Model) -> None:
    taken = {*model.numbers, *model.kinds, *(counter.name for counter in model.counters)}
    for name in table:
        _new_name(table, name, taken)
        model.regions[name] = region_mask(table, name, model)


def region_mask(table: Table, key: str, model: Model) -> Mask:
    """The cells for which the condition holds; a list of texts names cells instead."""
    value = table.raw(key)
    if isinstance(value, list):
        mask = 0
        for word in table.texts(key):
            if word not in model.board.names:
                table.place(key).fail(unknown("cell", word, model.board.names))
            mask |= 1 << model.board.names.index(word)
        return mask
    condition = table.expression(key)
    mask = 0
    for cell in range(model.board.cells):
        names = {**model.numbers, **cell_names(model.board, cell)}
        if number(condition, names):
            mask |= 1 << cell
    return mask
