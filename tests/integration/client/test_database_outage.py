"""While the server or its database is away its volunteers are told so, in two lines."""

from __future__ import annotations

import os
import signal
from contextlib import ExitStack
from pathlib import Path

import grpc
import pytest

from tests.support.client_process import client, reason, stop
from tests.support.coordinator import running_coordinator, wait_until
from tests.support.hostile_coordinator import (
    HONEST,
    HostileCoordinator,
    Refusal,
    first_then_none,
    hello,
    no_work,
    workunit,
)
from zermelo.proto import service
from zermelo.server.campaigns import create_campaign
from zermelo.server.coordinator.refusals import AWAY_MS
from zermelo.server.database import connect_once, ensure_schema
from zermelo.server.embedded import EmbeddedPostgres, running

AWAY = Refusal(
    grpc.StatusCode.UNAVAILABLE, "the database is away or too busy", service.DATABASE_AWAY, AWAY_MS
)


def test_an_outage_is_two_lines_and_a_reason(tmp_path: Path) -> None:
    server = HostileCoordinator(
        Hello=lambda *_: hello(longest_wait_ms=100), RequestWork=first_then_none(workunit())
    )
    with server, client(server.address, tmp_path, "--workers", "1") as process:
        wait_until(lambda: "asking again" in reason(tmp_path))
        server.behave("RequestWork", lambda *_: AWAY)
        wait_until(lambda: "the database of" in reason(tmp_path))
        before = server.calls("RequestWork")
        wait_until(lambda: server.calls("RequestWork") >= before + 3)
        server.behave("RequestWork", HONEST["RequestWork"])
        wait_until(lambda: "asking again" in reason(tmp_path))
        errors = stop(process)
    told = [line for line in errors.splitlines() if server.address in line]
    assert ["database" in line for line in told] == [False, True, False]
    assert "answers again" in told[2]


def test_leases_in_a_reply_that_is_lost_after_a_refusal_are_ended_by_hello(tmp_path: Path) -> None:
    replies = [AWAY, Refusal(grpc.StatusCode.UNAVAILABLE, "the connection is gone"), no_work()]
    server = HostileCoordinator(RequestWork=lambda _, before: replies[min(before, 2)])
    with server, client(server.address, tmp_path, "--workers", "1"):
        wait_until(lambda: server.calls("RequestWork") >= 3)
        asked, greeted = server.times["RequestWork"], server.times["Hello"]
    assert sum(asked[1] < at < asked[2] for at in greeted) == 1


def test_a_coordinator_that_is_gone_is_one_line_however_many_calls_miss_it(tmp_path: Path) -> None:
    server = HostileCoordinator(
        Hello=lambda *_: hello(longest_wait_ms=100), RequestWork=first_then_none(workunit())
    )
    with ExitStack() as open_hours:
        open_hours.enter_context(server)
        leave = ("--leave-seconds", "2")
        with client(server.address, tmp_path, "--workers", "1", *leave) as process:
            wait_until(lambda: "asking again" in reason(tmp_path))
            open_hours.close()
            wait_until(lambda: "nothing listens" in reason(tmp_path))
            # Its leave is a call of its own, which meets the same.
            errors = stop(process)
    told = [line for line in errors.splitlines() if server.address in line or "lost" in line]
    assert ["nothing listens" in line for line in told] == [False, True], errors
    assert "working for" in told[0]


@pytest.mark.long
def test_a_client_without_work_says_that_the_database_is_away(
    open_path: Path, tmp_path: Path
) -> None:
    postgres = EmbeddedPostgres(open_path)
    with running(postgres) as url:
        ensure_schema(url)
        with connect_once(url) as connection:
            create_campaign(connection, "reversi:4x4")
        with running_coordinator(url) as address, client(address, tmp_path) as process:
            wait_until(lambda: "asking again" in reason(tmp_path))
            assert "database" not in reason(tmp_path)
            assert postgres.pid is not None
            os.kill(postgres.pid, signal.SIGKILL)
            wait_until(lambda: not postgres.running)
            wait_until(lambda: "the database of" in reason(tmp_path))
            process.kill()
