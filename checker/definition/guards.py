"""When the cases of rules apply, found without a look at most of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from zermelo.checker.definition.terms import All, Holding, Map, Truth, View


class Guards:
    """What each of many truths allows, by the first cell that it looks at.

    Most moves of a board are from cells without an own piece: one look refuses them all.
    """

    def __init__(self, guarded: Iterable[tuple[Truth, int]] = ()) -> None:
        self._anywhere: list[tuple[Truth, int]] = []
        self._by_first: dict[Holding, list[tuple[Truth, int]]] = {}
        for guard, allows in guarded:
            self.add(guard, allows)

    def add(self, guard: Truth, allows: int) -> None:
        first = guard.ordered[0] if isinstance(guard, All) and guard.ordered else guard
        group = self._by_first.setdefault(first, []) if isinstance(first, Holding) \
            else self._anywhere
        group.append((guard, allows))

    def allowed(self, view: View) -> set[int]:
        return {allows for group in self._possible(view) for guard, allows in group
                if guard.holds(view)}

    def any_holds(self, view: View) -> bool:
        for group in self._possible(view):
            for guard, _ in group:
                if guard.holds(view):
                    return True
        return False

    def _possible(self, view: View) -> list[list[tuple[Truth, int]]]:
        cells = view.cells
        return [self._anywhere, *(group for first, group in self._by_first.items()
                                  if cells[first.cell] in first.values)]


@dataclass(frozen=True, slots=True)
class Can(Truth):
    """A side could use a rule here, whatever else it could do."""

    side: int
    rule: int
    #: When the cases of each side's rule apply.
    guards: tuple[Guards, Guards] = field(compare=False, repr=False)

    def holds(self, view: View) -> bool:
        # Each rule is looked at once in a position: rules that ask for rules cost no more.
        found = view.known.get((self.side, self.rule))
        if found is None:
            found = self.guards[self.side].any_holds(view)
            view.known[self.side, self.rule] = found
        return found

    def image(self, by: Map) -> Can:
        return Can(self.side ^ by.exchange, self.rule, self.guards)
