"""How a bound is secured to the end of every game, read from the kernel's table.

Where the table does not tell which move secures a bound, a search does; most of what it needs is
in the table then.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from zermelo.engine.capabilities import Secured
from zermelo.games import Key, Move


class StrategyReader:
    """Statements and what they rest on; `ask` tells whether a position reaches a threshold."""

    def __init__(self, core: Any, ask: Callable[[Key, int], bool]) -> None:
        self._core, self._ask = core, ask
        self._met: set[tuple[Key, bool]] = set()

    def follow(self, statements: Iterable[Secured]) -> Iterator[Secured]:
        """Each statement with its move, and all below it; those of ended games are left out."""
        open_statements = list(statements)
        self._met = {(each.key, each.at_least) for each in open_statements}
        while open_statements:
            key, at_least, bound, _ = open_statements.pop()
            children = self._children(key)
            move = None
            if at_least:
                move, after = self._choose(key, children, bound)
                children = [(move, after)]
            yield Secured(key, at_least, bound, move)
            for _, after in children:
                if (after, not at_least) not in self._met and not self._is_final(after):
                    self._met.add((after, not at_least))
                    open_statements.append(Secured(after, not at_least, -bound, None))

    def _children(self, key: Key) -> list[tuple[Move, Key]]:
        return [(move, self._core.canonical(after)) for move, after in self._core.children(key)]

    def _is_final(self, key: Key) -> bool:
        return isinstance(self._core.children(key), int)

    def _choose(
        self, key: Key, children: list[tuple[Move, Key]], bound: int
    ) -> tuple[Move, Key]:
        """A move that secures the bound: one that is written down already, one that ends the game,
        one that the table knows of, perhaps after a search, else one that a search finds."""
        known = self._first(children, -bound, self._is_met, self._ends_well, self._is_known)
        if known is None:
            self._ask(key, bound)  # which tells the table of a move
            known = self._first(children, -bound, self._is_known, self._is_found)
        if known is None:
            raise ValueError("no move secures a bound that was proved")
        return known

    def _first(
        self, children: list[tuple[Move, Key]], bound: int, *reasons: Callable[[Key, int], bool]
    ) -> tuple[Move, Key] | None:
        """The first of the moves for the first reason that one has."""
        for secures in reasons:
            for move, after in children:
                if secures(after, bound):
                    return move, after
        return None

    def _is_met(self, key: Key, bound: int) -> bool:
        return (key, False) in self._met

    def _ends_well(self, key: Key, bound: int) -> bool:
        score = self._core.children(key)
        return isinstance(score, int) and score <= bound

    def _is_known(self, key: Key, bound: int) -> bool:
        known = self._core.ask(key)
        return known is not None and known[1] <= bound

    def _is_found(self, key: Key, bound: int) -> bool:
        return not self._is_final(key) and not self._ask(key, bound + 1)
