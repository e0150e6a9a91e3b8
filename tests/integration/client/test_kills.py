"""kill -9 at any moment: no result is lost, none counts twice, every answer is true.

A hundred kills come at random moments, a dozen of them in the short run. Some more are
aimed: just after a checkpoint was written, in the middle of a search that is far from its end.
"""

from __future__ import annotations

import random
import threading
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.support.client_forker import Forker
from tests.support.client_process import value
from tests.support.coordinator import running_coordinator, wait_until
from tests.support.effort import first_of
from zermelo.client.checkpoints import Checkpoints
from zermelo.client.control import ask
from zermelo.client.folder import ClientFolder
from zermelo.client.settings import ClientError
from zermelo.client.spool import Spool
from zermelo.engine import Window, open_engine
from zermelo.games import open_game
from zermelo.proto import coordinator_pb2 as pb
from zermelo.proto.worker_pb2 import SavedSearch
from zermelo.server.campaigns import Campaign
from zermelo.server.database import Connection

SPEC = "reversi:6x6"
CLIENTS = 4
AIMED_KILLS = 3
EMPTIES = (16, 16, 16, 20)
THRESHOLD = 1
#: After these moves the question takes some 100 million nodes, more than two seconds on any
#: computer: it must not be over before the last of the aimed kills.
LONG_SEARCH = ("e4", "e3")
#: Nodes that a search is expected to take: then it is never overdue, and asked of nobody else.
EXPECTED = 1e12
IN_STORE = 56
#: Long enough that no lease runs out between a kill and the next start.
LEASE_SECONDS = 60.0
#: The calls of a killed client may take work that is free only when its leases run out.
LAST_SECONDS = 5 * LEASE_SECONDS


class Questions:
    """Workunits about random positions, some milliseconds of work each, as many as needed."""

    def __init__(self, connection: Connection, campaign: Campaign) -> None:
        self._connection = connection
        self._campaign = campaign.id
        self._game = open_game(SPEC)
        self._chance = random.Random(7)
        self.positions: dict[int, Any] = {}
        # However slow a busy computer measures itself to be, its budget answers every question.
        connection.execute("UPDATE campaigns SET spec = %s, target_seconds = 1e9", (SPEC,))

    def refill(self) -> None:
        """Let there be work for everybody."""
        ready = value(self._connection, "SELECT count(*) FROM workunits WHERE state = 'ready'")
        for _ in range(IN_STORE - ready):
            self._add(self._random_position())
        self._connection.execute("SELECT pg_notify('zermelo_ready', '')")

    def add_long_one(self) -> pb.Workunit:
        """A question for the next who asks, which takes many checkpoints."""
        position = self._game.initial()
        for name in LONG_SEARCH:
            moves = {self._game.move_name(move): move for move in self._game.moves(position)}
            position = self._game.play(position, moves[name])
        position = self._game.canonical(position)
        self._add(position, priority=-1)
        self._connection.execute("SELECT pg_notify('zermelo_ready', '')")
        return pb.Workunit(
            game=SPEC, position=self._game.encode(position), threshold=THRESHOLD
        )

    def truth(self) -> dict[int, str]:
        """The answer to every question, from one engine that nobody kills."""
        engine = open_engine(self._game, hash_mb=16)
        bounds = {
            workunit: engine.solve(position, Window.question(THRESHOLD)).bounds
            for workunit, position in self.positions.items()
        }
        return {
            workunit: "yes" if found.answers(THRESHOLD) else "no"
            for workunit, found in bounds.items()
        }

    def _random_position(self) -> Any:
        game, position = self._game, self._game.initial()
        for _ in range(36 - 4 - self._chance.choice(EMPTIES)):
            moves = game.moves(position)
            if not moves:
                return self._random_position()
            position = game.play(position, self._chance.choice(moves))
        return game.canonical(position)

    def _add(self, position: Any, priority: int = 0) -> None:
        node = 10**6 + len(self.positions)
        self._connection.execute(
            "INSERT INTO nodes (id, parent, position, campaign, lo, hi)"
            " VALUES (%s, %s, encode(%s, 'hex')::uuid, %s, -36, 36)",
            (node, node, self._game.encode(position), self._campaign),
        )
        workunit = value(
            self._connection,
            "INSERT INTO workunits (node, campaign, threshold, node_budget, priority, expected,"
            " guess, plies_left, ply)"
            " VALUES (%s, %s, %s, 1000000000, %s, %s, 0, 12, 0) RETURNING id",
            node, self._campaign, THRESHOLD, priority, EXPECTED,
        )  # fmt: skip
        self.positions[workunit] = position


def spooled(folder: Path) -> set[int]:
    """The leases whose results a killed client had on disk."""
    spool = Spool(ClientFolder(folder).spool, durable=False)
    try:
        spool.open()
    except FileNotFoundError:
        return set()
    found = set(spool.leases)
    spool.close()
    return found


def searching(folder: Path) -> bool:
    """Whether a client has begun to search."""
    try:
        workers = ask(ClientFolder(folder).control, "status")["workers"]
    except ClientError:
        return False
    return any(worker["search"] for worker in workers)


def unsent(folder: Path) -> int:
    """How many results a running client still has to send."""
    return int(ask(ClientFolder(folder).control, "status")["unsent_results"])


def saved(folder: Path, question: pb.Workunit) -> SavedSearch | None:
    """The checkpoint of a question, if there is one on disk."""
    found = Checkpoints(ClientFolder(folder).searches, durable=False).load(question)
    return found.search if found else None


def kill_again_and_again(
    forker: Forker, server: str, folder: Path, seed: int, kills: int, on_disk: set[int]
) -> None:
    chance = random.Random(seed)
    for number in range(kills):
        pid = forker.start(server=server, folder=str(folder), checkpoint_seconds=0.05)
        if number % 3:
            wait_until(lambda: searching(folder))
        time.sleep(chance.uniform(0.0, 0.3))
        forker.kill(pid)
        on_disk |= spooled(folder)


def kill_at_checkpoints(
    forker: Forker, server: str, folder: Path, question: pb.Workunit
) -> list[SavedSearch]:
    """Kill a client whenever the search for this question has saved more; what was saved."""
    found: list[SavedSearch] = []
    for _ in range(AIMED_KILLS):
        before = found[-1].nodes if found else 0
        pid = forker.start(server=server, folder=str(folder), checkpoint_seconds=0.05)
        wait_until(
            lambda before=before: (  # type: ignore[misc]
                (search := saved(folder, question)) and search.nodes > before
            )
        )
        forker.kill(pid)
        search = saved(folder, question)
        assert search is not None, "the search was over too soon to be interrupted"
        found.append(search)
    return found


@pytest.mark.long
@pytest.mark.parametrize("kills_each", first_of([2, 25]))
def test_many_kills_lose_nothing(
    database: str, campaign: Campaign, connection: Connection, tmp_path: Path, kills_each: int
) -> None:
    questions = Questions(connection, campaign)
    folders = [tmp_path / str(number) for number in range(CLIENTS)]
    on_disk: set[int] = set()
    with ExitStack() as stack:
        forkers = [stack.enter_context(Forker()) for _ in folders]
        server = stack.enter_context(
            running_coordinator(database, lease_seconds=LEASE_SECONDS, heartbeat_seconds=0.1)
        )
        threads = [
            threading.Thread(
                target=kill_again_and_again,
                args=(forker, server, folder, seed, kills_each, on_disk),
            )
            for seed, (forker, folder) in enumerate(zip(forkers, folders, strict=True))
        ]
        for thread in threads:
            thread.start()
        while any(thread.is_alive() for thread in threads):
            questions.refill()
            time.sleep(0.02)
        question = questions.add_long_one()
        interrupted = kill_at_checkpoints(forkers[0], server, folders[0], question)
        # A last start of each brings home whatever is left.
        last = [
            forker.start(server=server, folder=str(folder))
            for forker, folder in zip(forkers, folders, strict=True)
        ]
        open_workunits = "SELECT count(*) FROM workunits WHERE state <> 'returned'"
        wait_until(lambda: value(connection, open_workunits) == 0, LAST_SECONDS)
        wait_until(lambda: not any(unsent(folder) for folder in folders))
        # Overdue work is asked elsewhere while its first lease lasts: that ends by itself.
        open_leases = "SELECT count(*) FROM leases WHERE state = 'open'"
        wait_until(lambda: value(connection, open_leases) == 0, LAST_SECONDS)
        for forker, pid in zip(forkers, last, strict=True):
            forker.kill(pid)
    results = connection.execute(
        "SELECT l.workunit, r.lease, r.answer::text, r.late, r.nodes FROM results r"
        " JOIN leases l ON l.id = r.lease ORDER BY l.workunit"
    ).fetchall()
    assert len(results) > CLIENTS * kills_each / 2
    # Nothing is lost: what had reached a disk before a kill is in the database.
    assert on_disk <= {lease for _, lease, _, _, _ in results}
    # Nothing counts twice, and everything is answered, rightly.
    assert [workunit for workunit, _, _, _, _ in results] == sorted(questions.positions)
    assert not any(late for _, _, _, late, _ in results)
    assert {workunit: answer for workunit, _, answer, _, _ in results} == questions.truth()
    # The same hosts all along, and every lease has ended in one way.
    assert value(connection, "SELECT count(*) FROM hosts") == CLIENTS
    assert value(connection, open_leases) == 0
    # The interrupted search went on from each of its checkpoints, under one and the same lease.
    logs = [(folder / "log").read_text() for folder in folders]
    (lease,) = {search.workunit.lease_id for search in interrupted}
    for search in interrupted:
        assert f"lease {lease} from its checkpoint, {search.nodes} nodes on" in logs[0]
    (nodes,) = (nodes for _, found, _, _, nodes in results if found == lease)
    assert nodes > interrupted[-1].nodes
    assert not any("Traceback" in log for log in logs)
