"""Everything that can die dies, again and again, and the solve comes out the same.

Three minutes by default; ``ZERMELO_CHAOS_SECONDS=1800`` for the long run. The services run as
one `zermelo serve all` with its embedded PostgreSQL; the volunteers are made up here, behind
a proxy that cuts lines. Nothing depends on speed: a run that is slow only takes longer.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import grpc

from tests.chaos.events import PATIENCE, Chaos, Proxy, persist
from tests.chaos.volunteers import Volunteer
from tests.support.effort import long
from tests.support.minimax import KNOWN_VALUES
from tests.support.truth import wrong_bounds
from zermelo.server.campaigns import campaign_summary, create_campaign, find_campaign
from zermelo.server.check import check_database
from zermelo.server.coordinator.hosts import host_key_digest
from zermelo.server.database import Connection, ensure_schema
from zermelo.server.embedded import embedded_database
from zermelo.server.ports import free_port
from zermelo.server.trust.records import convict

#: For both scenarios together.
pytestmark = long

SECONDS = float(os.environ.get("ZERMELO_CHAOS_SECONDS", "180")) / 2
SEED = int(os.environ.get("ZERMELO_CHAOS_SEED", "1"))
SPEC = "reversi:4x5"
NODE_BUDGET = 60


class Stage:
    """Services under chaos, one campaign after the other, and what must always hold."""

    def __init__(
        self, url: str, chaos: Chaos, volunteers: list[Volunteer], replication: str
    ) -> None:
        self.url, self.chaos, self.volunteers = url, chaos, volunteers
        self._replication = replication
        self._campaign = ""
        self.solved = 0

    def begin(self) -> None:
        self._campaign = f"chaos {self.solved}"
        name, replication = self._campaign, self._replication
        persist(self.url, lambda connection: create_campaign(
            connection, SPEC, name=name, node_budget=NODE_BUDGET, replication=replication
        ))

    def finished(self) -> bool:
        return bool(self._ask(campaign_summary).state == "finished")

    def check(self) -> None:
        assert persist(self.url, check_database) == [], self.chaos.events

    def check_solution(self) -> None:
        """The campaign has finished: with the right value, and nothing wrong below it."""
        assert self._ask(campaign_summary).value == KNOWN_VALUES[SPEC], self.chaos.events
        assert self._ask(lambda c, name: wrong_bounds(c, find_campaign(c, name))) == []
        self.solved += 1

    def check_end(self) -> None:
        stored = {row[0] for row in self.fetch("SELECT lease FROM results")}
        acknowledged = set().union(*(one.acknowledged for one in self.volunteers))
        assert acknowledged
        assert acknowledged <= stored
        assert all(one.duplicates for one in self.volunteers)
        assert self.chaos.complete
        self.check()
        # A trusted liar may well raise one: that is for operators, and nothing was lost by it.
        if self._replication == "none":
            assert self.fetch("SELECT * FROM alarms") == []

    def fetch(self, query: str, *parameters: Any) -> list[Any]:
        rows: list[Any] = persist(
            self.url, lambda c: c.execute(query.encode(), parameters).fetchall()
        )
        return rows

    def _ask(self, question: Any) -> Any:
        name = self._campaign
        return persist(self.url, lambda connection: question(connection, name))


@contextmanager
def serving(data_dir: Path, port: int) -> Iterator[int]:
    """`zermelo serve all`; its process id."""
    with open(data_dir / "serve.log", "wb") as log:
        process = subprocess.Popen(
            [sys.executable, "-c", "from zermelo.cli import main; main()", "serve", "all",
             "--data-dir", str(data_dir), "--listen", f"127.0.0.1:{port}",
             "--lease-seconds", "5"],
            stdout=log, stderr=log,
        )
    try:
        yield process.pid
        assert process.poll() is None
    except BaseException as error:  # the folder may be gone when somebody looks
        error.add_note(f"zermelo serve all: {process.poll() or 'at work'}")
        for name in ("serve.log", "postgres.log"):
            error.add_note(f"{name} ends with:\n{(data_dir / name).read_text()[-4000:]}")
        raise
    finally:
        process.terminate()
        process.wait(60)


@contextmanager
def staged(data_dir: Path, replication: str, lies: list[float]) -> Iterator[Stage]:
    """A stage with a volunteer for each rate of lies, all at work."""
    port = free_port()
    with embedded_database(data_dir, create=True) as url:
        ensure_schema(url)  # the same address when `serve all` runs it
    with serving(data_dir, port) as process:
        with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
            grpc.channel_ready_future(channel).result(PATIENCE)
        proxy = Proxy(port)
        volunteers = [Volunteer(proxy.port, SPEC, seed, rate) for seed, rate in enumerate(lies)]
        stage = Stage(url, Chaos(process, proxy, url, SEED), volunteers, replication)
        try:
            for one in volunteers:
                one.start()
            yield stage
        finally:
            for one in volunteers:
                one.stop()
            for one in volunteers:
                one.join()
            proxy.close()
        stage.check_end()


def test_whatever_dies_the_value_is_the_same(open_path: Path) -> None:
    with staged(open_path, "none", lies=[0.0, 0.0]) as stage:
        stage.begin()
        end = time.monotonic() + SECONDS
        while time.monotonic() < end or not (stage.chaos.complete and stage.solved):
            stage.chaos.strike()
            stage.chaos.pause()
            stage.check()
            if stage.finished():
                stage.check_solution()
                stage.begin()
            assert time.monotonic() < end + PATIENCE, f"no end; {stage.chaos.events}"


def test_lies_are_taken_back_whatever_dies(open_path: Path) -> None:
    """Among hosts of good repute one lies; when it is found out, all its word goes out again."""
    with staged(open_path, "adaptive", lies=[0.0, 0.0, 0.0, 0.3]) as stage:
        liar = stage.volunteers[-1].key
        stage.begin()
        _praise(stage)
        found_out = False
        end = time.monotonic() + SECONDS
        while time.monotonic() < end or not (
            stage.chaos.complete
            and stage.solved
            and stage.fetch("SELECT FROM audit WHERE action = 'retract'")
        ):
            stage.chaos.strike()
            stage.chaos.pause()
            stage.check()
            if stage.finished() and not found_out:
                found_out = True  # by chance it was before, or is now
                persist(stage.url, lambda c: _find_out(c, liar))
            elif stage.finished() and not _doubts(stage):
                stage.check_solution()
                stage.begin()
                _praise(stage)
                found_out = False
            assert time.monotonic() < end + PATIENCE, f"no end; {stage.chaos.events}"


def _praise(stage: Stage) -> None:
    """Give every host the record of one that was right a thousand times."""
    deadline = time.monotonic() + PATIENCE
    while len(stage.fetch(
        "UPDATE hosts SET streak = 1000, errors = 0, error_at = NULL RETURNING id"
    )) < len(stage.volunteers):
        assert time.monotonic() < deadline, "not every host says hello"
        time.sleep(0.1)


def _find_out(connection: Connection, host: bytes) -> None:
    with connection.transaction():
        row = connection.execute(
            "SELECT id FROM hosts WHERE host_key_digest = %s", (host_key_digest(host),)
        ).fetchone()
        assert row
        convict(connection, [row[0]], actor="test")


def _doubts(stage: Stage) -> bool:
    """Whether something is still to be judged or to be taken out of the tree."""
    return bool(stage.fetch("SELECT FROM results WHERE state IN ('doubted', 'valid', 'pending')"))
