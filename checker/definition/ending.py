"""That every game ends, and how far scores reach: both proved from the ground tables.

A *weighing* gives each position a whole number, bounded from below. Weighings in a row prove the
end if each move lowers one of them and raises none before that one. Moves that start no clock
again need none where a limit counts the plies.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from zermelo.checker.definition.cases import NO_RULE, Case, Tables
from zermelo.checker.definition.limits import HIGHEST_SCORE, LARGEST, TextError
from zermelo.checker.definition.pieces import EMPTY, Setup
from zermelo.checker.definition.terms import (
    FALSE,
    TRUE,
    All,
    Arithmetic,
    Cells,
    Comparison,
    Constant,
    FullLines,
    Holding,
    LargestHeap,
    Local,
    Mixed,
    Number,
    Size,
    Total,
    Truth,
    Without,
)

Range = tuple[int, int]
#: Cases that are weighed before the search for a proof is given up.
_MOST_WEIGHED = 400_000


# -- ranges ----------------------------------------------------------------------------------


def range_of(number: Number, setup: Setup) -> Range:
    """The least and the largest value in any position; `TextError` if that is too large."""
    low, high = _range(number, setup)
    if max(-low, high) > LARGEST:
        raise TextError(f"a number can reach {max(-low, high)}")
    return low, high


def _range(number: Number, setup: Setup) -> Range:
    match number:
        case Constant(value):
            return value, value
        case Total(counters):
            pits = _pits(setup)
            free = sum(setup.counters[at].most for at in counters if at >= pits)
            return 0, free + (setup.all_seeds if any(at < pits for at in counters) else 0)
        case LargestHeap(counters):
            return 0, len(counters)
        case Size(cells):
            return 0, _most_cells(cells, setup)
        case FullLines(_, lines):
            return 0, len(lines)
        case Arithmetic(operator, left, right):
            return _joined(operator, range_of(left, setup), range_of(right, setup))
    raise TextError("a number has no range")


def _most_cells(cells: Cells, setup: Setup) -> int:
    match cells:
        case Local(values):
            return sum(map(bool, values))
        case Mixed("&", sets):
            return min(_most_cells(each, setup) for each in sets)
        case Without(one, _):
            return _most_cells(one, setup)
    return setup.board.size


def _joined(operator: str, left: Range, right: Range) -> Range:
    match operator:
        case "+":
            return left[0] + right[0], left[1] + right[1]
        case "-":
            return left[0] - right[1], left[1] - right[0]
        case "/":
            return left[0] // right[1], left[1] // right[1]
        case "%":
            return 0, right[1] - 1
    products = [one * other for one in left for other in right]
    return min(products), max(products)


def _pits(setup: Setup) -> int:
    """The first counters are those of pits, whose seeds are neither made nor lost."""
    return 2 * setup.board.holes + 2 if setup.board.kind == "pits" else 0


def highest_score(tables: Tables) -> int:
    """No score is larger than this, or smaller than its negative."""
    highest = 1
    for score in tables.scores or ():
        low, high = range_of(score, tables.setup)
        highest = max(highest, -low, high)
    if highest > HIGHEST_SCORE:
        raise TextError(f"scores can reach {highest}")
    for _, case in tables.every():
        for change in case.changes:
            range_of(change.amount, tables.setup)
    return highest


# -- the end ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Weighing:
    """A sum over cells by their value and over counters, or whose turn it is."""

    #: For values the weight of each cell that has it; other values weigh nothing.
    cells: Mapping[int, Sequence[int]] = field(default_factory=dict)
    counters: Mapping[int, int] = field(default_factory=dict)
    #: One more if it is this side's turn.
    turn: int | None = None

    def of(self, value: int, cell: int) -> int:
        weights = self.cells.get(value)
        return weights[cell] if weights is not None else 0


def prove_end(tables: Tables) -> list[Weighing]:
    """Weighings that prove the end; `TextError` if there are none."""
    left, chosen, weighed = tables.every(), [], 0
    known = [_Known(tables.setup, side, case) for side, case in left]
    weighings = list(_weighings(tables))
    progress = True
    while known and progress:
        progress = False
        for weighing in weighings:
            weighed += len(known)
            if weighed > _MOST_WEIGHED:
                raise TextError("the proof that every game ends takes too long")
            rises = [each.rise(weighing) for each in known]
            if max(rises) <= 0 and min(rises) < 0:
                chosen.append(weighing)
                known = [each for each, rise in zip(known, rises, strict=True) if not rise]
                progress = True
                break
    if any(tables.setup.clock is None or each.case.resets for each in known):
        raise TextError("that every game ends cannot be proved")
    return chosen


class _Known:
    """A case with what its guard says about the position before."""

    def __init__(self, setup: Setup, side: int, case: Case) -> None:
        self._setup, self._side, self.case = setup, side, case
        self._values: dict[int, frozenset[int]] = {}
        self._ranges: dict[int, Range] = {}
        for part in case.guard.ordered if isinstance(case.guard, All) else (case.guard,):
            if isinstance(part, Holding):
                self._values[part.cell] = part.values
            elif isinstance(part, Comparison):
                self._learn(part)
        self._steps: dict[int, Range] = {}

    def _learn(self, part: Comparison) -> None:
        operator, left, right = part.operator, part.left, part.right
        if isinstance(left, Constant) and isinstance(right, Total):
            operator = {"<": ">", "<=": ">="}.get(operator, operator)
            left, right = right, left
        if not isinstance(left, Total) or not isinstance(right, Constant) or (
            len(left.counters) != 1
        ):
            return
        (counter,) = left.counters
        low, high = self._before(counter)
        value = right.value
        if operator in ("==", "<=", "<"):
            high = min(high, value - (operator == "<"))
        if operator in ("==", ">=", ">"):
            low = max(low, value + (operator == ">"))
        if operator == "!=" and value == low:
            low += 1
        self._ranges[counter] = low, high

    def _before(self, counter: int) -> Range:
        return self._ranges.get(counter, (0, self._setup.counters[counter].most))

    # -- how far a weighing can rise ----------------------------------------------------

    def rise(self, weighing: Weighing) -> int:
        """The most by which the move can raise a weighing; below zero if it always lowers it."""
        if weighing.turn is not None:
            return -1 if weighing.turn == self._side else 1
        most = self._cell_rise(weighing) if weighing.cells else 0
        for counter, weight in weighing.counters.items():
            low, high = self._counter_step(counter)
            most += max(weight * low, weight * high)
        return most

    def _cell_rise(self, weighing: Weighing) -> int:
        setup, case, most = self._setup, self.case, 0
        every = frozenset(range(len(setup.pieces)))
        put = dict(case.puts)
        for cell, value in put.items():
            now = weighing.of(value, cell)
            most += max(now - weighing.of(old, cell) for old in self._values.get(cell, every))
        if case.lifts != EMPTY:
            for cell in range(setup.board.size):
                if cell not in put:
                    most += max(0, weighing.of(EMPTY, cell) - weighing.of(case.lifts, cell))
        if case.rays:
            own = case.puts[0][1]
            enemies = [value for value, piece in enumerate(setup.pieces)
                       if piece.side == 1 - self._side]
            for cell in {cell for ray in case.rays for cell in ray}:
                most += max([0, *(weighing.of(own, cell) - weighing.of(enemy, cell)
                                  for enemy in enemies)])
        if case.forfeits != NO_RULE:
            mine = [value for value, piece in enumerate(setup.pieces)
                    if value != EMPTY and piece.side != 1 - self._side]
            for cell in range(setup.board.size):
                most += max([0, *(weighing.of(EMPTY, cell) - weighing.of(value, cell)
                                  for value in mine)])
        return most

    def _counter_step(self, counter: int) -> Range:
        """By how much the move changes a counter."""
        if counter not in self._steps:
            self._steps[counter] = self._find_step(counter)
        return self._steps[counter]

    def _find_step(self, counter: int) -> Range:
        setup, before = self._setup, self._before(counter)
        top = setup.counters[counter].most
        # Seeds are neither made nor lost: no sum of them is ever cut off at the top.
        bounded = counter >= _pits(setup)
        (low, high), (less, more) = before, (0, 0)
        for change in self.case.changes:
            if change.counter != counter:
                continue
            least, most = range_of(change.amount, setup)
            if change.adds:
                step = least, most
                if bounded:
                    step = (_clamp(high + least, top) - high, _clamp(low + most, top) - low)
                after = less + step[0], more + step[1]
                values = _clamp(low + least, top), _clamp(high + most, top)
            else:
                values = _clamp(least, top), _clamp(most, top)
                after = values[0] - before[1], values[1] - before[0]
            if change.condition != TRUE:
                after = min(after[0], less), max(after[1], more)
                values = min(values[0], low), max(values[1], high)
            (less, more), (low, high) = after, values
        return less, more


def _clamp(value: int, top: int) -> int:
    return min(max(value, 0), top)


def _weighings(tables: Tables) -> Iterator[Weighing]:
    setup = tables.setup
    if setup.board.kind == "heaps":
        # Two heaps weigh less than the one they were.
        yield Weighing(counters={at: 2 * at + 1 for at in setup.heap_counters()})
    if setup.board.kind == "pits":
        holes = setup.board.holes
        yield Weighing(counters={holes: -1, 2 * holes + 1: -1})
        yield Weighing(counters={at: holes - place for side in (0, 1)
                                 for place, at in enumerate(setup.hole_counters(side))})
    if setup.board.size:
        yield from _weighings_of_cells(setup)
    for at in range(len(setup.counters)):
        if at != setup.clock:
            yield Weighing(counters={at: 1})
            yield Weighing(counters={at: -1})
    if setup.stuck != "pass" and not any(
        case.chain >= 0 or _may_hold(case.again) for _, case in tables.every()
    ):
        yield Weighing(turn=0)
        yield Weighing(turn=1)


def _may_hold(truth: Truth) -> bool:
    return truth != FALSE


def _weighings_of_cells(setup: Setup) -> Iterator[Weighing]:
    board, values = setup.board, range(1, len(setup.pieces))
    ones = [1] * board.size
    yield Weighing({EMPTY: ones})
    yield Weighing(dict.fromkeys(values, ones))
    ways = []
    for axis in (0, 1):
        along = [place[axis] for place in board.places]
        ways += [along, [max(along) - each for each in along]]
    for weights in ways:
        seen = list(weights)
        for cell, weight in enumerate(weights):
            seen[setup.view[cell]] = weight
        yield Weighing({value: seen if setup.pieces[value].side == 1 else weights
                        for value in values})
    for value in values:
        yield Weighing({value: ones})
        yield Weighing({each: ones for each in (EMPTY, *values) if each != value})
        for weights in ways:
            yield Weighing({value: weights})
