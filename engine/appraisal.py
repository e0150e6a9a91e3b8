"""Estimates of many positions in one call: on every processor, without the GIL meanwhile."""

from __future__ import annotations

import os
from array import array
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from zermelo.games.reversi import ReversiPosition

#: How far guesses look ahead. Where efforts are known, two plies more tell nothing about the cost
#: of a question and hardly anything about its answer, and take eight times as long.
GUESSED_PLIES = 2
#: Fewer positions than this are not worth a second thread.
LEAST_SHARE = 32
#: Each thread keeps its weights and what it saw, a dozen megabytes.
MOST_THREADS = 8


Told = TypeVar("Told")


class Appraisers:
    """Compiled cores with the same weights, one for each processor, made when first needed."""

    def __init__(self, make_core: Callable[[], Any]) -> None:
        self._make_core = make_core
        self._cores: list[Any] = []
        #: Kept from call to call: starting threads took a twentieth of a generator's time.
        self._pool = ThreadPoolExecutor(MOST_THREADS)

    def guesses(self, positions: Sequence[ReversiPosition]) -> list[int] | None:
        """What each is worth; None without weights."""

        def appraise(core: Any, first: int, last: int) -> list[int] | None:
            boards = _boards(positions[first:last])
            told: list[int] | None = core.guess_all(boards, GUESSED_PLIES)
            return told

        return self._share_out(len(positions), appraise)

    def efforts(
        self, positions: Sequence[ReversiPosition], thresholds: array[int]
    ) -> list[tuple[float, float]] | None:
        """What proving a score of at least and of less than each threshold takes, in bits."""

        def appraise(core: Any, first: int, last: int) -> list[tuple[float, float]] | None:
            told: list[tuple[float, float]] | None = core.efforts_all(
                _boards(positions[first:last]), thresholds[first:last]
            )
            return told

        return self._share_out(len(positions), appraise)

    def _share_out(
        self, count: int, appraise: Callable[[Any, int, int], list[Told] | None]
    ) -> list[Told] | None:
        workers = max(1, min(_processors(), MOST_THREADS, count // LEAST_SHARE))
        while len(self._cores) < workers:
            self._cores.append(self._make_core())
        ends = [count * worker // workers for worker in range(workers + 1)]
        others = [
            self._pool.submit(appraise, self._cores[worker], ends[worker], ends[worker + 1])
            for worker in range(1, workers)
        ]
        parts = [appraise(self._cores[0], 0, ends[1]), *(other.result() for other in others)]
        return None if None in parts else [one for part in parts for one in part or ()]


def _processors() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _boards(positions: Sequence[ReversiPosition]) -> memoryview:
    """One row a position: own discs, the opponent's."""
    boards = array("Q", (board for p in positions for board in (p.own, p.opponent)))
    return memoryview(boards).cast("B").cast("Q", (len(positions), 2))
