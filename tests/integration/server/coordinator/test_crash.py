"""After an outage what a client was told is true, or is refused, and it goes on with its leases."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import grpc
import psycopg

from tests.integration.server.coordinator.test_assigner import Table, at_table
from tests.support.coordinator import Host, Queue, answer, running_coordinator, wait_until
from zermelo.proto import coordinator_pb2 as pb
from zermelo.server.campaigns import create_campaign
from zermelo.server.check import check_database
from zermelo.server.coordinator.leases import LeaseManager
from zermelo.server.coordinator.leases.rows import Progress
from zermelo.server.database import Connection, connect_once
from zermelo.server.embedded import EmbeddedError, EmbeddedPostgres, running


def test_a_crash_after_promises(used_path: Path) -> None:
    postgres = EmbeddedPostgres(used_path)
    with running(postgres) as url:
        with connect_once(url) as connection:
            campaign = create_campaign(connection, "reversi:4x4", replication="none")
            queue = Queue(connection, campaign)
            queue.add(16)
        with running_coordinator(url, lease_seconds=600.0) as address:
            host = Host(address)
            (first,) = host.take()
            assert host.submit(answer(first)) == [pb.Receipt.ACCEPTED]
            leased = host.take(4)
            assert postgres.pid is not None
            os.kill(postgres.pid, signal.SIGKILL)
            wait_until(lambda: not postgres.running)
            wait_until(lambda: _back(postgres))
            taken = wait_until(lambda: _when_back(lambda: host.take(4)))
            before = {workunit.lease_id for workunit in (first, *leased)}
            assert before.isdisjoint(workunit.lease_id for workunit in taken)
            results = [answer(workunit) for workunit in (*leased, *taken)]
            receipts = wait_until(lambda: _when_back(lambda: host.submit(*results)))
        with connect_once(url) as connection:
            stored = {row[0] for row in connection.execute("SELECT lease FROM results")}
            assert first.lease_id in stored  # it was acknowledged
            for workunit, receipt in zip((*leased, *taken), receipts, strict=True):
                assert (receipt != pb.Receipt.REFUSED) == (workunit.lease_id in stored)
            assert pb.Receipt.REFUSED not in receipts[4:]
            # The totals do not know of workunits that the test wrote itself.
            assert {violation.check for violation in check_database(connection)} <= {
                "check_totals"
            }


def _back(postgres: EmbeddedPostgres) -> bool:
    postgres.keep_alive()
    try:
        psycopg.connect(postgres.wait_ready()).close()
    except (EmbeddedError, psycopg.OperationalError):
        time.sleep(0.1)
        return False
    return True


def _when_back(call: Callable[[], list[Any]]) -> list[Any]:
    """What the call gives, or nothing while the coordinator has not found the database again."""
    try:
        return call()
    except grpc.RpcError:
        time.sleep(0.1)
        return []


def test_leases_outlast_an_outage(
    database: str, connection: Connection, queue: Queue
) -> None:
    """Hosts could not report meanwhile: they go on with what they hold, once they are back."""
    queue.add(3)
    now = 0.0

    async def play(table: Table) -> None:
        nonlocal now
        manager = LeaseManager(table.statements, lease_seconds=60, clock=lambda: now)
        host = await table.sit_down()

        async def states() -> list[str]:
            """Of the leases, whose deadlines pass while housekeeping goes on for a while."""
            connection.execute("UPDATE leases SET deadline = now() - interval '1 second'")
            for _ in range(3):
                await manager.keep_house()
            rows = connection.execute("SELECT state::text FROM leases ORDER BY id").fetchall()
            return [state for (state,) in rows]

        (lease,) = await table.ask(host)
        assert await states() == ["open"]  # a coordinator has just started
        (update,) = await manager._store.heartbeat([Progress(host[0], lease.lease, 7)])
        assert update.directive == "continue"
        assert update.lease_ms > 50_000
        for _ in range(12):
            assert "expired" not in await states()
            now += 5
        assert await states() == ["expired"]
        await table.ask(host)
        assert await states() == ["expired", "expired"]  # nobody was kept from reporting
        now += 30  # the database was away
        await table.ask(host)
        assert await states() == ["expired", "expired", "open"]

    at_table(database, play)
