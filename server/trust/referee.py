"""The referee: the server's own search as a vote that cannot be bought.

It answers what users contradict each other about, and what too much rests on for one user's word.
While few users are trusted it also answers what strangers wait for, first where that makes
somebody trusted soonest, and what strangers alone agreed on. Each answer is a result with a lease
of the referee's own host, so the provenance of bounds is complete. A question that is too hard for
its node budget stays with the users.
"""

from __future__ import annotations

import logging
import secrets
import threading
import time
from dataclasses import dataclass, field
from typing import Any

from zermelo.engine import Engine, Known, Status, Window, open_engine
from zermelo.games import Bounds, Game, open_game
from zermelo.proto.known import unpack
from zermelo.server.database import Connection, in_transaction, serve
from zermelo.server.definitions import learn_definition
from zermelo.server.listening import CampaignLocks, notify
from zermelo.server.trust import records
from zermelo.server.trust.assurance import FEW_TRUSTED
from zermelo.server.vocabulary import Answer, Channel, Lock
from zermelo.sql import query

log = logging.getLogger(__name__)

#: The most nodes that the referee spends on a question.
NODE_BUDGET = 20_000_000
#: And at most this many times what a volunteer may spend on it: what is harder is split.
BUDGET_FACTOR = 4
HASH_MB = 16
IDLE_SECONDS = 0.5
STANDBY_SECONDS = 5.0
#: At most this many games have an engine ready.
MOST_ENGINES = 4
#: Lease numbers come in blocks of this size; coordinators read theirs in the same way.
_BLOCK = 1 << 16


@dataclass
class Referee:
    """Searches one question at a time."""

    connection: Connection
    node_budget: int = NODE_BUDGET
    nodes: int = 0
    _engines: dict[str, Engine] = field(default_factory=dict)
    _numbers: list[int] = field(default_factory=list)
    _aborted: bool = False

    def __post_init__(self) -> None:
        self.host = _host(self.connection)
        self.connection.execute(query("free_referee"), (self.host,))

    def step(self) -> bool:
        """Search the question that needs it most; whether there was one."""
        lease = self._number()
        row = in_transaction(self.connection, lambda: self._take(lease))
        if row is None:
            self._numbers.append(lease)
            return False
        workunit, spec, key, history, threshold, known, most = row
        engine = self._engine(spec)
        started = time.monotonic()
        answer, bounds, nodes = self._search(
            engine, key, history or b"", threshold, known, most
        )
        seconds = time.monotonic() - started
        if self._aborted:
            self.connection.execute(query("free_referee"), (self.host,))
            return False
        self.nodes += nodes
        self.connection.execute(
            query("submit_results"),
            {
                "host": [self.host], "lease": [lease], "answer": [answer], "lo": [bounds.lo],
                "hi": [bounds.hi], "nodes": [nodes], "seconds": [seconds], "proved": [None],
            },
        )  # fmt: skip
        notify(self.connection, Channel.RESULTS)
        log.info("workunit %d: the referee's answer is %s", workunit, answer)
        return True

    def abort(self) -> None:
        """End the search that another thread is in, for good."""
        self._aborted = True
        for engine in list(self._engines.values()):
            engine.abort()

    def _take(self, lease: int) -> tuple[Any, ...] | None:
        self.connection.execute(query("referee_seen"), (self.host,))
        return self.connection.execute(
            query("referee_question"),
            {
                "referee": self.host, "lease": lease, "node_budget": self.node_budget,
                "factor": BUDGET_FACTOR, "trusted_after": records.TRUSTED_AFTER,
                "early": records.count_users(self.connection).trusted < FEW_TRUSTED,
            },
        ).fetchone()  # fmt: skip

    def _search(
        self, engine: Engine, key: bytes, history: bytes, threshold: int, known: bytes | None,
        node_budget: int,
    ) -> tuple[Answer, Bounds, int]:
        game: Game[Any] = engine.game
        seeds = [
            Known(game.decode(item.key, item.history), Bounds(item.lo, item.hi))
            for item in (unpack(known) if known else [])
        ]
        engine.clear()
        report = engine.solve(
            game.decode(key, history), Window.question(threshold),
            node_budget=node_budget, known=seeds,
        )
        if report.status is not Status.SOLVED:
            return Answer.EXHAUSTED, report.bounds, report.nodes
        yes = report.bounds.lo >= threshold
        return (Answer.YES if yes else Answer.NO), report.bounds, report.nodes

    def _engine(self, spec: str) -> Engine:
        engine = self._engines.pop(spec, None)
        if engine is None:
            learn_definition(self.connection, spec)
            engine = open_engine(open_game(spec), hash_mb=HASH_MB)
            if len(self._engines) >= MOST_ENGINES:
                self._engines.pop(next(iter(self._engines)))
        self._engines[spec] = engine
        return engine

    def _number(self) -> int:
        if not self._numbers:
            with self.connection.transaction():
                self.connection.execute(query("commit_durably"))
                ((block,),) = self.connection.execute(query("reserve_leases")).fetchall()
            self._numbers = list(range(block * _BLOCK, (block + 1) * _BLOCK))[::-1]
        return self._numbers.pop()


def run(url: str, stop: threading.Event, core_share: float) -> None:
    """Search within a share of one core until `stop` is set; one referee at a time does."""

    def work(connection: Connection) -> None:
        lock = CampaignLocks(connection, Lock.REFEREE)
        while not lock.hold(0):
            if stop.wait(STANDBY_SECONDS):
                return
        referee = Referee(connection)
        threading.Thread(target=_abort_at, args=(stop, referee), daemon=True).start()
        while not stop.is_set():
            started = time.thread_time()
            if referee.step():
                stop.wait((time.thread_time() - started) * (1 / core_share - 1))
            else:
                stop.wait(IDLE_SECONDS)

    serve("referee", url, stop, work)


def _abort_at(stop: threading.Event, referee: Referee) -> None:
    """End a search that is going on when the service is to stop."""
    stop.wait()
    referee.abort()


def _host(connection: Connection) -> int:
    rows = connection.execute(query("find_referee")).fetchall()
    if not rows:
        connection.execute(query("add_referee"), {"name": f"referee {secrets.token_hex(8)}"})
        rows = connection.execute(query("find_referee")).fetchall()
    return int(rows[0][0])
