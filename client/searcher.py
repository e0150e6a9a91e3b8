"""From a workunit to a result: the one place where the client meets an engine.

Engines live from workunit to workunit, so that their tables stay warm.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from typing import NamedTuple

from zermelo.engine import Answer, Engine, Known, SharedTable, Status, Window, open_engine
from zermelo.games import Bounds, open_game
from zermelo.proto import coordinator_pb2 as pb
from zermelo.proto.known import KnownBounds, from_message, to_message

#: Engines kept open, each with a table of its own.
MOST_ENGINES = 2

MEASURE_SECONDS = 0.02
MEASURE_HASH_MB = 1
MEASURE_FIRST_NODES = 1_000


class Dropped(NamedTuple):
    """A search that was stopped before it found an answer."""

    nodes: int


class Searcher:
    """Solves one workunit at a time; `drop` and `nodes` may be called by other threads."""

    def __init__(self, *, hash_mb: int, shared: SharedTable | None = None) -> None:
        self._hash_mb, self._shared = hash_mb, shared
        self._engines: OrderedDict[str, Engine] = OrderedDict()
        self._lock = threading.Lock()
        self._running: Engine | None = None
        self._dropped = False

    def measure(self, spec: str) -> int:
        """Open the engine of a game and tell how many nodes a second it visits."""
        # Measured apart: what it finds is forgotten, as its nodes are counted nowhere.
        engine = open_engine(open_game(spec), hash_mb=MEASURE_HASH_MB)
        nodes, limit, started = 0, MEASURE_FIRST_NODES, time.perf_counter()
        while (seconds := time.perf_counter() - started) < MEASURE_SECONDS:
            answer = engine.solve(engine.game.initial(), node_limit=limit)
            nodes += answer.nodes
            limit *= 4
            if answer.status is Status.SOLVED:
                break
        seconds = max(time.perf_counter() - started, 1e-6)
        self._engine(spec)
        return max(1, round(nodes / seconds))

    def solve(self, workunit: pb.Workunit) -> pb.Result | Dropped:
        engine = self._engine(workunit.game)
        game = engine.game
        position = game.decode(workunit.position, workunit.history)
        known = [
            Known(game.decode(item.key, item.history), Bounds(item.lo, item.hi))
            for item in from_message(workunit.known)
        ]
        with self._lock:
            if self._dropped:
                return Dropped(nodes=0)
            self._running = engine
        try:
            answer = engine.solve(
                position,
                Window.question(workunit.threshold),
                node_limit=workunit.node_budget,
                known=known,
            )
        finally:
            with self._lock:
                self._running = None
        return self._result(engine, workunit, answer)

    def drop(self) -> None:
        """Make the search that runs, or is about to start, end without a result."""
        with self._lock:
            self._dropped = True
            if self._running is not None:
                self._running.abort()

    def renew(self) -> None:
        """The next search is a new one: an earlier `drop` does not mean it."""
        with self._lock:
            self._dropped = False

    def nodes(self) -> int:
        """Nodes visited by the search that runs."""
        with self._lock:
            return 0 if self._running is None else self._running.progress().nodes

    def _engine(self, spec: str) -> Engine:
        engine = self._engines.get(spec)
        if engine is None:
            while len(self._engines) >= MOST_ENGINES:
                self._engines.popitem(last=False)
            engine = self._engines[spec] = open_engine(
                open_game(spec), hash_mb=self._hash_mb, shared=self._shared
            )
        self._engines.move_to_end(spec)
        return engine

    def _result(self, engine: Engine, workunit: pb.Workunit, answer: Answer) -> pb.Result | Dropped:
        result = pb.Result(
            lease_id=workunit.lease_id,
            lo=answer.bounds.lo,
            hi=answer.bounds.hi,
            nodes=answer.nodes,
            milliseconds=round(answer.seconds * 1000),
        )
        settled = answer.bounds.answers(workunit.threshold)
        if settled is not None:
            result.answer = pb.YES if settled else pb.NO
        elif answer.status is Status.EXHAUSTED:
            result.answer = pb.EXHAUSTED
            result.proved.CopyFrom(to_message(_known(engine, item) for item in answer.proved))
        else:
            return Dropped(answer.nodes)
        return result


def _known(engine: Engine, item: Known) -> KnownBounds:
    position = engine.game.canonical(item.position)
    return KnownBounds(
        engine.game.encode(position),
        engine.game.history(position),
        item.bounds.lo,
        item.bounds.hi,
    )
