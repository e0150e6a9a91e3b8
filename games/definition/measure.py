"""Why a game ends: a measure that every move lowers, found among many and then proved.

A *feature* is a whole number that a position has, never below zero, such as the number of
empty cells. Features in an order are a measure if every move lowers one of them and changes
none of those before it except downwards: then no game goes on for ever. Passes change no
feature; at most two of them follow each other.

Where a limit counts the plies since some rules were used, only those rules need a measure.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from zermelo.games.definition.board import cells_of
from zermelo.games.definition.errors import DefinitionError
from zermelo.games.definition.model import SECOND, SIDES, Model
from zermelo.games.definition.ranges import Range, is_pit, range_of
from zermelo.games.definition.reference import DefinedPosition
from zermelo.games.definition.tables import NO_RULE, Change, Instance, Tables
from zermelo.games.definition.terms import FALSE, TRUE, Term

#: Moves looked at for features before the search for a measure is given up.
MOST_LOOKS = 150_000
_UNKNOWN = 1_000_000_000

Weights = dict[int, list[int]]
Remaining = list[tuple[int, Instance]]


@dataclass(frozen=True, slots=True)
class Feature:
    """A sum over cells by value, and over counters; or whose turn it is."""

    name: str
    cells: Weights = field(default_factory=dict)
    counters: dict[int, int] = field(default_factory=dict)
    #: What is added so that it is never below zero.
    offset: int = 0
    turn: int | None = None

    def of(self, position: DefinedPosition) -> int:
        found = self.offset + (position.turn == self.turn)
        for value, weights in self.cells.items():
            found += sum(weights[cell] for cell in cells_of(position.planes[value]))
        return found + sum(
            weight * position.counters[at] for at, weight in self.counters.items()
        )


@dataclass(frozen=True, slots=True)
class Measure:
    features: tuple[Feature, ...]
    #: Whether the limit is needed besides.
    limited: bool

    def __str__(self) -> str:
        names = ", then ".join(feature.name for feature in self.features)
        if not self.limited:
            return f"every move lowers: {names}"
        return f"the limit of plies; what starts it again lowers: {names}" if names else (
            "the limit of plies"
        )


def prove_end(tables: Tables) -> Measure | None:
    """A measure for the game; None if none was found."""
    remaining: Remaining = [(side, instance) for side, _, instance in tables.every()]
    chosen: list[Feature] = []
    features, looks = list(_features(tables)), 0
    progress = True
    while remaining and progress:
        progress = False
        for feature in features:
            looks += len(remaining)
            if looks > MOST_LOOKS:
                return None
            left = _not_lowered(tables, feature, remaining)
            if left is not None and len(left) < len(remaining):
                chosen.append(feature)
                remaining, progress = left, True
                break
    limited = bool(remaining)
    if limited and (tables.limit is None or any(each.resets for _, each in remaining)):
        return None
    return Measure(tuple(chosen), limited)


def _not_lowered(tables: Tables, feature: Feature, moves: Remaining) -> Remaining | None:
    """The moves that leave the feature as it is; None if a move can raise it."""
    left: Remaining = []
    for side, instance in moves:
        _, high = _delta(tables, feature, side, instance)
        if high > 0:
            return None
        if high == 0:
            left.append((side, instance))
    return left


# -- how a move changes a feature ---------------------------------------------------------------


def _delta(tables: Tables, feature: Feature, side: int, instance: Instance) -> Range:
    low = high = 0
    if feature.turn is not None:
        change = -1 if feature.turn == side else 1
        return change, change
    if feature.cells:
        low, high = _cell_delta(tables.model, feature.cells, side, instance)
    for at, weight in feature.counters.items():
        less, more = counter_delta(tables.model, at, instance)
        low += min(weight * less, weight * more)
        high += max(weight * less, weight * more)
    return low, high


def _cell_delta(model: Model, weights: Weights, side: int, instance: Instance) -> Range:
    def weight(value: int, cell: int) -> int:
        return weights[value][cell] if value in weights else 0

    low = high = 0
    if instance.lifts and (instance.lifts in weights or 0 in weights):
        return -_UNKNOWN, _UNKNOWN
    for put in instance.puts:
        for cell in cells_of(put.mask):
            changes = [weight(put.value, cell) - weight(old, cell) for old in put.before]
            low += min(changes, default=0)
            high += max(changes, default=0)
    if instance.rays:
        own = instance.puts[0].value
        enemies = [at for at, value in enumerate(model.values) if value.side == 1 - side]
        for cell in {cell for ray in instance.rays for cell in ray}:
            changes = [weight(own, cell) - weight(enemy, cell) for enemy in enemies]
            low += min([0, *changes])
            high += max([0, *changes])
    if instance.forfeits != NO_RULE:
        # Any piece may be among those taken off, or none.
        owned = [at for at, value in enumerate(model.values) if value.side in (side, None) and at]
        for cell in range(model.board.cells):
            changes = [weight(0, cell) - weight(value, cell) for value in owned]
            low += min([0, *changes])
            high += max([0, *changes])
    return low, high


def counter_delta(model: Model, counter: int, instance: Instance) -> Range:
    """By how much a move can change a counter."""
    before = known_range(model, counter, instance.guard)
    changes = [change for change in instance.changes if change.counter == counter]
    if any(change.operator == "=" for change in changes):
        low, high = before
        for change in changes:
            low, high = _changed(model, change, low, high)
        return low - before[1], high - before[0]
    less = more = 0
    for change in changes:
        low, high = _added(model, change, before)
        less, more = less + low, more + high
        before = (0, model.counters[counter].most)
    return less, more


def _added(model: Model, change: Change, before: Range) -> Range:
    """What is added to a counter, as far as the ends of the counter leave room for it."""
    low, high = _amount(model, change)
    if is_pit(model, change.counter):
        return low, high  # seeds are neither made nor lost: nothing reaches the ends
    most = model.counters[change.counter].most
    return (
        max(0, min(most, before[1] + low)) - before[1],
        max(0, min(most, before[0] + high)) - before[0],
    )


def _amount(model: Model, change: Change) -> Range:
    try:
        low, high = range_of(change.amount, model)
    except DefinitionError:
        low, high = -_UNKNOWN, _UNKNOWN
    return (low, high) if change.condition == TRUE else (min(low, 0), max(high, 0))


def _changed(model: Model, change: Change, low: int, high: int) -> Range:
    less, more = _amount(model, change)
    if change.operator == "+=":
        less, more = low + less, high + more
    elif change.condition != TRUE:
        less, more = min(low, less), max(high, more)
    if is_pit(model, change.counter):
        return less, more
    # What is set stops at the ends of the counter, too.
    most = model.counters[change.counter].most
    return max(0, min(most, less)), max(0, min(most, more))


def known_range(model: Model, counter: int, guard: Term) -> Range:
    """What a guard says about a counter."""
    low, high = 0, model.counters[counter].most
    name: Term = ("counter", counter)
    for part in guard[1] if guard[0] == "and" else (guard,):
        match part:
            case ("==", term, ("const", value)) | ("==", ("const", value), term) if term == name:
                low, high = max(low, value), min(high, value)
            case ("<", ("const", value), term) if term == name:
                low = max(low, value + 1)
            case ("<=", ("const", value), term) if term == name:
                low = max(low, value)
            case ("<", term, ("const", value)) if term == name:
                high = min(high, value - 1)
            case ("<=", term, ("const", value)) if term == name:
                high = min(high, value)
            case ("!=", term, ("const", 0)) if term == name:
                low = max(low, 1)
    return low, high


# -- features --------------------------------------------------------------------------------


def _features(tables: Tables) -> Iterator[Feature]:
    model = tables.model
    if model.board.kind == "heaps":
        heaps = {
            at: 2 * int(each.name[4:]) - 1
            for at, each in enumerate(model.counters) if each.name.startswith("heap")
        }
        yield Feature("twice the stones less the number of heaps", counters=heaps)
    if model.board.kind == "pits":
        yield from _pit_features(model)
    if model.board.cells:
        yield from _cell_features(model)
    for at, counter in enumerate(model.counters):
        if tables.limit is not None and at == tables.limit.clock:
            continue
        owner = "" if counter.side is None else f"{model.side_names[counter.side]}'s "
        yield Feature(f"{owner}{counter.name}", counters={at: 1})
        yield Feature(f"what {owner}{counter.name} still lacks", counters={at: -1},
                      offset=counter.most)
    again = any(each.again != FALSE or each.chain for _, _, each in tables.every())
    if not again and model.stuck != "pass":
        for side in SIDES:
            yield Feature(f"its being {model.side_names[side]}'s turn", turn=side)


def _pit_features(model: Model) -> Iterator[Feature]:
    stores = {at: -1 for at, each in enumerate(model.counters) if each.name == "store"}
    yield Feature("seeds outside the stores", counters=stores, offset=2 * model.counters[0].most)
    holes = {}
    for at, each in enumerate(model.counters):
        if each.name.startswith("hole"):
            holes[at] = model.board.holes + 1 - int(each.name[4:])
    yield Feature("how far all seeds are from the stores", counters=holes)


def _cell_features(model: Model) -> Iterator[Feature]:
    cells, values = model.board.cells, range(len(model.values))
    ones = [1] * cells
    yield Feature("the number of empty cells", {0: ones})
    yield Feature("the number of pieces", {value: ones for value in values if value})
    height = max(row for row, _ in model.board.places)
    width = max(col for _, col in model.board.places)
    inverse = [0] * cells
    for cell, image in enumerate(model.view):
        inverse[image] = cell
    distances = {
        "the first row": [row + 1 for row, _ in model.board.places],
        "the last row": [height + 1 - row for row, _ in model.board.places],
        "the first column": [col + 1 for _, col in model.board.places],
        "the last column": [width + 1 - col for _, col in model.board.places],
    }
    for name, weights in distances.items():
        seen = [weights[inverse[cell]] for cell in range(cells)]
        yield Feature(
            f"how far all pieces are from {name}",
            {at: seen if model.values[at].side == SECOND else weights for at in values if at},
        )
    for at in values:
        if at == 0:
            continue
        what = f"pieces {model.values[at].sign}"
        yield Feature(f"the number of {what}", {at: ones})
        others = {other: ones for other in values if other != at}
        yield Feature(f"the number of cells without {what}", others)
        for name, weights in distances.items():
            yield Feature(f"how far the {what} are from {name}", {at: weights})
