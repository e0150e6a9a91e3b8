"""From a workunit to a result: the one place where the client meets an engine.

Engines live from workunit to workunit, so that their tables stay warm. That also makes
an interruption cheap: to save a checkpoint a search is stopped and goes on in the warm
table, which costs it some thousandth of its nodes. So no engine is read while it searches.

Time is processor time of the searching threads: beside other programs, or stopped and continued
by the throttle, an engine is no slower by it.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from enum import Enum
from typing import NamedTuple

from zermelo.client.checkpoints import CheckpointFileError, Checkpoints
from zermelo.client.folder import why
from zermelo.client.inspection import question_of
from zermelo.engine import Engine, Known, SearchReport, SharedTable, Status, Window, open_engine
from zermelo.engine.capabilities import HasPasses, Sharpens
from zermelo.engine.interface import CheckpointError
from zermelo.games import open_game
from zermelo.proto import coordinator_pb2 as pb
from zermelo.proto.known import KnownBounds, to_message
from zermelo.proto.worker_pb2 import SavedSearch

#: Engines kept open, each with a table of its own.
MOST_ENGINES = 2

MEASURE_HASH_MB = 1
MEASURE_FIRST_NODES = 1_000
#: A search of at most so many nodes, some ten seconds, is not worth a checkpoint.
SHORT_NODES = 1 << 28
#: Less processor time than this tells nothing.
MEASURE_LEAST_SECONDS = 0.02


class Dropped(NamedTuple):
    """A search that was stopped before it found an answer."""

    nodes: int
    saved: bool = False


class Interruption(Enum):
    """Why a running search is stopped; those further down matter more."""

    NONE = 0
    CHECKPOINT = 1  # save, then go on
    SAVE = 2  # save, then end
    DROP = 3  # end


class Searcher:
    """Solves one workunit at a time. What others may call meanwhile: `interrupt`, `progress`."""

    def __init__(
        self,
        *,
        hash_mb: int,
        threads: int = 1,
        shared: SharedTable | None = None,
        checkpoints: Checkpoints | None = None,
    ) -> None:
        self._hash_mb, self._threads, self._shared = hash_mb, threads, shared
        # The process does next to nothing but search, and other threads' time is not to be had.
        self._clock = time.thread_time if threads == 1 else time.process_time
        self._checkpoints = checkpoints
        self._engines: OrderedDict[str, Engine] = OrderedDict()
        self._lock = threading.Lock()
        self._running: Engine | None = None
        self._interruption = Interruption.NONE
        self._search = SavedSearch()
        self.notes: list[str] = []

    def measure(self, spec: str, seconds: float) -> int:
        """Open the engine of a game and tell how many nodes a second it visits; 0 untried."""
        self._engine(spec)
        if not seconds:
            return 0
        # Measured apart: what it finds is forgotten, as its nodes are counted nowhere.
        engine = open_engine(open_game(spec), hash_mb=MEASURE_HASH_MB)
        nodes, limit = 0, MEASURE_FIRST_NODES
        began, begun = time.monotonic(), time.thread_time()
        while True:
            answer = engine.solve(engine.game.initial(), node_budget=limit)
            nodes += answer.nodes
            passed, worked = time.monotonic() - began, time.thread_time() - begun
            # A busy computer may let the whole time pass before anything was searched.
            enough = passed >= seconds and worked >= min(seconds, MEASURE_LEAST_SECONDS)
            if answer.status is Status.SOLVED or enough:
                return max(1, round(nodes / max(worked, 1e-6)))
            limit = min(limit * 4, max(MEASURE_FIRST_NODES, round(nodes / passed * seconds)))

    def solve(self, workunit: pb.Workunit, *, resume: bool = False) -> pb.Result | Dropped:
        """Answer a workunit; with `resume` its checkpoint counts as part of this search."""
        # Set before anything can fail: else the former search's nodes would be told as this one's.
        self._search = search = SavedSearch(workunit=workunit)
        question = question_of(open_game(workunit.game), workunit)
        engine = self._engine(workunit.game)
        if isinstance(engine, HasPasses):
            engine.passes_for_questions = workunit.node_budget <= SHORT_NODES
        if isinstance(engine, Sharpens):
            engine.sharpens_answers = True
        self._restore(engine, search, resume)
        while True:
            if not self._begin(engine):
                return Dropped(search.nodes, saved=search.nodes > 0)
            started = self._clock()
            try:
                answer = engine.solve(
                    question.position,
                    Window.question(question.threshold),
                    node_budget=max(1, workunit.node_budget - search.nodes),
                    known=question.known,
                )
            finally:
                interruption = self._end()
            search.nodes += answer.nodes
            search.milliseconds += round((self._clock() - started) * 1000)
            result = self._result(engine, search, answer)
            if result is not None:
                return result
            if interruption is Interruption.DROP:
                return Dropped(search.nodes)
            if interruption is Interruption.SAVE:
                return Dropped(search.nodes, saved=self._save(engine, search))
            if interruption is Interruption.CHECKPOINT:
                self._save(engine, search)

    def interrupt(self, interruption: Interruption) -> None:
        """Stop the search that runs, or is about to start, for this reason."""
        with self._lock:
            if interruption.value > self._interruption.value:
                self._interruption = interruption
        self.insist()

    def insist(self) -> None:
        """Repeat an interruption: an engine that was just starting has not heard of it."""
        with self._lock:
            if self._running is not None and self._interruption is not Interruption.NONE:
                self._running.abort()

    def renew(self) -> None:
        """The next search is a new one: an earlier interruption does not mean it."""
        with self._lock:
            self._interruption = Interruption.NONE

    def progress(self) -> tuple[int, int]:
        """Nodes visited by the search that runs, and thousandths done."""
        with self._lock:
            if self._running is None:
                return self._search.nodes, 0
            progress = self._running.progress()
            permille = max(0, min(1000, round(progress.fraction * 1000)))
            return self._search.nodes + progress.nodes, permille

    # -- interruptions ------------------------------------------------------------------

    def _begin(self, engine: Engine) -> bool:
        """Whether the search may run; then it can be interrupted.

        Nodes before the first turn are those of a checkpoint, which is on disk already.
        """
        with self._lock:
            if self._interruption in (Interruption.DROP, Interruption.SAVE):
                return False
            self._interruption = Interruption.NONE
            self._running = engine
            return True

    def _end(self) -> Interruption:
        with self._lock:
            self._running = None
            return self._interruption

    def _save(self, engine: Engine, search: SavedSearch) -> bool:
        if self._checkpoints is None:
            return False
        try:
            self._checkpoints.save(search, engine.checkpoint())
        except OSError as error:
            self.notes.append(f"the checkpoint could not be written: {why(error)}")
            return False
        return True

    def _restore(self, engine: Engine, search: SavedSearch, resume: bool) -> None:
        """Put the checkpoint of a workunit, if there is one, into the engine's table."""
        if self._checkpoints is None:
            return
        try:
            checkpoint = self._checkpoints.load(search.workunit)
            if checkpoint is None:
                return
            engine.restore(checkpoint.table)
        except (CheckpointFileError, CheckpointError) as error:
            self.notes.append(str(error))
            return
        before = checkpoint.search
        if resume and before.workunit.lease_id == search.workunit.lease_id:
            search.nodes, search.milliseconds = before.nodes, before.milliseconds

    # -- engines --------------------------------------------------------------------------

    def _engine(self, spec: str) -> Engine:
        engine = self._engines.get(spec)
        if engine is None:
            while len(self._engines) >= MOST_ENGINES:
                self._engines.popitem(last=False)
            engine = self._engines[spec] = open_engine(
                open_game(spec), threads=self._threads, hash_mb=self._hash_mb, shared=self._shared
            )
        self._engines.move_to_end(spec)
        return engine

    def _result(
        self, engine: Engine, search: SavedSearch, answer: SearchReport
    ) -> pb.Result | None:
        """What to report; None when the search was stopped before its end."""
        result = pb.Result(
            lease_id=search.workunit.lease_id,
            lo=answer.bounds.lo,
            hi=answer.bounds.hi,
            nodes=search.nodes,
            milliseconds=search.milliseconds,
        )
        settled = answer.bounds.answers(search.workunit.threshold)
        if settled is not None:
            result.answer = pb.YES if settled else pb.NO
        elif answer.status is Status.EXHAUSTED:
            result.answer = pb.EXHAUSTED
            result.proved.CopyFrom(to_message(_known(engine, item) for item in answer.proved))
        else:
            return None
        return result


def _known(engine: Engine, item: Known) -> KnownBounds:
    position = engine.game.canonical(item.position)
    return KnownBounds(
        engine.game.encode(position),
        engine.game.history(position),
        item.bounds.lo,
        item.bounds.hi,
    )
