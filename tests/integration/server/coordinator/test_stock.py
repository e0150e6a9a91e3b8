"""The stock: work handed out ahead of the database, and nothing lost or given twice by it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import psycopg
import pytest

from tests.integration.server.coordinator.test_dealing import Table, at_table
from tests.support.coordinator import Host, Queue, answer, running_coordinator, wait_until
from zermelo.proto import coordinator_pb2 as pb
from zermelo.server.campaigns import Campaign
from zermelo.server.coordinator import stock as module
from zermelo.server.coordinator.rows import (
    Beat,
    Given,
    HoldId,
    HostId,
    Leased,
    Request,
    Returned,
)
from zermelo.server.coordinator.stock import KEEP_SECONDS, LEAST, RATE_SECONDS
from zermelo.server.database import Connection
from zermelo.server.trust.accounts import UserId
from zermelo.sql import query

#: Faster than any host, so that budgets are not what the speeds say.
FAST = 1e12


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """A stock of six workunits, however few are asked for."""
    monkeypatch.setattr(module, "LEAST", 1)
    monkeypatch.setattr(module, "MOST", 6)
    monkeypatch.setattr(module, "RATE_SECONDS", 1e-9)
    monkeypatch.setattr(module, "AHEAD_SECONDS", 1e9)


def at_stocked_table(
    url: str, play: Callable[[Table, tuple[HostId, UserId]], Awaitable[None]]
) -> None:
    """Play with a host that had its first workunit, and a stock of six."""

    async def begin(table: Table) -> None:
        host = await table.sit_down()
        assert len(await table.ask(host)) == 1
        table.now += 1
        assert take(table, host) == []  # there is none yet
        await table.stock.fill()
        writing = asyncio.create_task(table.stock.write())
        try:
            await play(table, host)
        finally:
            writing.cancel()

    at_table(url, begin)


def take(
    table: Table, host: tuple[HostId, UserId], slots: int = 1, speed: float = 0.0
) -> list[Leased]:
    table.dealer.asked_for(slots)
    return table.dealer.deal_at_once(Request(*host, slots, speed))


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
        leased = take(table, host, slots=4)
        assert [item.workunit for item in leased] == added[1:5]
        assert table.store.asked == asked
        await table.stock.written(item.lease for item in leased)
        assert {item.lease for item in leased} < open_leases(connection)
        assert nobodys(connection) == []
        rest = take(table, host, slots=4)  # what there is
        assert [item.workunit for item in rest] == added[5:7]
        await table.stock.written()
        assert connection.execute("SELECT count(*) FROM holds").fetchone() == (0,)
        assert nobodys(connection) == []

    at_stocked_table(database, play)


@pytest.mark.parametrize("speed", [0.0, 0.3, 1234.5, 1e9, FAST])
@pytest.mark.parametrize("budget", [None, 7])
def test_budgets_are_those_of_the_statement(
    database: str, connection: Connection, queue: Queue, small: None,
    speed: float, budget: int | None,
) -> None:  # fmt: skip
    queue.add(8, budget=budget)

    async def play(table: Table, host: tuple[HostId, UserId]) -> None:
        (from_stock,) = take(table, host, speed=speed)
        (dealt,), _ = await table.dealer.deal([Request(*host, 1, speed)])
        assert from_stock.node_budget == dealt.node_budget
        await table.stock.written()
        rows = connection.execute(
            "SELECT budget FROM leases WHERE id = ANY (%s)", ([from_stock.lease, dealt.lease],)
        )
        assert rows.fetchall() == [(dealt.node_budget,)] * 2

    at_stocked_table(database, play)


def test_what_nobody_asks_for_goes_back(
    database: str, connection: Connection, queue: Queue, small: None
) -> None:
    queue.add(10)

    async def play(table: Table, host: tuple[HostId, UserId]) -> None:
        (given,) = take(table, host)
        await table.stock.put_back()
        assert states(connection).count("ready") == 3  # not yet
        table.now += KEEP_SECONDS + 0.1
        table.stock.low.clear()
        assert take(table, host) == []  # too old
        assert table.stock.low.is_set()  # so that it does not stand in the way for long
        await table.stock.put_back()
        assert states(connection) == ["leased"] * 2 + ["ready"] * 8
        assert given.lease in open_leases(connection)
        assert connection.execute("SELECT count(*) FROM holds").fetchone() == (0,)

    at_stocked_table(database, play)


def test_the_work_of_a_dead_coordinator_is_ready_again(
    database: str, connection: Connection, queue: Queue, small: None
) -> None:
    queue.add(14)

    async def play(table: Table, host: tuple[HostId, UserId]) -> None:
        taken = take(table, host, slots=2)
        await table.stock.written()
        # It dies. Another one holds work of its own, and some that came back meanwhile.
        await table.store.return_leases([Beat(host[0], taken[0].lease, 0)])
        others = await table.store.hold_workunits(3, seconds=1000)
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
        await table.stock.written()
        assert late.lease not in open_leases(connection)
        result = Returned(host[0], late.lease, "yes", late.threshold, 16, 1, 0.1, None)
        assert await table.store.submit_results([result]) == ["unknown"]

    at_stocked_table(database, play)


def test_a_quota_holds_for_the_stock_too(
    database: str, connection: Connection, queue: Queue, small: None
) -> None:
    queue.add(16)

    async def play(table: Table, host: tuple[HostId, UserId]) -> None:
        connection.execute("UPDATE hosts SET quota = 4")
        table.terms.forget()
        assert take(table, host) == []  # nothing is known of it
        assert len(await table.ask(host)) == 1
        assert len(take(table, host, slots=2)) == 2
        assert take(table, host) == []
        assert await table.ask(host) == []  # those of the stock are counted
        connection.execute("UPDATE users SET quota = 5")
        connection.execute("UPDATE hosts SET quota = 100")
        table.terms.forget()
        assert len(await table.ask(host, slots=9)) == 1

    at_stocked_table(database, play)


def test_terms_are_renewed_before_they_are_missed(
    database: str, connection: Connection, queue: Queue, small: None
) -> None:
    queue.add(16)

    async def play(table: Table, host: tuple[HostId, UserId]) -> None:
        for _ in range(5):
            table.now += 6
            await table.stock.put_back()
            await table.stock.fill()
            assert len(take(table, host)) == 1
            await table.terms.renew()
        connection.execute("UPDATE hosts SET quota = 1")
        table.now += 6
        await table.stock.fill()
        take(table, host)
        await table.terms.renew()
        assert take(table, host) == []

    at_stocked_table(database, play)


def test_where_answers_are_compared_all_calls_take_the_long_way(
    database: str, connection: Connection, queue: Queue, small: None
) -> None:
    *_, last = queue.add(10)

    async def play(table: Table, host: tuple[HostId, UserId]) -> None:
        table.dealer.probe_rate = 0.01
        assert take(table, host) == []
        table.dealer.probe_rate = 0.0
        assert len(take(table, host)) == 1
        connection.execute("UPDATE workunits SET quorum = 2 WHERE id = %s", (last,))
        table.dealer.work_may_be_ready()
        assert [item.workunit for item in await table.ask(host)] == [last]
        assert take(table, host) == []

    at_stocked_table(database, play)


def test_there_is_no_stock_for_few_calls(database: str, queue: Queue) -> None:
    queue.add(2)

    async def play(table: Table) -> None:
        host = await table.sit_down()
        for slots, is_low in ((LEAST - 1, False), (2 * LEAST, True)):
            table.now += RATE_SECONDS
            for _ in range(2):
                take(table, host, slots=int(slots * RATE_SECONDS / module.AHEAD_SECONDS))
                table.now += RATE_SECONDS
            assert table.stock.low.is_set() is is_low

    at_table(database, play)


def test_who_waits_for_leases_does_not_wait_for_later_ones(
    database: str, queue: Queue, small: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    queue.add(10)

    async def play(table: Table, host: tuple[HostId, UserId]) -> None:
        write, begun, go_on = table.store.lease_held, asyncio.Event(), asyncio.Event()

        async def slowly(given: list[Given], spent: list[HoldId]) -> None:
            begun.set()
            await go_on.wait()
            go_on.clear()
            await write(given, spent)

        monkeypatch.setattr(table.store, "lease_held", slowly)
        take(table, host)
        waiting = asyncio.create_task(table.stock.written())
        await begun.wait()
        take(table, host)  # not in the batch that is being written
        go_on.set()
        async with asyncio.timeout(60):
            await waiting
        go_on.set()
        async with asyncio.timeout(60):
            await table.stock.written()

    at_stocked_table(database, play)


def test_without_the_database_nothing_is_handed_out(
    database: str, queue: Queue, small: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    queue.add(10)

    async def play(table: Table, host: tuple[HostId, UserId]) -> None:
        write = table.store.lease_held

        async def fail(*_: object) -> None:
            raise psycopg.OperationalError("gone")

        monkeypatch.setattr(table.store, "lease_held", fail)
        (given,) = take(table, host)
        with pytest.raises(psycopg.OperationalError):
            await table.stock.written([given.lease])
        assert take(table, host) == []
        monkeypatch.setattr(table.store, "lease_held", write)
        async with asyncio.timeout(60):
            while not take(table, host):
                await asyncio.sleep(0.01)
        await table.stock.written([given.lease])

    at_stocked_table(database, play)


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
            host.give_back(host.take()[0].lease_id)  # asks for the stock to be filled
            wait_until(held)
            assert nobodys(connection) == []
            (workunit,) = host.take()
            assert host.submit(answer(workunit)) == [pb.Receipt.ACCEPTED]
        host.close()
    assert not held()  # it put everything back
    assert nobodys(connection) == []
    assert states(connection).count("ready") == 15
