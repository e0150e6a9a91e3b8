"""A running daemon does what its owner's preferences and its sensors say."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.support.client_forker import Forker
from tests.support.client_process import children, hard_question
from tests.support.coordinator import Queue, running_coordinator, wait_until
from zermelo.client.control import ask
from zermelo.client.folder import ClientFolder
from zermelo.client.settings import ClientError
from zermelo.server.campaigns import Campaign
from zermelo.server.database import Connection

CALM = {"idle_seconds": 9999, "on_battery": False, "load_by_others": 0.0, "temperature": 40}


class Running:
    """A client with sensors in a test's hands."""

    def __init__(
        self, forker: Forker, server: str, folder: Path,
        readings: dict[str, Any] | None = None, **wanted: Any,
    ) -> None:  # fmt: skip
        self._folder = folder
        self._sensors = folder / "sensors.json"
        self.sense(**(readings or {}))
        self.pid = forker.start(
            server=server, folder=str(folder), sensors=str(self._sensors), **wanted
        )

    def sense(self, **readings: Any) -> None:
        new = self._sensors.with_suffix(".new")
        new.write_text(json.dumps({**CALM, **readings}))
        new.rename(self._sensors)

    def status(self) -> dict[str, Any]:
        try:
            return ask(ClientFolder(self._folder).control, "status")
        except ClientError:
            return {"state": "starting", "workers": [], "reason": ""}

    def states(self) -> list[str]:
        return [worker["state"] for worker in self.status()["workers"]]

    def stands_still(self) -> bool:
        """Whether its search is off the processor, in whichever worker it is now."""
        (worker,) = self.status()["workers"]
        assert worker["state"] == "paused", worker
        return psutil.Process(worker["pid"]).status() == psutil.STATUS_STOPPED


@pytest.fixture
def coordinator(database: str, campaign: Campaign) -> Iterator[str]:
    """Its leases outlast every test.

    A paused search is handed back before its lease ends, on a busy machine before a test saw it.
    """
    with running_coordinator(database, lease_seconds=600.0) as address:
        yield address


@pytest.fixture
def forker() -> Iterator[Forker]:
    with Forker() as forker:
        yield forker


@pytest.fixture
def endless(connection: Connection, queue: Queue) -> None:
    """Two workunits that keep a worker each busy for the whole test."""
    hard_question(connection, queue)
    queue.add(1, node_budget=10**12)


@pytest.mark.usefixtures("endless")
@pytest.mark.parametrize(
    ("limits", "readings", "reason"),
    [
        ({"on_battery": False}, {"on_battery": True}, "the computer runs on battery"),
        ({"max_temperature": 70}, {"temperature": 90}, "the computer is hot: 90 °C"),
        ({"load_by_others": 0.5}, {"load_by_others": 1.0}, "other programs use"),
        ({"hours": "11-13"}, {"local_time": "14:00"}, "only at 11:00-13:00"),
    ],
)
def test_it_pauses_and_says_why(
    coordinator: str, tmp_path: Path, forker: Forker, limits: Any, readings: Any, reason: str
) -> None:
    running = Running(forker, coordinator, tmp_path, idle=limits)
    wait_until(lambda: running.states() == ["searching"])
    running.sense(**readings)
    paused = wait_until(lambda: (s := running.status())["state"] == "paused" and s)
    assert reason in paused["reason"]
    wait_until(running.stands_still)
    running.sense()
    wait_until(lambda: running.status()["state"] == "working")
    forker.kill(running.pid)


@pytest.mark.usefixtures("endless")
def test_fewer_cores_while_the_computer_is_in_use(
    coordinator: str, tmp_path: Path, forker: Forker
) -> None:
    running = Running(forker, coordinator, tmp_path, in_use={"cores": 1}, idle={"cores": 2})
    wait_until(lambda: running.states() == ["searching", "searching"])
    running.sense(idle_seconds=0)
    wait_until(lambda: running.states() == ["searching", "paused"])
    assert running.status()["in_use"]
    running.sense()
    wait_until(lambda: running.states() == ["searching", "searching"])
    forker.kill(running.pid)


def niceness(pid: int) -> set[int]:
    """What each thread of a process has: a search is not the first of its worker."""
    threads = psutil.Process(pid).threads()
    return {os.getpriority(os.PRIO_PROCESS, thread.id) for thread in threads}


@pytest.mark.usefixtures("endless")
@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere a process has one priority")
def test_all_threads_of_a_running_worker_give_way_and_the_daemon_does_not(
    coordinator: str, tmp_path: Path, forker: Forker
) -> None:
    running = Running(
        forker, coordinator, tmp_path,
        in_use={"priority": "lowest"}, idle={"priority": "below-normal"},
    )  # fmt: skip
    wait_until(lambda: running.states() == ["searching"])
    (worker,) = children(running.pid)
    assert len(psutil.Process(worker).threads()) > 1
    assert niceness(worker) == {3}
    running.sense(idle_seconds=0)
    wait_until(lambda: niceness(worker) == {19}, 30)
    assert {os.sched_getscheduler(thread.id) for thread in psutil.Process(worker).threads()} == {
        os.SCHED_IDLE
    }
    assert niceness(running.pid) == {os.getpriority(os.PRIO_PROCESS, 0)}
    forker.kill(running.pid)


@pytest.mark.usefixtures("endless")
def test_a_client_that_starts_while_the_computer_is_in_use_keeps_its_own_priority(
    coordinator: str, tmp_path: Path, forker: Forker
) -> None:
    """Its limits are known before it has a worker that could give way."""
    running = Running(
        forker, coordinator, tmp_path, idle={"priority": "below-normal"},
        in_use={"priority": "lowest"}, readings={"idle_seconds": 0},
    )  # fmt: skip
    wait_until(lambda: running.states() == ["searching"])
    assert os.getpriority(os.PRIO_PROCESS, running.pid) == os.getpriority(os.PRIO_PROCESS, 0)
    (worker,) = children(running.pid)
    assert os.getpriority(os.PRIO_PROCESS, worker) == 19
    forker.kill(running.pid)


@pytest.mark.usefixtures("endless")
def test_less_memory_while_in_use_moves_the_search_to_a_new_worker(
    coordinator: str, tmp_path: Path, forker: Forker, connection: Connection
) -> None:
    running = Running(
        forker, coordinator, tmp_path, in_use={"memory_mb": 2}, idle={"memory_mb": 64}
    )
    wait_until(lambda: running.states() == ["searching"])
    (before,) = children(running.pid)
    lease = running.status()["workers"][0]["search"]["lease"]
    running.sense(idle_seconds=0)
    wait_until(lambda: children(running.pid) not in ([], [before]))
    search = wait_until(
        lambda: (found := running.status()["workers"][0]["search"]) and found["nodes"] and found
    )
    # The same lease goes on, from its checkpoint.
    assert (search["lease"], search["resumed"]) == (lease, True)
    assert running.status()["limits"]["memory_mb"] == 2
    forker.kill(running.pid)


@pytest.mark.usefixtures("endless")
def test_a_throttled_search_runs_and_stands_still_in_turn(
    coordinator: str, tmp_path: Path, forker: Forker
) -> None:
    running = Running(forker, coordinator, tmp_path, idle={"cpu_share": 0.25})
    wait_until(lambda: running.states() == ["searching"])
    (worker,) = children(running.pid)
    process = psutil.Process(worker)
    # How much of the time: tests/unit/client/test_throttle.py; bench/client.py measures it.
    for stopped in (True, False, True, False):
        wait_until(lambda wanted=stopped: (process.status() == psutil.STATUS_STOPPED) == wanted)  # type: ignore[misc]
    forker.kill(running.pid)
    # A killed daemon leaves no worker behind, not even one that stands still.
    wait_until(lambda: not psutil.pid_exists(worker))
