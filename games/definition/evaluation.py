"""Computing ground terms in a position: each term becomes a function once, without `eval`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from zermelo.games.definition.board import Mask, cells_of
from zermelo.games.definition.model import Model
from zermelo.games.definition.tables import Tables
from zermelo.games.definition.terms import Ray, Term, size_of


class State(Protocol):
    """What terms can see of a position."""

    @property
    def planes(self) -> tuple[Mask, ...] | list[Mask]: ...

    @property
    def counters(self) -> tuple[int, ...] | list[int]: ...

    @property
    def pending(self) -> Mask: ...


Function = Callable[[State], int]

_COMPARE: dict[str, Callable[[Function, Function], Function]] = {
    "+": lambda a, b: lambda s: a(s) + b(s),
    "-": lambda a, b: lambda s: a(s) - b(s),
    "*": lambda a, b: lambda s: a(s) * b(s),
    "/": lambda a, b: lambda s: a(s) // b(s),
    "%": lambda a, b: lambda s: a(s) % b(s),
    "<": lambda a, b: lambda s: a(s) < b(s),
    "<=": lambda a, b: lambda s: a(s) <= b(s),
    "==": lambda a, b: lambda s: a(s) == b(s),
    "!=": lambda a, b: lambda s: a(s) != b(s),
}


class Evaluator:
    """Functions for the terms of some tables."""

    def __init__(self, tables: Tables) -> None:
        self._model: Model = tables.model
        self._known: dict[Term, Function] = {}
        #: What each `can` costs: every guard that asks it would count all of its rule's again.
        self._costs: dict[Term, int] = {}
        self._beside = [0] * self._model.board.cells
        for cell, _, after in self._model.board.links:
            self._beside[cell] |= 1 << after
        self._own = [
            [at for at, value in enumerate(self._model.values) if at and value.side == side]
            for side in (0, 1)
        ]
        #: The guards of each side and rule, for `can`.
        self._guards: dict[tuple[int, int], list[Term]] = {}
        for side, _, instance in tables.every():
            self._guards.setdefault((side, instance.rule), []).append(instance.guard)

    def function(self, term: Term) -> Function:
        known = self._known.get(term)
        if known is None:
            known = self._known[term] = self._make(term)
        return known

    def _make(self, term: Term) -> Function:
        match term:
            case ("const", value) | ("mask", value):
                return lambda s: value
            case ("counter", at):
                return lambda s: s.counters[at]
            case ("plane", at):
                return lambda s: s.planes[at]
            case ("pending",):
                return lambda s: s.pending
            case ("sum", counters):
                return lambda s: sum(s.counters[at] for at in counters)
            case ("largest", counters):
                return lambda s: max(
                    (size for size, at in enumerate(counters, 1) if s.counters[at]), default=0
                )
            case ("count", inner):
                cells = self.function(inner)
                return lambda s: cells(s).bit_count()
            case ("lines", inner, lines):
                return self._lines(self.function(inner), lines)
            case ("in_lines", inner, lines):
                return self._in_lines(self.function(inner), lines)
            case ("beside", inner):
                around = self.function(inner)
                return lambda s: self.beside(around(s))
            case ("connected", inner, sides):
                joined, (one, *others) = self.function(inner), sorted(sides)
                other = others[0] if others else one
                return lambda s: self._connected(joined(s), one, other)
            case ("within", mask, inner):
                found = self.function(inner)
                return lambda s: not mask & ~found(s)
            case ("minus", one, other):
                left, right = self.function(one), self.function(other)
                return lambda s: left(s) & ~right(s)
            case ("not", inner):
                truth = self.function(inner)
                return lambda s: not truth(s)
            case ("and" | "or" | "union" | "isect", parts):
                ordered = sorted(parts, key=self._cost)  # what is quick to see decides first
                return self._joined(term[0], [self.function(part) for part in ordered])
            case ("can", side, rule):
                return self._can(side, rule)
            case ("outflanks", side, rays):
                return lambda s: any(self.enclosed(s, side, ray) for ray in rays)
        operator, one, other = term
        return _COMPARE[operator](self.function(one), self.function(other))

    def _cost(self, term: Term) -> int:
        if term[0] == "not":
            return self._cost(term[1])
        if term[0] == "can":
            if term not in self._costs:
                guards = self._guards.get(term[1:], [])
                self._costs[term] = sum(size_of(guard) for guard in guards)
            return self._costs[term]
        return size_of(term)

    def _joined(self, operator: str, parts: list[Function]) -> Function:
        # Loops, not all() and any(): these are called for every move of every position.
        if operator in ("and", "or"):
            decides = operator == "or"

            def truth(state: State) -> bool:
                for part in parts:
                    if bool(part(state)) is decides:
                        return decides
                return not decides

            return truth
        first, *rest = parts
        every = operator == "isect"

        def cells(state: State) -> Mask:
            found = first(state)
            for part in rest:
                found = found & part(state) if every else found | part(state)
            return found

        return cells

    def _lines(self, cells: Function, lines: frozenset[Mask]) -> Function:
        masks = sorted(lines)

        def count(state: State) -> int:
            inside = cells(state)
            return sum(line & inside == line for line in masks)

        return count

    def _in_lines(self, cells: Function, lines: frozenset[Mask]) -> Function:
        masks = sorted(lines)

        def covered(state: State) -> Mask:
            inside, found = cells(state), 0
            for line in masks:
                if line & inside == line:
                    found |= line
            return found

        return covered

    def _can(self, side: int, rule: int) -> Function:
        guards = self._guards.get((side, rule), [])
        return self._joined("or", [self.function(guard) for guard in guards])

    def beside(self, cells: Mask) -> Mask:
        found = 0
        for cell in cells_of(cells):
            found |= self._beside[cell]
        return found

    def _connected(self, cells: Mask, one: Mask, other: Mask) -> bool:
        reached = edge = cells & one
        while edge and not reached & other:
            edge = self.beside(edge) & cells & ~reached
            reached |= edge
        return bool(reached & other)

    def enclosed(self, state: State, side: int, ray: Ray) -> Mask:
        """The enemies on a ray between its start and the nearest own piece."""
        own = enemy = 0
        for at in self._own[side]:
            own |= state.planes[at]
        for at in self._own[1 - side]:
            enemy |= state.planes[at]
        found = 0
        for cell in ray:
            if enemy >> cell & 1:
                found |= 1 << cell
                continue
            return found if own >> cell & 1 else 0
        return 0
