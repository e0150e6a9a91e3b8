"""While the database is away every call for work is refused in time, and the log has two lines."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import grpc
import psutil
import psycopg
import pytest

from tests.support.coordinator import Host, Queue, running_coordinator, wait_until
from zermelo.proto import service
from zermelo.server.campaigns import create_campaign
from zermelo.server.coordinator import main
from zermelo.server.coordinator.statements import PooledStatements
from zermelo.server.database import DATABASE, connect_once
from zermelo.server.embedded import EmbeddedPostgres, running

#: How long a call may take that does not want to wait: finding out that the database is away
#: takes a coordinator up to 3 s, more on a busy machine.
AT_ONCE = 30.0


def test_a_call_that_does_not_wait_is_refused_at_once(
    used_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    postgres = EmbeddedPostgres(used_path)
    with running(postgres) as url:
        with connect_once(url) as connection:
            queue = Queue(connection, create_campaign(connection, "reversi:4x4"))
            queue.add(4)
        with running_coordinator(url) as address:
            host = Host(address)
            assert host.take()
            assert postgres.pid is not None
            sessions = psutil.Process(postgres.pid).children()
            os.kill(postgres.pid, signal.SIGKILL)
            # Some answer until they notice: on a busy machine the database would be back at once.
            psutil.wait_procs(sessions)
            wait_until(lambda: not postgres.running)
            for _ in range(3):
                started = time.monotonic()
                with pytest.raises(grpc.RpcError) as caught:
                    host.request(wait_ms=0)
                assert caught.value.code() == grpc.StatusCode.UNAVAILABLE
                metadata = dict(caught.value.trailing_metadata())
                assert metadata[service.REASON] == service.DATABASE_AWAY
                assert int(metadata[service.RETRY_AFTER]) > 0
                assert time.monotonic() - started < AT_ONCE
            postgres.begin()
            wait_until(lambda: "is back after" in caplog.text)
            assert host.take()
            host.close()
    told = [message for message in caplog.messages if message.startswith("the database is ")]
    assert ["is away" in message for message in told] == [True, False], told


def test_a_call_right_after_the_outage_is_served(
    database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever still pauses, because it failed until now, goes on at once."""
    monkeypatch.setattr(main, "HOUSEKEEPING_SECONDS", 1000.0)
    runs = PooledStatements.run
    away = False

    async def run(self: PooledStatements, name: str, parameters: Mapping[str, Any]) -> list[Any]:
        if away:
            raise psycopg.OperationalError("nobody there")
        return await runs(self, name, parameters)

    monkeypatch.setattr(PooledStatements, "run", run)
    monkeypatch.setattr(PooledStatements, "lazily", run)
    with connect_once(database) as connection:
        queue = Queue(connection, create_campaign(connection, "reversi:4x4"))
        with running_coordinator(database) as address:
            host = Host(address)
            queue.add(4)
            assert host.take()
            away = True
            for _ in range(3):
                with pytest.raises(grpc.RpcError):
                    host.take()
            away = False
            DATABASE.ended(DATABASE.clock())
            assert host.take()
            host.close()
