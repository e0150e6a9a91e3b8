"""Prefetch: work handed out ahead of the database, and nothing lost or given twice by it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import psycopg
import pytest

from tests.support.coordinator import Host, Queue, answer, running_coordinator, wait_until
from tests.support.effort import first_of
from tests.support.table import Table, at_table
from zermelo.proto import coordinator_pb2 as pb
from zermelo.server.campaigns import Campaign
from zermelo.server.coordinator.leases import LeaseManager
from zermelo.server.coordinator.leases import prefetch as module
from zermelo.server.coordinator.leases.prefetch import KEEP_SECONDS, LEAST, RATE_SECONDS
from zermelo.server.coordinator.leases.rows import (
    HoldId,
    HostId,
    Leased,
    Progress,
    Request,
    Returned,
)
from zermelo.server.database import Connection
from zermelo.server.trust.accounts import UserId
from zermelo.sql import query

#: Faster than any host, so that budgets are not what the speeds say.
FAST = 1e12


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Six workunits are prefetched, however few are asked for."""
    monkeypatch.setattr(module, "LEAST", 1)
    monkeypatch.setattr(module, "MOST", 6)
    monkeypatch.setattr(module, "RATE_SECONDS", 1e-9)
    monkeypatch.setattr(module, "AHEAD_SECONDS", 1e9)


def at_prefetched_table(
    url: str, play: Callable[[Table, tuple[HostId, UserId]], Awaitable[None]]
) -> None:
    """Play with a host that had its first workunit, and six that are prefetched."""

    async def begin(table: Table) -> None:
        host = await table.sit_down()
        assert len(await table.ask(host)) == 1
        table.now += 1
        assert take(table, host) == []  # there is none yet
        await table.prefetch.fill()
        writing = asyncio.create_task(table.store.write_behind())
        try:
            await play(table, host)
        finally:
            writing.cancel()

    at_table(url, begin)


def take(
    table: Table, host: tuple[HostId, UserId], wanted: int = 1, speed: float = 0.0
) -> list[Leased]:
    table.prefetch.asked_for(wanted)
    return table.assigner.assign_at_once(Request(*host, wanted, speed))


def states(connection: Connection) -> list[str]:
    rows = connection.execute("SELECT state::text FROM workunits ORDER BY priority, id")
    return [row[0] for row in rows]


def nobodys(connection: Connection) -> list[str]:
    """Workunits that look leased, but nobody has or holds them."""
    return [row[1] for row in connection.execute(query("check_idle_leased"))]


def open_leases(connection: Connection) -> set[int]:
    return {row[0] for row in connection.execute("SELECT id FROM leases WHERE state = 'open'")}


def test_a_call_gets_the_most_urgent_work_without_a_statement(
    database: str, connection: Connection, queue: Queue, small: None
) -> None:
    added = queue.add(10)

    async def play(table: Table, host: tuple[HostId, UserId]) -> None:
        assert states(connection) == ["leased"] * 7 + ["ready"] * 3
        assert nobodys(connection) == []
        asked = table.store.asked.copy()
        leased = take(table, host, wanted=4)
        assert [item.workunit for item in leased] == added[1:5]
        assert table.store.asked == asked
        await table.store._written(item.lease for item in leased)
        assert {item.lease for item in leased} < open_leases(connection)
        assert nobodys(connection) == []
        rest = take(table, host, wanted=4)  # what there is
        assert [item.workunit for item in rest] == added[5:7]
        await table.store._written()
        assert connection.execute("SELECT count(*) FROM holds").fetchone() == (0,)
        assert nobodys(connection) == []

    at_prefetched_table(database, play)


@pytest.mark.parametrize("speed", first_of([1234.5, 0.0, FAST, 0.3, 1e9], 3))
@pytest.mark.parametrize("node_budget", first_of([None, 7]))
def test_budgets_are_the_same_from_memory_and_from_the_queue(
    database: str, connection: Connection, queue: Queue, small: None,
    speed: float, node_budget: int | None,
) -> None:  # fmt: skip
    queue.add(8, node_budget=node_budget)

    async def play(table: Table, host: tuple[HostId, UserId]) -> None:
        (from_memory,) = take(table, host, speed=speed)
        (assigned,), _ = await table.assigner.assign([Request(*host, 1, speed)])
        assert from_memory.node_budget == assigned.node_budget
        await table.store._written()
        rows = connection.execute(
            "SELECT node_budget FROM leases WHERE id = ANY (%s)",
            ([from_memory.lease, assigned.lease],),
        )
        assert rows.fetchall() == [(assigned.node_budget,)] * 2

    at_prefetched_table(database, play)


def test_what_nobody_asks_for_goes_back(
    database: str, connection: Connection, queue: Queue, small: None
) -> None:
    queue.add(10)

    async def play(table: Table, host: tuple[HostId, UserId]) -> None:
        (given,) = take(table, host)
        await table.prefetch.put_back()
        assert states(connection).count("ready") == 3  # not yet
        table.now += KEEP_SECONDS + 0.1
        table.prefetch.low.clear()
        assert take(table, host) == []  # too old
        assert table.prefetch.low.is_set()  # so that it does not stand in the way for long
        await table.prefetch.put_back()
        assert states(connection) == ["leased"] * 2 + ["ready"] * 8
        assert given.lease in open_leases(connection)
        assert connection.execute("SELECT count(*) FROM holds").fetchone() == (0,)

    at_prefetched_table(database, play)


def test_the_work_of_a_dead_coordinator_is_ready_again(
    database: str, connection: Connection, queue: Queue, small: None
) -> None:
    queue.add(14)

    async def play(table: Table, host: tuple[HostId, UserId]) -> None:
        taken = take(table, host, wanted=2)
        await table.store._written()
        # It dies. Another one holds work of its own, and some that came back meanwhile.
        await table.store.give_back([Progress(host[0], taken[0].lease, 0)])
        others = await table.store.take(3)
        assert others[0].workunit == taken[0].workunit
        assert await table.store.end_holds() == 0
        connection.execute(
            "UPDATE holds SET until = now() WHERE id <> %s", (others[0].hold,)
        )
        assert await table.store.end_holds() == 4
        still = {others[0].workunit, others[1].workunit, others[2].workunit, taken[1].workunit}
        rows = connection.execute("SELECT id FROM workunits WHERE state = 'leased'")
        assert {row[0] for row in rows} > still
        assert nobodys(connection) == []
        # If it was not dead but asleep, what it hands out now is nobody's.
        (late,) = take(table, host)
        await table.store._written()
        assert late.lease not in open_leases(connection)
        result = Returned(host[0], late.lease, "yes", late.threshold, 16, 1, 0.1, None)
        assert await table.store.submit([result]) == ["unknown"]

    at_prefetched_table(database, play)


def test_results_may_come_to_another_coordinator_at_once(
    database: str, connection: Connection, queue: Queue, small: None
) -> None:
    queue.add(7)

    async def play(table: Table, host: tuple[HostId, UserId]) -> None:
        other = LeaseManager(table.store._statements, lease_seconds=60)
        serving = asyncio.create_task(other._submitting.run())
        (leased,) = take(table, host)
        assert leased.lease not in open_leases(connection)
        result = Returned(host[0], leased.lease, "yes", leased.threshold, 16, 1, 0.1, None)
        nobodys_lease = result._replace(lease=1)
        assert await other.submit([result, nobodys_lease]) == ["accepted", "unknown"]
        serving.cancel()

    at_prefetched_table(database, play)


def test_a_quota_holds_for_prefetched_work_too(
    database: str, connection: Connection, queue: Queue, small: None
) -> None:
    queue.add(16)

    async def play(table: Table, host: tuple[HostId, UserId]) -> None:
        connection.execute("UPDATE hosts SET quota = 4")
        table.quota.forget()
        assert take(table, host) == []  # nothing is known of it
        assert len(await table.ask(host)) == 1
        assert len(take(table, host, wanted=2)) == 2
        assert take(table, host) == []
        assert await table.ask(host) == []  # those from memory are counted
        connection.execute("UPDATE users SET quota = 5")
        connection.execute("UPDATE campaigns SET replication = 'adaptive'")  # it counts there
        connection.execute("UPDATE hosts SET quota = 100")
        table.quota.forget()
        assert len(await table.ask(host, wanted=9)) == 1

    at_prefetched_table(database, play)


def test_quotas_are_renewed_before_they_are_missed(
    database: str, connection: Connection, queue: Queue, small: None
) -> None:
    queue.add(16)

    async def play(table: Table, host: tuple[HostId, UserId]) -> None:
        for _ in range(5):
            table.now += 6
            await table.prefetch.put_back()
            await table.prefetch.fill()
            assert len(take(table, host)) == 1
            await table.quota.renew()
        connection.execute("UPDATE hosts SET quota = 1")
        table.now += 6
        await table.prefetch.fill()
        take(table, host)
        await table.quota.renew()
        assert take(table, host) == []

    at_prefetched_table(database, play)


def test_where_answers_are_compared_all_calls_take_the_long_way(
    database: str, connection: Connection, queue: Queue, small: None
) -> None:
    *_, last = queue.add(10)

    async def play(table: Table, host: tuple[HostId, UserId]) -> None:
        table.second_opinions.probe_rate = 0.01
        assert take(table, host) == []
        table.second_opinions.probe_rate = 0.0
        assert len(take(table, host)) == 1
        connection.execute("UPDATE workunits SET quorum = 2 WHERE id = %s", (last,))
        table.second_opinions.work_may_be_ready()
        assert [item.workunit for item in await table.ask(host)] == [last]
        assert take(table, host) == []

    at_prefetched_table(database, play)


def test_nothing_is_prefetched_for_few_calls(database: str, queue: Queue) -> None:
    queue.add(2)

    async def play(table: Table) -> None:
        host = await table.sit_down()
        for wanted, is_low in ((LEAST - 1, False), (2 * LEAST, True)):
            table.now += RATE_SECONDS
            for _ in range(2):
                take(table, host, wanted=int(wanted * RATE_SECONDS / module.AHEAD_SECONDS))
                table.now += RATE_SECONDS
            assert table.prefetch.low.is_set() is is_low

    at_table(database, play)


def test_who_waits_for_leases_does_not_wait_for_later_ones(
    database: str, queue: Queue, small: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    queue.add(10)

    async def play(table: Table, host: tuple[HostId, UserId]) -> None:
        write, begun, go_on = table.store._write, asyncio.Event(), asyncio.Event()

        async def slowly(leases: list[Leased], spent: list[HoldId]) -> int:
            begun.set()
            await go_on.wait()
            go_on.clear()
            return await write(leases, spent)

        monkeypatch.setattr(table.store, "_write", slowly)
        take(table, host)
        waiting = asyncio.create_task(table.store._written())
        await begun.wait()
        take(table, host)  # not in the batch that is being written
        go_on.set()
        async with asyncio.timeout(60):
            await waiting
        go_on.set()
        async with asyncio.timeout(60):
            await table.store._written()

    at_prefetched_table(database, play)


def test_without_the_database_nothing_is_handed_out(
    database: str, queue: Queue, small: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    queue.add(10)

    async def play(table: Table, host: tuple[HostId, UserId]) -> None:
        write = table.store._write

        async def fail(*_: object) -> None:
            raise psycopg.OperationalError("gone")

        monkeypatch.setattr(table.store, "_write", fail)
        (given,) = take(table, host)
        with pytest.raises(psycopg.OperationalError):
            await table.store._written([given.lease])
        assert take(table, host) == []
        monkeypatch.setattr(table.store, "_write", write)
        async with asyncio.timeout(60):
            while not take(table, host):
                await asyncio.sleep(0.01)
        await table.store._written([given.lease])

    at_prefetched_table(database, play)


def test_a_result_that_comes_at_once_finds_its_lease(
    database: str, connection: Connection, campaign: Campaign, queue: Queue, small: None
) -> None:
    queue.add(20)

    def held() -> bool:
        row = connection.execute("SELECT count(*) FROM holds").fetchone()
        return row is not None and row[0] > 0

    with running_coordinator(database) as address:
        host = Host(address)
        host.take()
        for _ in range(4):
            host.give_back(host.take()[0].lease_id)  # asks for more to be prefetched
            wait_until(held)
            assert nobodys(connection) == []
            (workunit,) = host.take()
            assert host.submit(answer(workunit)) == [pb.Receipt.ACCEPTED]
        host.close()
    assert not held()  # it put everything back
    assert nobodys(connection) == []
    assert states(connection).count("ready") == 15
