"""What expressions mean for a side and the cells that a move binds: trees become terms."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeVar

from zermelo.checker.definition.boards import Line
from zermelo.checker.definition.expressions import Tree
from zermelo.checker.definition.guards import Can, Guards
from zermelo.checker.definition.limits import TextError, Work
from zermelo.checker.definition.pieces import EMPTY, Piece, Setup
from zermelo.checker.definition.terms import (
    Cells,
    Constant,
    FullLines,
    Joined,
    LargestHeap,
    Local,
    Neighbours,
    Number,
    OnLines,
    PendingCell,
    Size,
    Term,
    Total,
    Truth,
    arithmetic,
    combine,
    comparison,
    conjunction,
    disjunction,
    negation,
)

T = TypeVar("T", bound=Term)
_COMPARISONS = ("==", "!=", "<", "<=", ">", ">=")


class Ground:
    """What all expressions of a definition share."""

    def __init__(self, setup: Setup) -> None:
        self.setup, self.work = setup, Work()
        #: The rules so far by name: their number, and when the cases of each side apply.
        self.rules: dict[str, tuple[int, tuple[Guards, Guards]]] = {}
        self._through: dict[frozenset[int], frozenset[Line]] = {}

    @cached_property
    def targets(self) -> tuple[frozenset[int], ...]:
        """The cells to which each cell has a link."""
        return self._linked(lambda source, target: (source, target))

    @cached_property
    def sources(self) -> tuple[frozenset[int], ...]:
        return self._linked(lambda source, target: (target, source))

    def _linked(self, turned: Callable[[int, int], tuple[int, int]]) -> (
        tuple[frozenset[int], ...]
    ):
        found: list[set[int]] = [set() for _ in range(self.setup.board.size)]
        for source, _, target in self.setup.board.links:
            one, other = turned(source, target)
            found[one].add(other)
        return tuple(map(frozenset, found))

    def lines_through(self, cells: frozenset[int]) -> frozenset[Line]:
        if cells not in self._through:
            self.work.spend(len(self.setup.board.lines))
            self._through[cells] = frozenset(
                line for line in self.setup.board.lines if not line.isdisjoint(cells)
            )
        self.work.spend(len(self._through[cells]))
        return self._through[cells]

    def fixed(self, cells: frozenset[int]) -> Local:
        """A set that is the same in every position."""
        every, none = frozenset(range(len(self.setup.pieces))), frozenset[int]()
        return Local(tuple(
            every if cell in cells else none for cell in range(self.setup.board.size)
        ))

    def holding(self, wanted: Callable[[Piece], bool]) -> Local:
        """The cells with a piece of this kind."""
        values = frozenset(
            value for value, piece in enumerate(self.setup.pieces)
            if value != EMPTY and wanted(piece)
        )
        return Local((values,) * self.setup.board.size)


@dataclass(frozen=True, slots=True)
class Meaning:
    ground: Ground
    side: int
    numbers: Mapping[str, int] = field(default_factory=dict)
    cells: Mapping[str, frozenset[int]] = field(default_factory=dict)

    def truth(self, tree: Tree) -> Truth:
        term = self._term(tree)
        if isinstance(term, Number):
            return comparison("!=", term, Constant(0))
        return _expect(Truth, term)

    def number(self, tree: Tree) -> Number:
        return _expect(Number, self._term(tree))

    def set(self, tree: Tree) -> Cells:
        return _expect(Cells, self._term(tree))

    def _term(self, tree: Tree) -> Term:
        self.ground.work.spend()
        match tree.kind:
            case "number":
                return Constant(tree.number)
            case "name":
                return self._owned(tree) if tree.owner else self._named(tree.word)
            case "call":
                return self._called(tree.word, tree.parts)
            case "not":
                return negation(self.truth(tree.parts[0]))
            case "negative":
                return arithmetic("-", Constant(0), self.number(tree.parts[0]))
            case "and":
                return conjunction([self.truth(part) for part in tree.parts])
            case "or":
                return disjunction([self.truth(part) for part in tree.parts])
        left, right = tree.parts
        one = self._term(left)
        if tree.kind in ("&", "|") or (tree.kind == "-" and isinstance(one, Cells)):
            return combine(tree.kind, _expect(Cells, one), self.set(right))
        join = comparison if tree.kind in _COMPARISONS else arithmetic
        return join(tree.kind, _expect(Number, one), self.number(right))

    # -- names ------------------------------------------------------------------------

    def _owned(self, tree: Tree) -> Term:
        setup, word = self.ground.setup, tree.word
        side = {"own": self.side, "enemy": 1 - self.side, "first": 0, "second": 1}[tree.owner]
        if not word:
            return self.ground.holding(lambda piece: piece.side == side)
        if word in setup.kinds:
            return self.ground.holding(lambda piece: piece.side == side and piece.kind == word)
        counter = setup.counter(word, side)
        if counter is not None:
            return Total(frozenset((counter,)))
        if word == "seeds" and setup.board.kind == "pits":
            return Total(frozenset(setup.hole_counters(side)))
        raise TextError(f"{tree.owner} {word} means nothing")

    def _named(self, word: str) -> Term:
        ground, setup = self.ground, self.ground.setup
        for numbers in (self.numbers, setup.numbers):
            if word in numbers:
                return Constant(numbers[word])
        if word in self.cells:
            return ground.fixed(self.cells[word])
        if word in setup.regions:
            return ground.fixed(frozenset(
                setup.seen(cell, self.side) for cell in setup.regions[word]
            ))
        if word in setup.kinds:
            return ground.holding(lambda piece: piece.kind == word)
        counter = setup.counter(word, None)
        if counter is not None:
            return Total(frozenset((counter,)))
        if setup.board.kind == "heaps" and word in ("largest", "heaps"):
            heaps = setup.heap_counters()
            return LargestHeap(tuple(heaps)) if word == "largest" else Total(frozenset(heaps))
        match word:
            case "empty":
                return Local((frozenset((EMPTY,)),) * setup.board.size)
            case "filled":
                return ground.holding(lambda piece: True)
            case "board":
                return ground.fixed(frozenset(range(setup.board.size)))
            case "pending":
                return PendingCell()
        raise TextError(f"{word} means nothing here")

    # -- functions --------------------------------------------------------------------

    def _called(self, word: str, arguments: Sequence[Tree]) -> Term:
        ground = self.ground
        if word == "can":
            rule = arguments[0].word if len(arguments) == 1 else ""
            if not rule or arguments[0].kind != "name" or arguments[0].owner:
                raise TextError("can() takes the name of a rule")
            if rule not in ground.rules:
                raise TextError(f"there is no rule {rule} above")
            return Can(self.side, *ground.rules[rule])
        counts = {"count": (1,), "any": (1,), "none": (1,), "in_lines": (1,), "beside": (1,),
                  "lines": (1, 2), "connected": (3,)}
        if len(arguments) not in counts.get(word, ()):
            raise TextError(f"{word}() is no function of {len(arguments)} sets")
        first, *rest = [self.set(argument) for argument in arguments]
        fixed = [_cells_of(each, ground.setup) for each in rest]
        match word:
            case "count":
                return _size(first, ground.setup)
            case "any":
                return comparison("!=", _size(first, ground.setup), Constant(0))
            case "none":
                return comparison("==", _size(first, ground.setup), Constant(0))
            case "beside":
                return Neighbours(first, ground.sources)
            case "connected":
                return Joined(first, frozenset(fixed), ground.targets)
        if not ground.setup.board.lines:
            raise TextError(f"{word}() on a board without lines")
        board = frozenset(range(ground.setup.board.size))
        lines = ground.lines_through(fixed[0] if fixed else board)
        return FullLines(first, lines) if word == "lines" else OnLines(first, lines)


def _expect(kind: type[T], term: Term) -> T:
    if not isinstance(term, kind):
        raise TextError(f"an expression is no {kind.__name__.lower()} where one is needed")
    return term


def _cells_of(cells: Cells, setup: Setup) -> frozenset[int]:
    """The cells of a set that is the same in every position."""
    if isinstance(cells, Local) and all(
        len(values) in (0, len(setup.pieces)) for values in cells.values
    ):
        return frozenset(cell for cell, values in enumerate(cells.values) if values)
    raise TextError("only regions and cells of the move can stand there")


def _size(cells: Cells, setup: Setup) -> Number:
    try:
        return Constant(len(_cells_of(cells, setup)))
    except TextError:
        return Size(cells)
