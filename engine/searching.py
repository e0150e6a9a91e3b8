"""`Engine.solve`, from the request to the report.

An engine says how it searches and what its table knows; what lies around that is the same for all.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from zermelo.engine.interface import (
    ALGORITHMS,
    EVERY_ALGORITHM,
    EngineError,
    Known,
    SearchReport,
    Status,
    Window,
)
from zermelo.games import Bounds, Game, Move


class Searched(NamedTuple):
    """What a search came to, before the table is asked for a line of play."""

    status: Status
    bounds: Bounds
    nodes: int
    #: The best move so far, also where no line is proved.
    move: Move | None = None

    @property
    def solved(self) -> bool:
        return self.status is Status.SOLVED


class SearchingEngine(ABC):
    game: Game[Any]
    algorithms: tuple[str, ...] = ALGORITHMS

    def solve(
        self,
        position: Any,
        window: Window | None = None,
        *,
        algorithm: str = "mtdf",
        node_budget: int | None = None,
        known: Iterable[Known] = (),
    ) -> SearchReport:
        window = self._checked(window, algorithm)
        started = time.perf_counter()
        engine = self._searcher(algorithm)
        found = engine._search(position, window, algorithm, node_budget, known)
        seconds = time.perf_counter() - started
        line = tuple(engine._line(position, found))
        return SearchReport(
            status=found.status,
            bounds=found.bounds,
            move=line[0] if line else found.move,
            line=line,
            nodes=found.nodes,
            seconds=seconds,
            proved=() if found.solved else engine._proved_below(position),
        )

    def _checked(self, window: Window | None, algorithm: str) -> Window:
        """The window to search: all scores by default; `EngineError` for a wrong request."""
        if algorithm not in EVERY_ALGORITHM:
            raise EngineError(
                f"unknown algorithm {algorithm!r}; known: {', '.join(EVERY_ALGORITHM)}"
            )
        if algorithm not in self.algorithms:
            raise EngineError(
                f"the engine of {self.game.name} knows no algorithm {algorithm!r}; only"
                f" {', '.join(self.algorithms)}"
            )
        window = window or Window(-self.game.max_score - 1, self.game.max_score + 1)
        if window.alpha >= window.beta:
            raise EngineError(f"empty window {window.alpha},{window.beta}; LO must be below HI")
        return window

    # -- what an engine must bring for it -------------------------------------------------

    @abstractmethod
    def _search(
        self, position: Any, window: Window, algorithm: str, node_budget: int | None,
        known: Iterable[Known],
    ) -> Searched:
        """Search until the window is settled, the node budget used up, or `abort` called."""

    @abstractmethod
    def _line(self, position: Any, found: Searched) -> list[Move]:
        """Best play as far as it is proved."""

    @abstractmethod
    def known(self, position: Any) -> Bounds:
        """What the table knows; the range of scores where that is nothing."""

    # -- what it may do better ------------------------------------------------------------

    def _searcher(self, algorithm: str) -> SearchingEngine:
        """Who searches by this algorithm."""
        return self

    def _children(self, position: Any) -> list[tuple[Move, Any]]:
        return [(move, self.game.play(position, move)) for move in self.game.moves(position)]

    def _below(self, position: Any) -> list[Any]:
        """Children and grandchildren."""
        children = [child for _, child in self._children(position)]
        return children + [below for child in children for _, below in self._children(child)]

    def _proved_below(self, position: Any) -> Sequence[Known]:
        """Children and grandchildren about which more is known than the rules tell."""
        known = (Known(below, self.known(below)) for below in self._below(position))
        return [item for item in known if item.bounds != self.game.score_range]
