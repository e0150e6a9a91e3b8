"""Symmetries, proved: a candidate is one exactly if it maps every table onto itself.

A candidate is a map of the board, with or without exchange of the sides. Where it maps the
cases of every move onto those of some move, every end onto the end in the same place, and so
on, the tree below a position and the tree below its image are the same.
"""

from __future__ import annotations

from collections import Counter as Multiset
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

from zermelo.games.definition.board import Permutation, permute
from zermelo.games.definition.model import Model
from zermelo.games.definition.reference import DefinedPosition
from zermelo.games.definition.tables import Instance, Tables
from zermelo.games.definition.terms import Term


@dataclass(frozen=True, slots=True)
class Symmetry:
    cells: Permutation
    exchange: bool
    #: Where every value of a cell and every counter goes.
    values: tuple[int, ...]
    counters: tuple[int, ...]

    def then(self, other: Symmetry) -> Symmetry:
        """First this one, then the other."""
        return Symmetry(
            tuple(other.cells[cell] for cell in self.cells),
            self.exchange != other.exchange,
            tuple(other.values[value] for value in self.values),
            tuple(other.counters[at] for at in self.counters),
        )

    def apply(self, position: DefinedPosition) -> DefinedPosition:
        planes = [0] * len(position.planes)
        for value, plane in enumerate(position.planes):
            planes[self.values[value]] = permute(plane, self.cells)
        counters = [0] * len(position.counters)
        for at, count in enumerate(position.counters):
            counters[self.counters[at]] = count
        return DefinedPosition(
            tuple(planes), tuple(counters), permute(position.pending, self.cells),
            position.turn ^ self.exchange, position.passing,
        )


def prove_symmetries(tables: Tables) -> list[Symmetry]:
    """All candidates that are symmetries, the identity first.

    What proved symmetries make one after the other is one too and needs no proof of its own.
    """
    model = tables.model
    candidates = []
    for exchange in (False, True):
        values, counters = _values(model, exchange), _counters(model, exchange)
        if values is not None and counters is not None:
            candidates += [
                Symmetry(cells, exchange, values, counters) for cells in model.board.maps()
            ]
    group, originals = {candidates[0]}, _Originals(tables)
    for candidate in candidates:
        if candidate not in group and _Proof(originals, candidate).holds():
            group = _closure(group, candidate)
    return [candidate for candidate in candidates if candidate in group]


def _closure(group: set[Symmetry], added: Symmetry) -> set[Symmetry]:
    """The group that a group and one more symmetry make."""
    found, waiting = {*group, added}, [added]
    while waiting:
        one = waiting.pop()
        for other in list(found):
            for made in (one.then(other), other.then(one)):
                if made not in found:
                    found.add(made)
                    waiting.append(made)
    return found


def _values(model: Model, exchange: bool) -> tuple[int, ...] | None:
    """Where the values go; None if a side has a kind of piece that the other lacks."""
    if not exchange:
        return tuple(range(len(model.values)))
    names = [(value.kind, value.side) for value in model.values]
    swapped = [(kind, None if side is None else 1 - side) for kind, side in names]
    return tuple(map(names.index, swapped)) if set(names) == set(swapped) else None


def _counters(model: Model, exchange: bool) -> tuple[int, ...] | None:
    if not exchange:
        return tuple(range(len(model.counters)))
    names = [(counter.name, counter.side, counter.most) for counter in model.counters]
    swapped = [(name, None if side is None else 1 - side, most) for name, side, most in names]
    return tuple(map(names.index, swapped)) if set(names) == set(swapped) else None


class _Originals:
    """What images are compared with; the same for all candidates."""

    def __init__(self, tables: Tables) -> None:
        self.tables = tables
        terms = _terms(tables)
        self.links = {(cell, after) for cell, _, after in tables.model.board.links}
        #: Links matter only where a condition follows them.
        self.follows_links = any(term[0] in ("beside", "connected") for term in terms)
        #: Rules whose number matters: those that a condition or a chain asks for.
        self.named = {
            instance.rule for _, _, instance in tables.every() if instance.chain
        } | {term[2] for term in terms if term[0] == "can"} | {
            instance.forfeits for _, _, instance in tables.every()
        }
        self.rows = [
            Multiset(tuple(map(self._plain, instances)) for instances in moves)
            for moves in tables.instances
        ]

    def _plain(self, instance: Instance) -> Hashable:
        return (
            instance.rule if instance.rule in self.named else None,
            instance.guard, instance.source, instance.target, instance.lifts,
            frozenset((put.mask, put.value) for put in instance.puts), instance.rays,
            instance.forfeits,
            tuple((each.counter, each.operator, each.amount, each.condition)
                  for each in instance.changes),
            instance.chain, instance.again, instance.resets,
        )


class _Proof:
    def __init__(self, originals: _Originals, candidate: Symmetry) -> None:
        self._originals, self._candidate = originals, candidate
        self._images: dict[Term, Term] = {}

    def holds(self) -> bool:
        tables, exchange = self._originals.tables, self._candidate.exchange
        if not self._links_hold():
            return False
        for side in (0, 1):
            other = side ^ exchange
            if not self._moves_hold(side, other):
                return False
            ends = [(self._image(end.condition), self._image(end.score))
                    for end in tables.ends[side]]
            if ends != [(end.condition, end.score) for end in tables.ends[other]]:
                return False
            score = tables.scores[side]
            if (None if score is None else self._image(score)) != tables.scores[other]:
                return False
        return not (exchange and tables.model.solo)

    def _moves_hold(self, side: int, other: int) -> bool:
        """Most candidates fail here, by the first move whose image is no move."""
        rows = self._originals.rows[other]
        images: Multiset[Hashable] = Multiset()
        for instances in self._originals.tables.instances[side]:
            image = tuple(map(self._instance, instances))
            if image not in rows:
                return False
            images[image] += 1
        return images == rows

    def _links_hold(self) -> bool:
        links, image = self._originals.links, self._candidate.cells
        return not self._originals.follows_links or links == {
            (image[cell], image[after]) for cell, after in links
        }

    def _instance(self, instance: Instance) -> Hashable:
        candidate = self._candidate
        changes = [
            (candidate.counters[each.counter], each.operator, self._image(each.amount),
             self._image(each.condition))
            for each in instance.changes
        ]
        return (
            instance.rule if instance.rule in self._originals.named else None,
            self._image(instance.guard), permute(instance.source, candidate.cells),
            permute(instance.target, candidate.cells), candidate.values[instance.lifts],
            frozenset((permute(put.mask, candidate.cells), candidate.values[put.value])
                      for put in instance.puts),
            frozenset(tuple(candidate.cells[cell] for cell in ray) for ray in instance.rays),
            instance.forfeits, tuple(changes), permute(instance.chain, candidate.cells),
            self._image(instance.again), instance.resets,
        )

    def _image(self, term: Term) -> Term:
        known = self._images.get(term)
        if known is None:
            known = self._images[term] = self._make(term)
        return known

    def _make(self, term: Term) -> Term:
        candidate = self._candidate
        match term:
            case ("const", _) | ("pending",):
                return term
            case ("mask", mask):
                return ("mask", permute(mask, candidate.cells))
            case ("plane", value):
                return ("plane", candidate.values[value])
            case ("counter", at):
                return ("counter", candidate.counters[at])
            case ("sum", counters):
                return ("sum", frozenset(candidate.counters[at] for at in counters))
            case ("largest", counters):
                return ("largest", tuple(candidate.counters[at] for at in counters))
            case ("lines" | "in_lines", cells, lines):
                moved = frozenset(permute(line, candidate.cells) for line in lines)
                return (term[0], self._image(cells), moved)
            case ("within", mask, cells):
                return ("within", permute(mask, candidate.cells), self._image(cells))
            case ("connected", cells, sides):
                moved = frozenset(permute(side, candidate.cells) for side in sides)
                return ("connected", self._image(cells), moved)
            case ("can", side, rule):
                return ("can", side ^ candidate.exchange, rule)
            case ("outflanks", side, rays):
                turned = frozenset(tuple(candidate.cells[cell] for cell in ray) for ray in rays)
                return ("outflanks", side ^ candidate.exchange, turned)
            case (operator, frozenset() as parts):
                return (operator, frozenset(self._image(part) for part in parts))
        return (term[0], *(self._image(part) for part in term[1:]))


def _terms(tables: Tables) -> set[Term]:
    """All terms of the tables with everything inside them."""
    waiting: list[Any] = [score for score in tables.scores if score is not None]
    for ends in tables.ends:
        waiting.extend(term for end in ends for term in (end.condition, end.score))
    for _, _, instance in tables.every():
        waiting += [instance.guard, instance.again]
        waiting.extend(
            term for each in instance.changes for term in (each.amount, each.condition)
        )
    found: set[Term] = set()
    while waiting:
        term = waiting.pop()
        if isinstance(term, frozenset):
            waiting.extend(term)
        elif isinstance(term, tuple) and term and term not in found:
            found.add(term)
            waiting.extend(term[1:])
    return found
