"""The coordinator without a network behaves like the one with."""

from __future__ import annotations

import asyncio
import doctest

import pytest

from tests.support.coordinator import Queue
from zermelo.server.campaigns import create_campaign
from zermelo.server.coordinator import in_process
from zermelo.server.coordinator.in_process import (
    InProcessCoordinator,
    Progress,
    Request,
    Returned,
)
from zermelo.server.coordinator.statements import run_blocking
from zermelo.server.database import Connection


@pytest.fixture
def queue(connection: Connection) -> Queue:
    return Queue(connection, create_campaign(connection, "reversi:4x4", target_seconds=2.0))


def test_the_example_runs(connection: Connection, queue: Queue) -> None:
    queue.add()
    names = {"connection": connection, "Returned": Returned}
    failed, tried = doctest.testmod(in_process, extraglobs=names)
    assert tried >= 5
    assert not failed


def test_work_goes_out_and_comes_back(connection: Connection, queue: Queue) -> None:
    first, second, third = queue.add(3)
    coordinator = InProcessCoordinator(connection)
    ada = coordinator.register("ada")
    leased = coordinator.request(ada, wanted=2, speed=1000.0)
    assert [item.workunit for item in leased] == [first, second]
    assert {item.node_budget for item in leased} == {2000}
    told = coordinator.heartbeat([Progress(ada.id, item.lease, 5) for item in leased])
    assert [item.directive for item in told] == ["continue", "continue"]
    queue.set_state(second, "withdrawn")
    (told_later,) = coordinator.heartbeat([Progress(ada.id, leased[1].lease, 6)])
    assert told_later.directive == "withdrawn"
    assert coordinator.give_back([Progress(ada.id, leased[0].lease, 7)]) == 1
    assert coordinator.give_back([Progress(ada.id, leased[0].lease, 7)]) == 0
    again = coordinator.request(ada, wanted=9)
    assert [item.workunit for item in again] == [first, third]
    result = Returned(ada.id, again[0].lease, "yes", again[0].threshold, 16, 10, 0.1)
    unknown = result._replace(lease=1)
    assert coordinator.submit([result, unknown, result]) == ["accepted", "unknown", "duplicate"]
    assert connection.execute("SELECT count(*) FROM holds").fetchone() == (0,)


def test_calls_of_the_same_moment_share_what_there_is(
    connection: Connection, queue: Queue
) -> None:
    queue.add(3)
    coordinator = InProcessCoordinator(connection, limits_users=True)
    hosts = [coordinator.register(name) for name in ("ada", "ada", "bob")]
    connection.execute("UPDATE users SET quota = 1 WHERE name = 'ada'")
    leased = coordinator.request_for_all([Request(host.id, host.user, 3, 0.0) for host in hosts])
    assert [item.request for item in leased] == [1, 3, 3]


def test_leases_expire_when_told(connection: Connection, queue: Queue) -> None:
    (workunit,) = queue.add()
    coordinator = InProcessCoordinator(connection, lease_seconds=60.0)
    ada = coordinator.register("ada")
    coordinator.request(ada)
    assert coordinator.expire() == 0
    connection.execute("UPDATE leases SET deadline = now() - interval '1 second'")
    assert coordinator.expire() == 1
    assert queue.state(workunit) == "ready"


def test_what_waits_is_no_work_for_a_blocking_connection() -> None:
    with pytest.raises(RuntimeError, match="waits"):
        run_blocking(asyncio.sleep(0))


@pytest.mark.parametrize("replication", ["none", "adaptive"])
def test_what_everything_waits_for_goes_to_others_soon(
    connection: Connection, queue: Queue, replication: str
) -> None:
    connection.execute("UPDATE campaigns SET replication = %s", (replication,))
    coordinator = InProcessCoordinator(connection)
    ada, adas_second, bob = (coordinator.register(name) for name in ("ada", "ada", "bob"))
    slow, other = queue.add(2)
    connection.execute("UPDATE workunits SET priority = 0")
    (mine,) = coordinator.request(ada)
    assert mine.workunit == slow
    connection.execute("UPDATE leases SET leased_at = leased_at - interval '5 seconds'")
    assert coordinator.ask_overdue_again() == 0  # something as urgent is ready
    (taken,) = coordinator.request(bob)
    assert taken.workunit == other
    assert coordinator.ask_overdue_again() == 1
    assert coordinator.request(ada) == []
    # Where answers are compared, a user's hosts count as one.
    helped = coordinator.request(adas_second)
    assert [item.workunit for item in helped] == ([slow] if replication == "none" else [])
    if not helped:
        (yours,) = coordinator.request(bob)
        assert yours.workunit == slow
    assert queue.lease_state(mine.lease) == "open"
    assert coordinator.ask_overdue_again() == 0  # somebody has it
