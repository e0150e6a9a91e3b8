"""Who changes the same rows at the same moment waits, and is not thrown back by a deadlock."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from typing import Any

import pytest

from tests.support.coordinator import Queue, wait_until
from zermelo.server.assimilator import assimilate
from zermelo.server.campaigns import Campaign, create_campaign, find_campaign, steer_campaign
from zermelo.server.coordinator.in_process import InProcessCoordinator, Leased, Returned
from zermelo.server.database import Connection, connect_once
from zermelo.server.dropping import drop, remove_some
from zermelo.server.trust import bans
from zermelo.server.validator import validate
from zermelo.server.vocabulary import CampaignState
from zermelo.sql import query

LOCK_HOST = "SELECT FROM hosts WHERE id = %s FOR NO KEY UPDATE NOWAIT"


@contextmanager
def beside(url: str, work: Callable[[Connection], Any]) -> Iterator[Future[Any]]:
    """What `work` does with a connection of its own, which waits for a lock by now."""
    with connect_once(url) as other, ThreadPoolExecutor(1) as thread, connect_once(url) as looking:
        other.execute(query("plan_by_index"))
        doing = thread.submit(work, other)

        def waits() -> bool:
            row = looking.execute(
                "SELECT wait_event_type = 'Lock' FROM pg_stat_activity WHERE pid = %s",
                (other.info.backend_pid,),
            ).fetchone()
            return doing.done() or bool(row and row[0])

        wait_until(waits)
        assert not doing.done()
        yield doing


def introduced(connection: Connection, keys: list[uuid.UUID]) -> dict[str, Any]:
    """Hosts with these keys, each of a user of its own, as they say hello together."""
    users = [
        connection.execute(query("ensure_user"), {"name": f"user {key}"}).fetchall()[0][0]
        for key in keys
    ]
    many = len(keys)
    return {
        "user": users, "host_key_digest": keys, "name": [""] * many, "version": [""] * many,
        "workers": [1] * many, "speed": [0.0] * many, "cores": [0] * many,
        "memory_mb": [0] * many, "platform": [""] * many,
    }  # fmt: skip


@pytest.mark.parametrize("statement", ["hosts_seen", "register_hosts", "lock_hosts"])
def test_hosts_are_locked_in_the_order_of_their_numbers(
    database: str, connection: Connection, statement: str
) -> None:
    keys = [uuid.UUID(int=1000 - number) for number in range(20)]
    for key in keys:
        connection.execute(query("register_hosts"), introduced(connection, [key]))
    numbers = [row[0] for row in connection.execute("SELECT id FROM hosts ORDER BY id DESC")]
    many = len(numbers)
    given: dict[str, Any] = {
        "hosts_seen": {
            "hosts": numbers, "speeds": [1.0] * many, "nodes": [1.0] * many,
            "seconds": [1.0] * many,
        },
        "register_hosts": introduced(connection, keys[::-1]),
        "lock_hosts": (numbers,),
    }  # fmt: skip
    with ExitStack() as at_the_end:
        with connection.transaction():
            connection.execute(LOCK_HOST, (numbers[-1],))
            doing = at_the_end.enter_context(
                beside(database, lambda other: other.execute(query(statement), given[statement]))
            )
            for number in numbers[:-1]:
                connection.execute(LOCK_HOST, (number,))
        doing.result(60)


def test_results_of_a_host_are_refused_while_it_is_banned(
    database: str, connection: Connection, queue: Queue, caplog: pytest.LogCaptureFixture
) -> None:
    queue.add(2)
    coordinator = InProcessCoordinator(connection)
    host = coordinator.register("somebody")
    believed, refused = coordinator.request(host, 2)

    def said(lease: Leased, hi: int) -> Returned:
        return Returned(host.id, lease.lease, "yes", lease.threshold, hi, nodes=1, seconds=1.0)

    coordinator.submit([said(believed, 16)])
    validate(connection)
    assimilate(connection, find_campaign(connection, "reversi:4x4"))
    # As the ban of a host that others agreed with: what it said is doubted.
    connection.execute("UPDATE results SET agreed_lo = lo, agreed_hi = hi")
    coordinator.submit([said(refused, 99)])
    with ExitStack() as at_the_end:
        with connection.transaction():
            connection.execute(LOCK_HOST, (host.id,))
            judging = at_the_end.enter_context(beside(database, validate))
            assert bans.ban(connection, bans.host_to_ban(connection, host.id), "", actor="x") == 1
        assert judging.result(60) == 1
    assert "deadlock" not in caplog.text


def test_two_validators_judge_answers_to_one_question(
    database: str, connection: Connection, caplog: pytest.LogCaptureFixture
) -> None:
    """Each has locked one answer and waits for no other, which would be a deadlock."""
    campaign = create_campaign(connection, "reversi:4x4", replication="adaptive")
    (workunit,) = Queue(connection, campaign).add()
    coordinator = InProcessCoordinator(connection)
    for lease, name in enumerate(("ada", "bob"), 1):
        given = {"lease": lease, "workunit": workunit, "host": coordinator.register(name).id}
        connection.execute(
            "INSERT INTO leases (id, workunit, host, node_budget, deadline, state, ended_at)"
            " VALUES (%(lease)s, %(workunit)s, %(host)s, 1000, now(), 'returned', now())", given,
        )  # fmt: skip
        connection.execute(
            "INSERT INTO results (lease, workunit, nodes, host, seconds, answer, campaign, lo, hi,"
            " late) SELECT %(lease)s, id, 1, %(host)s, 1, 'yes', campaign, threshold, 16, false"
            " FROM workunits WHERE id = %(workunit)s", given,
        )  # fmt: skip
    connection.execute("UPDATE workunits SET state = 'returned', quorum = 2")
    with connect_once(database) as other:
        other.execute(query("plan_by_index"))
        with ThreadPoolExecutor(1) as thread, connection.transaction():
            assert len(connection.execute(query("pending_results"), (1,)).fetchall()) == 1
            assert thread.submit(validate, other).result(60) == 1
    assert validate(connection) == 1
    assert "deadlock" not in caplog.text
    assert connection.execute(
        "SELECT count(*) FROM results WHERE state = 'valid'"
    ).fetchone() == (2,)


def test_removing_a_campaign_goes_on_after_a_deadlock_with_a_late_result(
    database: str, connection: Connection, campaign: Campaign, queue: Queue
) -> None:
    (workunit,) = queue.add()
    coordinator = InProcessCoordinator(connection)
    (leased,) = coordinator.request(coordinator.register("somebody"))
    steer_campaign(connection, campaign, CampaignState.CANCELLED)
    drop(connection, campaign.name)

    def remove(other: Connection) -> bool:
        other.execute("SET deadlock_timeout = '1s'")  # who finds the deadlock loses
        return remove_some(other)

    connection.execute("SET deadlock_timeout = '1h'")
    with ExitStack() as at_the_end:
        with connection.transaction():  # as `submit_results` does it
            connection.execute("SELECT FROM leases WHERE id = %s FOR UPDATE", (leased.lease,))
            removing = at_the_end.enter_context(beside(database, remove))
            connection.execute("SELECT FROM workunits WHERE id = %s FOR UPDATE", (workunit,))
        assert removing.result(60)
    assert connection.execute("SELECT count(*) FROM leases").fetchone() == (0,)
