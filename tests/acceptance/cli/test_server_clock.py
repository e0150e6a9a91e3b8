"""Clocks of servers that jump by hours: leases end early or are asked again, nothing else."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from tests.support.coordinator import Host, answer, wait_until
from tests.support.served import Splitter, served
from tests.support.shifted_clock import ShiftedClock
from zermelo.proto import coordinator_pb2 as pb
from zermelo.server.campaigns import create_campaign
from zermelo.server.check import check_database
from zermelo.server.coordinator.leases.manager import RETURN_SECONDS
from zermelo.server.database import connect_once, ensure_schema
from zermelo.server.embedded import EmbeddedPostgres, running

HOUR = 3600


@pytest.mark.long
def test_a_clock_that_jumps_by_hours_delays_nothing(
    open_path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = ShiftedClock(open_path)
    for file in open_path.iterdir():
        file.chmod(0o755)  # PostgreSQL may run under another account
    with monkeypatch.context() as started:
        for name, value in clock.environment.items():
            started.setenv(name, value)
        postgres = EmbeddedPostgres(open_path / "data")
        (open_path / "data").mkdir(mode=0o755)
        with running(postgres) as url:
            ensure_schema(url)
            with connect_once(url) as connection:
                create_campaign(connection, "reversi:8x8", replication="none", target_seconds=0.01)
                assert abs(_clock_of(connection)) < HOUR / 2
                clock.set(6 * HOUR)
                assert _clock_of(connection) > 5 * HOUR  # or nothing is tested here
                clock.set(0)
                with (
                    served(tmp_path / "log", "--database", url, "--lease-seconds", "3600",
                           environment=clock.environment) as services,
                    Splitter(services.address) as client,
                ):  # fmt: skip
                    wait_until(lambda: len(client.acknowledged) > 20)
                    for shift in (6 * HOUR, -12 * HOUR, 0):
                        _jump(clock, shift, services.address, client, connection)
                stored = {row[0] for row in connection.execute("SELECT lease FROM results")}
                assert set(client.acknowledged) <= stored
                assert check_database(connection) == []


def _clock_of(connection: object) -> float:
    """How many seconds the database's clock is ahead."""
    (now,) = connection.execute("SELECT extract(epoch FROM clock_timestamp())").fetchone()  # type: ignore[attr-defined]
    return float(now) - time.time()


def _jump(
    clock: ShiftedClock, shift: int, address: str, client: Splitter, connection: object
) -> None:
    """Work goes on, and what a client holds that went away is asked of others."""
    gone = Host(address)
    (held,) = wait_until(gone.take)
    clock.set(shift)
    done = len(client.acknowledged)
    wait_until(lambda: len(client.acknowledged) > done + 20)

    def state() -> str:
        rows = connection.execute(  # type: ignore[attr-defined]
            "SELECT state::text FROM leases WHERE id = %s", (held.lease_id,)
        )
        return str(rows.fetchone()[0])

    # After its start a coordinator waits for hosts that could not report.
    wait_until(lambda: state() == "expired", RETURN_SECONDS + 60)
    # It was not away after all: what it found is taken, whatever the clock says.
    (receipt,) = gone.submit(answer(held, answer=pb.EXHAUSTED, lo=-64, hi=64))
    assert receipt == pb.Receipt.LATE
    gone.close()
