"""What is read before a wait and used after it: somebody else may have changed it meanwhile.

Each test puts that change exactly there, by a statement that does it on its way.
"""

from __future__ import annotations

import asyncio
import secrets
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import psycopg
import pytest
from psycopg import sql

from tests.support.coordinator import Queue
from tests.support.table import Table, at_table, lose_the_database
from zermelo.server.coordinator.account_store import AccountStore
from zermelo.server.coordinator.admission import ACCOUNT
from zermelo.server.coordinator.hosts import Hosts
from zermelo.server.coordinator.leases import LeaseManager
from zermelo.server.coordinator.leases.queue import CallQueue
from zermelo.server.coordinator.leases.rows import Request
from zermelo.server.coordinator.main import run
from zermelo.server.coordinator.refusals import RefusalError
from zermelo.server.coordinator.settings import CoordinatorSettings
from zermelo.server.database import Connection
from zermelo.server.trust import bans
from zermelo.server.trust.accounts import Account, Role

Meanwhile = Callable[[], Awaitable[None]]


def before(step: Callable[..., Awaitable[Any]], change: Meanwhile) -> Callable[..., Any]:
    """The step with a change right before it; only once."""
    changes = [change]

    async def changed(*given: Any) -> Any:
        if changes:
            await changes.pop()()
        return await step(*given)

    return changed


def after(step: Callable[..., Awaitable[Any]], change: Meanwhile) -> Callable[..., Any]:
    """The step with a change between its end and what its caller does next; only once."""
    changes = [change]

    async def changed(*given: Any) -> Any:
        found = await step(*given)
        if changes:
            await changes.pop()()
        return found

    return changed


# -- quotas -------------------------------------------------------------------------------------


@pytest.mark.parametrize("quota", ["hosts", "users"])
def test_a_quota_that_is_forgotten_while_it_is_looked_up_does_not_grow(
    database: str, connection: Connection, queue: Queue, monkeypatch: pytest.MonkeyPatch, quota: str
) -> None:
    queue.add(20)
    connection.execute("UPDATE campaigns SET replication = 'adaptive'")  # else users have no quota

    async def play(table: Table) -> None:
        host = await table.sit_down()
        connection.execute("UPDATE users SET quota = 99")
        connection.execute(sql.SQL("UPDATE {} SET quota = 6").format(sql.Identifier(quota)))
        assert len(await table.ask(host, wanted=5)) == 5
        remembered = getattr(table.quota, f"_{quota}")

        async def forget() -> None:
            table.quota.forget()

        monkeypatch.setattr(remembered, "_ask", after(remembered._ask, forget))
        table.now += 100
        assert len(await table.ask(host, wanted=5)) == 1
        assert await table.ask(host, wanted=5) == []

    at_table(database, play)


def test_leases_on_their_way_count_in_a_quota_that_is_looked_up_meanwhile(
    database: str, connection: Connection, queue: Queue, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also if it had been forgotten, and those that came to nothing are given back once."""
    queue.add(7)

    async def play(table: Table) -> None:
        host = await table.sit_down()
        connection.execute("UPDATE hosts SET quota = 10")

        async def look_up() -> None:
            table.quota.forget()
            assert await table.quota.used_up(*host) == "host"  # ten are asked for at the moment

        with monkeypatch.context() as patched:
            patched.setattr(table.store, "take", before(table.store.take, look_up))
            assert len(await table.ask(host, wanted=10)) == 7
        queue.add(10)
        assert len(await table.ask(host, wanted=3)) == 3
        assert await table.ask(host) == []

    at_table(database, play)


def test_what_changed_while_a_quota_was_looked_up_is_looked_up_again(
    database: str, connection: Connection, queue: Queue, monkeypatch: pytest.MonkeyPatch
) -> None:
    queue.add(8)

    async def play(table: Table) -> None:
        host = await table.sit_down()

        async def shrink() -> None:
            connection.execute("UPDATE hosts SET quota = 2")
            table.quota.forget()  # as the database's word of it does

        monkeypatch.setattr(
            table.store, "free_of_hosts", after(table.store.free_of_hosts, shrink)
        )
        assert len(await table.ask(host, wanted=4)) == 2

    at_table(database, play)


def test_a_call_is_granted_its_leases_though_quotas_are_forgotten_between_two_looks(
    database: str, queue: Queue, connection: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    queue.add(2)
    connection.execute("UPDATE campaigns SET replication = 'adaptive'")

    async def play(table: Table) -> None:
        host = await table.sit_down()

        async def forget() -> None:
            table.quota.forget()

        monkeypatch.setattr(
            table.quota._users, "_ask", before(table.quota._users._ask, forget)
        )
        assert len(await table.ask(host, wanted=2)) == 2

    at_table(database, play)


def test_what_is_found_out_in_a_pause_allows_nobody_more_when_it_ends(
    database: str, connection: Connection, queue: Queue
) -> None:
    queue.add(8)
    connection.execute("UPDATE campaigns SET replication = 'adaptive', state = 'paused'")

    async def play(table: Table) -> None:
        host = await table.sit_down()
        connection.execute("UPDATE users SET quota = 3")
        assert await table.ask(host, wanted=5) == []
        connection.execute("UPDATE campaigns SET state = 'running'")
        assert len(await table.ask(host, wanted=5)) == 3

    at_table(database, play)


# -- from the queue to a lease ------------------------------------------------------------------


def test_leases_are_given_back_that_were_written_though_the_word_of_it_was_lost(
    database: str, connection: Connection, queue: Queue, monkeypatch: pytest.MonkeyPatch
) -> None:
    (workunit,) = queue.add()

    async def play(table: Table) -> None:
        host = await table.sit_down()
        with monkeypatch.context() as patched:
            patched.setattr(table.store, "_write", after(table.store._write, lose_the_database))
            with pytest.raises(psycopg.OperationalError):
                await table.ask(host)
            assert connection.execute("SELECT state::text FROM leases").fetchall() == [("open",)]
            patched.setattr(table.store, "give_back", lose_the_database)
            with pytest.raises(psycopg.OperationalError):
                await table.store.end_holds()
        assert await table.store.end_holds() == 1
        assert connection.execute("SELECT state::text FROM leases").fetchall() == [("abandoned",)]
        assert queue.state(workunit) == "ready"

    at_table(database, play)


@pytest.mark.parametrize("outage", [False, True])
def test_leases_of_a_call_that_goes_away_in_the_moment_of_its_answer_are_given_back(
    database: str, connection: Connection, queue: Queue, monkeypatch: pytest.MonkeyPatch,
    outage: bool,
) -> None:  # fmt: skip
    (workunit,) = queue.add()

    async def play(table: Table) -> None:
        host = await table.sit_down()
        calls = CallQueue(table.store, table.assigner)
        calling = asyncio.create_task(calls.request(Request(*host, 1, 0.0), wait_seconds=60))
        distribute, given_back = calls._distribute, asyncio.Event()

        def distribute_and_hang_up(*given: Any) -> None:
            distribute(*given)
            calling.cancel()

        give_back = table.store.give_back

        async def note(*given: Any) -> int:
            found = await give_back(*given)
            given_back.set()
            return found

        monkeypatch.setattr(calls, "_distribute", distribute_and_hang_up)
        monkeypatch.setattr(
            table.store, "give_back", before(note, lose_the_database) if outage else note
        )
        running = asyncio.create_task(calls.run())
        with pytest.raises(asyncio.CancelledError):
            await calling
        await asyncio.wait_for(given_back.wait(), 60)
        running.cancel()
        assert connection.execute("SELECT state::text FROM leases").fetchall() == [("abandoned",)]
        assert queue.state(workunit) == "ready"

    at_table(database, play)


def test_a_late_look_for_second_opinions_does_not_hide_what_a_later_one_found(
    database: str, connection: Connection, queue: Queue, monkeypatch: pytest.MonkeyPatch
) -> None:
    (workunit,) = queue.add()

    async def play(table: Table) -> None:
        looks = table.second_opinions

        async def ask_another_and_look() -> None:
            connection.execute("UPDATE workunits SET quorum = 2")
            looks.work_may_be_ready()
            assert [item.workunit for item in await looks.look()] == [workunit]

        monkeypatch.setattr(
            table.store, "workunits_asked_again",
            after(table.store.workunits_asked_again, ask_another_and_look),
        )
        assert await looks.look() == []
        assert looks.possible

    at_table(database, play)


def test_word_of_second_opinions_is_not_lost_with_the_database(
    database: str, queue: Queue, connection: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    (workunit,) = queue.add()

    async def play(table: Table) -> None:
        looks = table.second_opinions
        assert await looks.look() == []
        connection.execute("UPDATE workunits SET quorum = 2")
        looks.work_may_be_ready()
        with monkeypatch.context() as patched:
            patched.setattr(table.store, "workunits_asked_again", lose_the_database)
            with pytest.raises(psycopg.OperationalError):
                await looks.look()
        assert [item.workunit for item in await looks.look()] == [workunit]

    at_table(database, play)


def test_nobody_gets_a_probe_twice_that_was_given_away_while_probes_were_looked_for(
    database: str, connection: Connection, queue: Queue, monkeypatch: pytest.MonkeyPatch
) -> None:
    (workunit,) = queue.add()
    connection.execute("UPDATE campaigns SET replication = 'adaptive', probe_rate = 0.5")
    connection.execute("UPDATE workunits SET state = 'answered', quorum = 2")

    async def play(table: Table) -> None:
        host = await table.sit_down()
        opinions = table.second_opinions
        opinions.probe_rate = 1.0
        await opinions.renew_probes()

        async def give() -> None:
            assert [leased.workunit for leased in await table.ask(host)] == [workunit]

        with monkeypatch.context() as patched:
            patched.setattr(table.store, "probes", after(table.store.probes, give))
            await opinions.renew_probes()
        assert await table.ask(host) == []

    at_table(database, play)


# -- hosts and accounts -------------------------------------------------------------------------


@pytest.mark.parametrize("hello", [False, True])
def test_a_host_that_is_banned_while_it_is_looked_up_is_refused_from_then_on(
    database: str, connection: Connection, monkeypatch: pytest.MonkeyPatch, hello: bool
) -> None:
    key = secrets.token_bytes(16)

    async def play(table: Table) -> None:
        hosts = Hosts(table.hosts, open_access=True)
        running = [asyncio.create_task(task) for task in hosts.tasks()]
        ((user,),) = await table.statements.run("ensure_user", {"name": "somebody"})
        ACCOUNT.set(Account(user, Role.VOLUNTEER, "somebody", banned=False))
        said = {"name": "", "version": "", "workers": 1, "speed": 0.0}
        host = await hosts.register(key, **said)

        async def ban() -> None:
            bans.ban(connection, bans.host_to_ban(connection, host.id), "", actor="somebody")
            hosts.forget()  # as the database's word of it does

        def during(finding: Any) -> None:
            monkeypatch.setattr(finding, "_work", after(finding._work, ban))

        if hello:
            during(hosts._registering)
            changes = hosts.changes
            hosts.remember(key, await hosts.register(key, **said), changes)
        else:
            during(hosts._finding)
            await hosts.calling(key)
        with pytest.raises(RefusalError, match="banned"):
            await hosts.calling(key)
        for task in running:
            task.cancel()

    at_table(database, play)


def test_whoever_asks_for_a_place_while_credit_is_summed_gets_the_same(
    database: str, connection: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def play(table: Table) -> None:
        users = [(await table.sit_down(name))[1] for name in ("ada", "bob")]
        connection.execute(
            "INSERT INTO credits (host, user_id, month, nodes) SELECT id, user_id, now(), id"
            " FROM hosts"
        )
        accounts = AccountStore(table.statements)
        standings = await asyncio.gather(*(
            accounts.standing(user, None) for user in [*users, *users]
        ))
        assert [(item.rank, item.users) for item in standings] == [(2, 2), (1, 2)] * 2

    at_table(database, play)


# -- the end ------------------------------------------------------------------------------------


def test_a_coordinator_with_a_fault_that_nobody_foresaw_ends(
    database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever started it sees that, and starts it again: it must not stay without serving."""

    async def fail(*_: object) -> None:
        raise ValueError("nobody foresaw this")

    monkeypatch.setattr(LeaseManager, "keep_house", fail)
    settings = CoordinatorSettings(listen="127.0.0.1:0", require_token=False)
    stop, ends = threading.Event(), ThreadPoolExecutor(1)
    with ends:
        try:
            with pytest.raises(ValueError, match="nobody foresaw this"):
                ends.submit(run, database, stop, settings).result(timeout=60)
        finally:
            stop.set()
