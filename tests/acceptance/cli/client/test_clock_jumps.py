"""Clocks that jump by hours while a client works: it says so, and nothing else happens."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from itertools import count
from pathlib import Path

import pytest

from tests.support.client_process import RUN, known_speeds
from tests.support.command import ZERMELO
from tests.support.coordinator import wait_until
from tests.support.hostile_coordinator import HostileCoordinator, hello, work, workunit
from tests.support.shifted_clock import ShiftedClock
from zermelo.games import open_game
from zermelo.proto import coordinator_pb2 as pb

HOUR = 3600
LONG = open_game("reversi:8x8")
LONG_LEASE = 1


@pytest.mark.long
def test_a_clock_that_jumps_by_hours_changes_nothing(tmp_path: Path) -> None:
    clock = ShiftedClock(tmp_path)
    leases = count(LONG_LEASE + 1)

    def give(_: pb.RequestWorkRequest, before: int) -> pb.RequestWorkReply:
        if before:
            time.sleep(0.02)  # results enough for a test
            return work(workunit(next(leases)))
        position = LONG.encode(LONG.canonical(LONG.initial()))
        long = workunit(LONG_LEASE, game=LONG.spec, position=position, node_budget=10**12)
        return work(long)

    server = HostileCoordinator(RequestWork=give, Hello=lambda *_: hello(longest_wait_ms=0))
    folder = tmp_path / "data"
    known_speeds(folder)
    with server:
        process = subprocess.Popen(
            [*ZERMELO, *RUN, "--server", server.address, "--data-dir", str(folder),
             "--memory-mb", "4", "--priority", "normal", "--workers", "2", "--quit-seconds", "0"],
            stderr=subprocess.PIPE, text=True, env={**os.environ, **clock.environment},
        )  # fmt: skip
        try:
            wait_until(lambda: server.calls("SubmitResults") > 5)
            for shift in (6 * HOUR, -12 * HOUR, 0):
                clock.set(shift)
                results, beats = server.calls("SubmitResults"), server.calls("Heartbeat")
                # Two looks at the clock, which the client takes every second.
                time.sleep(2.5)
                wait_until(lambda: server.calls("SubmitResults") > results + 5)  # noqa: B023
                wait_until(lambda: server.calls("Heartbeat") > beats + 1)  # noqa: B023
            last = server.requests["Heartbeat"][-1].leases
            assert LONG_LEASE in {lease.lease_id for lease in last}
            assert not server.calls("ReturnWork")
            assert server.calls("Hello") == 1
            process.send_signal(signal.SIGTERM)
            errors = process.communicate(timeout=60)[1]
        finally:
            process.kill()
            process.communicate()
    assert process.returncode == 0
    assert "the clock jumped ahead by 21600 s" in errors
    assert "the clock was set back by 64800 s" in errors
