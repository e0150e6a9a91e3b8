"""Ground terms: numbers, truths and sets of cells of a position, for one side.

A set answers for one cell at a time. One that asks only what is on that very cell is *local*: the
values that each cell may have, so that two texts of the same local set are one term. Terms are
equal where they are built alike; what is joined in any order is kept as a set.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Any, Protocol

from zermelo.checker.definition.boards import Line
from zermelo.checker.definition.expressions import calculate, compare
from zermelo.checker.definition.limits import TextError
from zermelo.checker.definition.pieces import Setup


class View(Protocol):
    """What terms can see of a position."""

    @property
    def cells(self) -> Sequence[int]: ...

    @property
    def counters(self) -> Sequence[int]: ...

    @property
    def pending(self) -> int:
        """The cell whose piece must go on; -1: none."""

    @property
    def known(self) -> dict[Any, bool]:
        """What was found out about this position already."""


@dataclass(frozen=True, slots=True)
class Map:
    """Where a candidate for a symmetry takes cells, values, counters and sides."""

    cells: tuple[int, ...]
    values: tuple[int, ...]
    counters: tuple[int, ...]
    exchange: bool
    #: Where the value of each cell comes from, and what becomes of each value.
    _pick: Callable[[bytes], Iterable[int]] = field(init=False, compare=False, repr=False)
    _table: bytes = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        sources = sorted(range(len(self.cells)), key=self.cells.__getitem__)
        # A getter of one item gives no tuple; and one of no item cannot be made.
        pick = itemgetter(*sources) if len(sources) > 1 else bytes
        object.__setattr__(self, "_pick", pick)
        object.__setattr__(self, "_table", bytes(self.values).ljust(256, b"\0"))

    def board(self, cells: bytes) -> bytes:
        """The image of a board, a byte for each cell."""
        return bytes(self._pick(cells)).translate(self._table)

    def set(self, cells: frozenset[int]) -> frozenset[int]:
        return frozenset(self.cells[cell] for cell in cells)

    def sets(self, sets: frozenset[frozenset[int]]) -> frozenset[frozenset[int]]:
        return frozenset(map(self.set, sets))


Ray = tuple[int, ...]


def map_rays(rays: frozenset[Ray], by: Map) -> frozenset[Ray]:
    return frozenset(tuple(by.cells[cell] for cell in ray) for ray in rays)


class Term:
    """A number, a truth or a set of cells.

    Kinds are told apart by their classes, so these are no abstract ones: mypy lets nobody ask for
    an object of an abstract class.
    """

    __slots__ = ()

    def image(self, by: Map) -> Any:
        """The same about the image of the position."""
        raise NotImplementedError

    def parts_inside(self) -> Sequence[Term]:
        return ()


class Number(Term):
    __slots__ = ()

    def of(self, view: View) -> int:
        raise NotImplementedError


class Truth(Term):
    __slots__ = ()

    def holds(self, view: View) -> bool:
        raise NotImplementedError


class Cells(Term):
    __slots__ = ()

    def has(self, view: View, cell: int) -> bool:
        raise NotImplementedError


# -- sets of cells ---------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Local(Cells):
    #: The values of each cell with which it is in the set.
    values: tuple[frozenset[int], ...]

    def has(self, view: View, cell: int) -> bool:
        return view.cells[cell] in self.values[cell]

    def image(self, by: Map) -> Local:
        moved: list[frozenset[int]] = list(self.values)
        for cell, values in enumerate(self.values):
            moved[by.cells[cell]] = frozenset(by.values[value] for value in values)
        return Local(tuple(moved))


@dataclass(frozen=True, slots=True)
class PendingCell(Cells):
    def has(self, view: View, cell: int) -> bool:
        return view.pending == cell

    def image(self, by: Map) -> PendingCell:
        return self


@dataclass(frozen=True, slots=True)
class Mixed(Cells):
    """The cells in all of these sets ("&") or in one of them ("|"); not all sets are local."""

    operator: str
    sets: frozenset[Cells]

    def has(self, view: View, cell: int) -> bool:
        enough = all if self.operator == "&" else any
        return enough(each.has(view, cell) for each in self.sets)

    def image(self, by: Map) -> Mixed:
        return Mixed(self.operator, frozenset(each.image(by) for each in self.sets))

    def parts_inside(self) -> Sequence[Term]:
        return tuple(self.sets)


@dataclass(frozen=True, slots=True)
class Without(Cells):
    one: Cells
    other: Cells

    def has(self, view: View, cell: int) -> bool:
        return self.one.has(view, cell) and not self.other.has(view, cell)

    def image(self, by: Map) -> Without:
        return Without(self.one.image(by), self.other.image(by))

    def parts_inside(self) -> Sequence[Term]:
        return (self.one, self.other)


def combine(operator: str, one: Cells, other: Cells) -> Cells:
    if not isinstance(one, Local) or not isinstance(other, Local):
        return Without(one, other) if operator == "-" else Mixed(operator, frozenset((one, other)))
    pairs = zip(one.values, other.values, strict=True)
    if operator == "&":
        return Local(tuple(left & right for left, right in pairs))
    return Local(tuple(left | right if operator == "|" else left - right for left, right in pairs))


@dataclass(frozen=True, slots=True)
class Neighbours(Cells):
    """The cells to which a link leads from a cell of the set."""

    cells: Cells
    #: For each cell those that have a link to it.
    sources: tuple[frozenset[int], ...] = field(compare=False)

    def has(self, view: View, cell: int) -> bool:
        return any(self.cells.has(view, source) for source in self.sources[cell])

    def image(self, by: Map) -> Neighbours:
        return Neighbours(self.cells.image(by), self.sources)

    def parts_inside(self) -> Sequence[Term]:
        return (self.cells,)


@dataclass(frozen=True, slots=True)
class OnLines(Cells):
    """The cells of the lines that are in the set as a whole."""

    cells: Cells
    lines: frozenset[Line]

    def has(self, view: View, cell: int) -> bool:
        return any(
            cell in line and all(self.cells.has(view, each) for each in line)
            for line in self.lines
        )

    def image(self, by: Map) -> OnLines:
        return OnLines(self.cells.image(by), by.sets(self.lines))

    def parts_inside(self) -> Sequence[Term]:
        return (self.cells,)


# -- numbers ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Constant(Number):
    value: int

    def of(self, view: View) -> int:
        return self.value

    def image(self, by: Map) -> Constant:
        return self


@dataclass(frozen=True, slots=True)
class Total(Number):
    """The sum of counters; of one counter its value."""

    counters: frozenset[int]

    def of(self, view: View) -> int:
        return sum(view.counters[at] for at in self.counters)

    def image(self, by: Map) -> Total:
        return Total(frozenset(by.counters[at] for at in self.counters))


@dataclass(frozen=True, slots=True)
class LargestHeap(Number):
    #: The counters of heaps, by size from 1.
    counters: tuple[int, ...]

    def of(self, view: View) -> int:
        sizes = [size for size, at in enumerate(self.counters, 1) if view.counters[at]]
        return max(sizes, default=0)

    def image(self, by: Map) -> LargestHeap:
        return LargestHeap(tuple(by.counters[at] for at in self.counters))


@dataclass(frozen=True, slots=True)
class Size(Number):
    cells: Cells

    def of(self, view: View) -> int:
        has = self.cells.has
        return sum(has(view, cell) for cell in range(len(view.cells)))

    def image(self, by: Map) -> Size:
        return Size(self.cells.image(by))

    def parts_inside(self) -> Sequence[Term]:
        return (self.cells,)


@dataclass(frozen=True, slots=True)
class FullLines(Number):
    cells: Cells
    lines: frozenset[Line]

    def of(self, view: View) -> int:
        has = self.cells.has
        return sum(all(has(view, cell) for cell in line) for line in self.lines)

    def image(self, by: Map) -> FullLines:
        return FullLines(self.cells.image(by), by.sets(self.lines))

    def parts_inside(self) -> Sequence[Term]:
        return (self.cells,)


@dataclass(frozen=True, slots=True)
class Arithmetic(Number):
    operator: str
    left: Number
    right: Number

    def of(self, view: View) -> int:
        return calculate(self.operator, self.left.of(view), self.right.of(view))

    def image(self, by: Map) -> Arithmetic:
        return Arithmetic(self.operator, self.left.image(by), self.right.image(by))

    def parts_inside(self) -> Sequence[Term]:
        return (self.left, self.right)


def arithmetic(operator: str, left: Number, right: Number) -> Number:
    if isinstance(left, Constant) and isinstance(right, Constant):
        return Constant(calculate(operator, left.value, right.value))
    if operator in ("/", "%") and not (isinstance(right, Constant) and right.value > 0):
        raise TextError(f"{operator} needs a number above zero on its right")
    if operator == "+" and isinstance(left, Total) and isinstance(right, Total) and not (
        left.counters & right.counters
    ):
        return Total(left.counters | right.counters)
    return Arithmetic(operator, left, right)


# -- truths ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class All(Truth):
    """All of these; with none it is true."""

    parts: frozenset[Truth]
    ordered: tuple[Truth, ...] = field(compare=False, repr=False)

    def holds(self, view: View) -> bool:
        cells = view.cells
        for part in self.ordered:
            # Most parts look at one cell; a call for each would take most of the time.
            if type(part) is Holding:
                if cells[part.cell] not in part.values:
                    return False
            elif not part.holds(view):
                return False
        return True

    def image(self, by: Map) -> Truth:
        return conjunction([part.image(by) for part in self.ordered])

    def parts_inside(self) -> Sequence[Term]:
        return self.ordered


@dataclass(frozen=True, slots=True)
class Some(Truth):
    """One of these at least; with none it is false."""

    parts: frozenset[Truth]

    def holds(self, view: View) -> bool:
        return any(part.holds(view) for part in self.parts)

    def image(self, by: Map) -> Truth:
        return Some(frozenset(part.image(by) for part in self.parts))

    def parts_inside(self) -> Sequence[Term]:
        return tuple(self.parts)


TRUE = All(frozenset(), ())
FALSE = Some(frozenset())


@dataclass(frozen=True, slots=True)
class Holding(Truth):
    """A cell has one of these values."""

    cell: int
    values: frozenset[int]

    def holds(self, view: View) -> bool:
        return view.cells[self.cell] in self.values

    def image(self, by: Map) -> Holding:
        return Holding(by.cells[self.cell], frozenset(by.values[value] for value in self.values))


@dataclass(frozen=True, slots=True)
class Member(Truth):
    """A cell is in a set that is not local."""

    cell: int
    cells: Cells

    def holds(self, view: View) -> bool:
        return self.cells.has(view, self.cell)

    def image(self, by: Map) -> Member:
        return Member(by.cells[self.cell], self.cells.image(by))

    def parts_inside(self) -> Sequence[Term]:
        return (self.cells,)


@dataclass(frozen=True, slots=True)
class Idle(Truth):
    """No piece must go on."""

    def holds(self, view: View) -> bool:
        return view.pending < 0

    def image(self, by: Map) -> Idle:
        return self


@dataclass(frozen=True, slots=True)
class Negation(Truth):
    part: Truth

    def holds(self, view: View) -> bool:
        return not self.part.holds(view)

    def image(self, by: Map) -> Truth:
        return negation(self.part.image(by))

    def parts_inside(self) -> Sequence[Term]:
        return (self.part,)


@dataclass(frozen=True, slots=True)
class Comparison(Truth):
    operator: str
    left: Number
    right: Number

    def holds(self, view: View) -> bool:
        return compare(self.operator, self.left.of(view), self.right.of(view))

    def image(self, by: Map) -> Comparison:
        return Comparison(self.operator, self.left.image(by), self.right.image(by))

    def parts_inside(self) -> Sequence[Term]:
        return (self.left, self.right)


@dataclass(frozen=True, slots=True)
class Joined(Truth):
    """A way over linked cells of the set leads from the one region into the other."""

    cells: Cells
    ends: frozenset[frozenset[int]]
    #: For each cell those to which it has a link.
    targets: tuple[frozenset[int], ...] = field(compare=False)

    def holds(self, view: View) -> bool:
        start, *others = sorted(self.ends, key=sorted)
        goal = others[0] if others else start
        reached = {cell for cell in start if self.cells.has(view, cell)}
        waiting = list(reached)
        while waiting:
            for cell in self.targets[waiting.pop()]:
                if cell not in reached and self.cells.has(view, cell):
                    reached.add(cell)
                    waiting.append(cell)
        return not reached.isdisjoint(goal)

    def image(self, by: Map) -> Joined:
        return Joined(self.cells.image(by), by.sets(self.ends), self.targets)

    def parts_inside(self) -> Sequence[Term]:
        return (self.cells,)


@dataclass(frozen=True, slots=True)
class Encloses(Truth):
    """Enemies lie between the start of a ray and an own piece, on one ray at least."""

    side: int
    rays: frozenset[Ray]
    #: The side of each value; None: nobody's, or empty.
    owners: tuple[int | None, ...] = field(compare=False, repr=False)

    def holds(self, view: View) -> bool:
        return any(enclosed(view, self.owners, self.side, ray) for ray in self.rays)

    def image(self, by: Map) -> Encloses:
        return Encloses(self.side ^ by.exchange, map_rays(self.rays, by), self.owners)


def enclosed(view: View, owners: Sequence[int | None], side: int, ray: Ray) -> Sequence[int]:
    """The cells of a ray that a side's piece at its start would turn over."""
    for length, cell in enumerate(ray):
        owner = owners[view.cells[cell]]
        if owner == side:
            return ray[:length]
        if owner is None:
            return ()
    return ()


# -- building truths ---------------------------------------------------------------------------


def conjunction(truths: Sequence[Truth]) -> Truth:
    """All of these; what is said about one cell is said once."""
    values: dict[int, frozenset[int]] = {}
    others: dict[Truth, None] = {}
    waiting = list(reversed(truths))
    while waiting:
        truth = waiting.pop()
        if isinstance(truth, All):
            waiting += truth.ordered
        elif isinstance(truth, Holding):
            values[truth.cell] = values.get(truth.cell, truth.values) & truth.values
        elif truth == FALSE:
            return FALSE
        else:
            others[truth] = None
    if any(not each for each in values.values()):
        return FALSE
    ordered = (*(Holding(cell, each) for cell, each in values.items()), *others)
    return ordered[0] if len(ordered) == 1 else All(frozenset(ordered), ordered)


def disjunction(truths: Sequence[Truth]) -> Truth:
    found: set[Truth] = set()
    for truth in truths:
        if truth == TRUE:
            return TRUE
        found |= truth.parts if isinstance(truth, Some) else {truth}
    return found.pop() if len(found) == 1 else Some(frozenset(found))


def negation(truth: Truth) -> Truth:
    if truth in (TRUE, FALSE):
        return FALSE if truth == TRUE else TRUE
    return truth.part if isinstance(truth, Negation) else Negation(truth)


def comparison(operator: str, left: Number, right: Number) -> Truth:
    if isinstance(left, Constant) and isinstance(right, Constant):
        return TRUE if compare(operator, left.value, right.value) else FALSE
    if operator in (">", ">="):
        return Comparison({">": "<", ">=": "<="}[operator], right, left)
    return Comparison(operator, left, right)


def inside(cell: int, cells: Cells, setup: Setup) -> Truth:
    """That a cell is in a set."""
    every = frozenset(range(len(setup.pieces)))
    values = values_in(cells, cell, every)
    if not values:
        return FALSE
    known = [Holding(cell, values)] if values != every else []
    return conjunction(known if isinstance(cells, Local) else [*known, Member(cell, cells)])


def values_in(cells: Cells, cell: int, every: frozenset[int]) -> frozenset[int]:
    """The values with which a cell may be in a set; with all others it surely is not."""
    match cells:
        case Local(values):
            return values[cell]
        case Mixed(operator, sets):
            found = [values_in(each, cell, every) for each in sets]
            return frozenset.intersection(*found) if operator == "&" else frozenset.union(*found)
        case Without(one, other):
            out = other.values[cell] if isinstance(other, Local) else frozenset[int]()
            return values_in(one, cell, every) - out
        case OnLines(inner, lines):
            on_line = any(cell in line for line in lines)
            return values_in(inner, cell, every) if on_line else frozenset()
    return every
