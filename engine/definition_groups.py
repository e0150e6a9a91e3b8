"""Cases of moves that differ only in where they lie, so that the kernel finds all at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from zermelo.engine.definition_code import Code, lowest, mask_of
from zermelo.games.definition.board import cells_of
from zermelo.games.definition.tables import Instance
from zermelo.games.definition.terms import Ray, Term

MOST_GROUPS = 1024
MOST_RANKED = 64  # cases of one move
NONE = -1


@dataclass(slots=True)
class Case:
    """One instance with its place in the program."""

    number: int
    move: int
    instance: Instance
    #: Sets of values, as masks, and cells that must be in them.
    tests: list[tuple[int, int]]
    #: What must hold besides.
    rest: frozenset[Term]
    guard: int

    @property
    def anchor(self) -> int:
        return min(lowest(mask) for _, mask in self.tests)

    def shape(self) -> tuple[tuple[int, int], ...]:
        """Sets, and how far behind the anchor a cell must be in them."""
        return tuple(sorted(
            (values, cell - self.anchor) for values, mask in self.tests for cell in cells_of(mask)
        ))

    def excludes(self, other: Case) -> bool:
        """Whether both can never apply to the same position, as far as that is seen."""
        for values, mask in self.tests:
            for others, cells in other.tests:
                if values and others and not values & others and mask & cells:
                    return True
        return any(
            counter in wanted and wanted[counter] != value
            for wanted in [counter_values(other.rest)]
            for counter, value in counter_values(self.rest).items()
        )


def counter_values(terms: Iterable[Term]) -> dict[int, int]:
    """The counters that must have a certain value."""
    found: dict[int, int] = {}
    for term in terms:
        match term:
            case ("==", ("counter", counter), ("const", value)):
                found[counter] = value
    return found


@dataclass(slots=True)
class Group:
    needs: tuple[tuple[int, int], ...]
    guard: int
    #: The side and, for each anchor, the rays whose enemies must be enclosed.
    rays: dict[int, frozenset[Ray]] | None
    cases: dict[int, Case] = field(default_factory=dict)
    earlier: int = NONE


class Groups:
    """The groups of all sides and rules, one after the other."""

    def __init__(self, code: Code, cells: int) -> None:
        self._code, self._cells = code, cells
        self.rows: list[int] = []
        self.needs: list[int] = []
        self.at: list[int] = []
        self.ways: list[int] = []

    @property
    def count(self) -> int:
        return len(self.rows) // 7

    def add(self, groups: Sequence[Group]) -> tuple[int, int]:
        """Write groups down: the number of the first, and how many there are."""
        first = self.count
        for group in groups:
            ways = [] if group.rays is None else ways_of(group.rays)
            flank = NONE
            if ways:
                flank = len(self.ways) // 2
                for shift, cells in ways:
                    self.ways += [shift, self._code.mask(cells)]
                self.ways += [0, 0]
            need = len(self.needs) // 2
            for values, shift in group.needs:
                self.needs += [self._code.sets[values], shift]
            self.rows += [
                need, len(group.needs), group.guard, self._code.mask(mask_of(group.cases)),
                len(self.at), group.earlier, flank,
            ]
            self.at += [
                group.cases[cell].number if cell in group.cases else 0
                for cell in range(self._cells)
            ]
        return first, len(groups)


def group_cases(cases: Iterable[Case]) -> tuple[list[Group], list[Case]]:
    """Groups, and the cases that are in none."""
    found: dict[tuple[object, ...], list[Group]] = {}
    others: list[Case] = []
    total = 0
    for case in cases:
        if not case.tests:
            others.append(case)
            continue
        rays, guard = _flanked(case), case.guard
        if rays is not None:
            guard = NONE
        layers = found.setdefault((case.shape(), guard, rays is not None), [])
        group = next((each for each in layers if case.anchor not in each.cases), None)
        if group is None:
            if total == MOST_GROUPS:
                others.append(case)
                continue
            total += 1
            group = Group(case.shape(), guard, None if rays is None else {})
            layers.append(group)
        group.cases[case.anchor] = case
        if rays is not None and group.rays is not None:
            group.rays[case.anchor] = rays
    groups = [group for layers in found.values() for group in layers]
    return list(_checked(groups)), others


def _flanked(case: Case) -> frozenset[Ray] | None:
    """The rays, if enclosing on one of them is all that is wanted besides the tests."""
    match list(case.rest):
        case [("outflanks", _, rays)]:
            return frozenset(rays)
    return None


def _checked(groups: Iterable[Group]) -> Iterator[Group]:
    """Where rays are not what steps in equal directions make, every case is a group."""
    for group in groups:
        if group.rays is None or ways_of(group.rays):
            yield group
            continue
        for anchor, case in group.cases.items():
            yield Group(group.needs, case.guard, None, {anchor: case})


def ways_of(rays: dict[int, frozenset[Ray]]) -> list[tuple[int, int]]:
    """Directions as distances with the cells from which they go on; none if that is not the same
    as the rays."""
    steps: dict[int, int] = {}
    for start, found in rays.items():
        for ray in found:
            distance = ray[0] - start
            path = (start, *ray)
            if any(after - at != distance for at, after in pairwise(path)):
                return []
            steps[distance] = steps.get(distance, 0) | mask_of(path[:-1])
    for start, found in rays.items():
        for distance, mask in steps.items():
            cells_on: list[int] = []
            at = start
            while mask >> at & 1:
                at += distance
                cells_on.append(at)
            if len(cells_on) > 1 and tuple(cells_on) not in found:
                return []
            if len(cells_on) <= 1 and any(ray[0] - start == distance for ray in found):
                return []
    return sorted(steps.items())


def rank(groups: list[Group], of_move: dict[int, list[Case]]) -> tuple[dict[int, int], set[int]]:
    """Which cases go before which: for each case the anchors of earlier ones of its move that may
    apply, too. Moves whose earlier cases are in several groups, or in later ones, are returned."""
    place = {case.number: (at, anchor)
             for at, group in enumerate(groups) for anchor, case in group.cases.items()}
    before: dict[int, int] = {}
    left: set[int] = set()
    for move, cases in of_move.items():
        if len(cases) == 1:
            continue
        if len(cases) > MOST_RANKED or any(case.number not in place for case in cases):
            left.add(move)
            continue
        for number, case in enumerate(cases):
            rivals = [other for other in cases[:number] if not case.excludes(other)]
            if not rivals:
                continue
            at, _ = place[case.number]
            homes = {place[other.number][0] for other in rivals}
            home = homes.pop()
            if homes or home > at or groups[at].earlier not in (NONE, home):
                left.add(move)
                continue
            groups[at].earlier = home
            before[case.number] = mask_of(place[other.number][1] for other in rivals)
    return before, left
