"""Symmetries, proved from the text: a map of the board is one if it maps every table onto itself.

Then the games from a position and from its image are the same but for names.
"""

from __future__ import annotations

from collections import Counter as Multiset
from collections.abc import Hashable, Iterable

from zermelo.checker.definition.boards import MAPS
from zermelo.checker.definition.cases import Case, Tables
from zermelo.checker.definition.guards import Can
from zermelo.checker.definition.pieces import Setup
from zermelo.checker.definition.terms import Joined, Map, Neighbours, Term, map_rays

#: What a name of a map is followed by if it exchanges the sides.
EXCHANGE = "+exchange"


def map_named(setup: Setup, name: str) -> Map | None:
    """The map of cells, values and counters with this name; None if the board has none."""
    plain, exchange = name.removesuffix(EXCHANGE), name.endswith(EXCHANGE)
    cells = setup.board.map(plain) if plain in MAPS else None
    values = _places([(piece.kind, piece.side) for piece in setup.pieces], exchange)
    counters = _places([(each.name, each.side, each.most) for each in setup.counters], exchange)
    if cells is None or values is None or counters is None:
        return None
    return Map(cells, values, counters, exchange)


def _places(names: list[tuple[object, ...]], exchange: bool) -> tuple[int, ...] | None:
    """Where each goes if the sides, which stand second, are exchanged."""
    if not exchange:
        return tuple(range(len(names)))
    wanted = [(name, None if side is None else 1 - int(str(side)), *rest)
              for name, side, *rest in names]
    if any(each not in names for each in wanted):
        return None
    return tuple(names.index(each) for each in wanted)


def is_symmetry(tables: Tables, by: Map) -> bool:
    """Whether every table is mapped onto itself, or onto that of the other side."""
    setup = tables.setup
    if by.exchange and setup.solo:
        return False
    terms = set(_terms(tables))
    if any(isinstance(term, Joined | Neighbours) for term in terms):
        links = {(source, target) for source, _, target in setup.board.links}
        if {(by.cells[source], by.cells[target]) for source, target in links} != links:
            return False
    # A rule's number matters only where something asks for that rule.
    asked = {term.rule for term in terms if isinstance(term, Can)}
    asked |= {case.rule for _, case in tables.every() if case.chain >= 0}
    asked |= {case.forfeits for _, case in tables.every()}
    for side in (0, 1):
        other = side ^ by.exchange
        images = Multiset(
            tuple(_case_image(case, by, asked) for case in cases)
            for cases in tables.cases[side].values()
        )
        originals = Multiset(
            tuple(_case(case, asked) for case in cases) for cases in tables.cases[other].values()
        )
        ends = [(end.condition.image(by), end.score.image(by)) for end in tables.ends[side]]
        if images != originals or ends != [
            (end.condition, end.score) for end in tables.ends[other]
        ]:
            return False
        if tables.scores and tables.scores[side].image(by) != tables.scores[other]:
            return False
    return True


def _case(case: Case, asked: set[int]) -> Hashable:
    return (
        case.rule if case.rule in asked else -1, case.guard, case.lifts, frozenset(case.puts),
        case.rays, case.source, case.target, case.forfeits, case.changes, case.resets,
        case.chain, case.again,
    )


def _case_image(case: Case, by: Map, asked: set[int]) -> Hashable:
    changes = tuple(
        type(each)(by.counters[each.counter], each.adds, each.amount.image(by),
                   each.condition.image(by))
        for each in case.changes
    )
    return (
        case.rule if case.rule in asked else -1, case.guard.image(by), by.values[case.lifts],
        frozenset((by.cells[cell], by.values[value]) for cell, value in case.puts),
        map_rays(case.rays, by), _cell_image(case.source, by), _cell_image(case.target, by),
        case.forfeits, changes, case.resets, _cell_image(case.chain, by), case.again.image(by),
    )


def _cell_image(cell: int, by: Map) -> int:
    return by.cells[cell] if cell >= 0 else -1


def _terms(tables: Tables) -> Iterable[Term]:
    """All terms with everything inside them."""
    waiting: list[Term] = list(tables.scores or ())
    for ends in tables.ends:
        waiting += (term for end in ends for term in (end.condition, end.score))
    for _, case in tables.every():
        waiting += [case.guard, case.again]
        waiting += (term for each in case.changes for term in (each.amount, each.condition))
    while waiting:
        term = waiting.pop()
        yield term
        waiting += term.parts_inside()
