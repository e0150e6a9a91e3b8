"""Assigning: what is remembered between calls never gives anybody more than is theirs."""

from __future__ import annotations

import uuid
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import psycopg
import pytest

from tests.support.coordinator import Host, Queue, running_coordinator
from tests.support.table import Table, at_table, introduction, lose_the_database
from zermelo.proto import coordinator_pb2 as pb
from zermelo.server.campaigns import Campaign
from zermelo.server.coordinator.leases.quota import (
    REMEMBER_FULL_SECONDS,
    REMEMBER_SECONDS,
    Slot,
)
from zermelo.server.coordinator.leases.rows import (
    Prefetched,
    Progress,
    Request,
    Returned,
    columns,
)
from zermelo.server.database import Connection
from zermelo.server.trust import records
from zermelo.sql import query


def test_a_quota_is_kept_though_it_is_seldom_looked_up(
    database: str, connection: Connection, queue: Queue
) -> None:
    queue.add(8)

    async def play(table: Table) -> None:
        host = await table.sit_down()
        connection.execute("UPDATE hosts SET quota = 3")
        first = [lease for _ in range(3) for lease in await table.ask(host)]
        assert len(first) == 3
        assert table.store.asked["hosts"] == 1
        assert await table.ask(host) == []
        await table.store.give_back([Progress(host[0], first[0].lease, 0)])
        assert len(await table.ask(host, wanted=5)) == 1

    at_table(database, play)


def test_the_hosts_of_a_user_share_a_quota(
    database: str, connection: Connection, queue: Queue
) -> None:
    queue.add(20)
    connection.execute("UPDATE campaigns SET replication = 'adaptive'")  # else users have no quota

    async def play(table: Table) -> None:
        ada = [await table.sit_down("ada") for _ in range(3)]
        bob = await table.sit_down("bob")
        connection.execute("UPDATE users SET quota = CASE name WHEN 'ada' THEN 4 ELSE 32 END")
        requests = [Request(*host, 3, 0.0) for host in (*ada, bob)]
        leased, granted = await table.assigner.assign(requests)
        assert granted == [2, 1, 1, 3]
        assert len(leased) == 7
        for host in ada:
            assert await table.ask(host) == []
        assert table.store.asked["users"] == 1  # nobody counts again at once
        await table.store.give_back([Progress(ada[0][0], leased[0].lease, 0)])
        table.now += REMEMBER_FULL_SECONDS + 1
        assert [len(await table.ask(host, wanted=5)) for host in ada] == [1, 0, 0]
        assert len(await table.ask(bob, wanted=5)) == 5

    at_table(database, play)


def test_where_all_share_an_account_it_has_no_quota(
    database: str, connection: Connection, queue: Queue
) -> None:
    queue.add(8)

    async def play(table: Table) -> None:
        host = await table.sit_down()
        connection.execute("UPDATE users SET quota = 1")
        assert len(await table.ask(host, wanted=5)) == 5
        assert table.store.asked["users"] == 0

    at_table(database, play, limits_users=False)


def test_quotas_are_looked_up_again_after_a_while_and_when_told(
    database: str, connection: Connection, queue: Queue
) -> None:
    queue.add(8)

    async def play(table: Table) -> None:
        host = await table.sit_down()
        assert await table.ask(host)
        connection.execute("UPDATE hosts SET quota = 1")
        assert await table.ask(host)  # not known yet
        table.now += REMEMBER_SECONDS + 1
        assert await table.ask(host) == []
        connection.execute("UPDATE hosts SET quota = 256")
        assert await table.ask(host)
        connection.execute("UPDATE hosts SET error_at = now(), errors = 1")
        table.quota.forget()
        assert await table.ask(host) == []

    at_table(database, play)


def test_no_call_waits_for_a_quota_that_is_in_use(
    database: str, connection: Connection, queue: Queue
) -> None:
    queue.add(8)

    async def play(table: Table) -> None:
        host = await table.sit_down()
        assert await table.ask(host)
        for looks in range(1, 4):  # each call comes a little before the quota is too old
            table.now += REMEMBER_SECONDS * 0.7
            assert await table.ask(host)
            assert table.store.asked["hosts"] == looks
            await table.quota.renew()  # what housekeeping does
            assert table.store.asked["hosts"] == looks + 1
        connection.execute("UPDATE hosts SET quota = 1")
        table.now += REMEMBER_SECONDS * 0.7
        assert await table.ask(host)
        await table.quota.renew()
        assert await table.ask(host) == []

    at_table(database, play)


def test_coordinators_are_told_of_bad_answers_and_of_new_owners(
    database: str, connection: Connection
) -> None:
    connection.execute("LISTEN zermelo_accounts")

    def told() -> int:
        return len(list(connection.notifies(timeout=0, stop_after=9)))

    async def play(table: Table) -> None:
        host, _ = await table.sit_down()
        other = (await table.sit_down("another"))[1]
        assert told() == 0
        records.note_errors(connection, [host])
        assert told() == 1
        (digest,) = connection.execute(
            "SELECT host_key_digest FROM hosts WHERE id = %s", (host,)
        ).fetchone() or (uuid.uuid4(),)
        (moved,) = await table.hosts.register_hosts([introduction(other, digest)])
        assert moved[:2] == (host, other)
        assert len(list(connection.notifies(timeout=60, stop_after=1))) == 1

    at_table(database, play)


def test_hosts_that_say_hello_together_are_told_apart(
    database: str, connection: Connection, queue: Queue
) -> None:
    """Also those with one key, of whom the last is believed; and each keeps what it holds."""
    queue.add(4)
    same, own = uuid.uuid4(), uuid.uuid4()

    async def play(table: Table) -> None:
        (_, ada), (_, bob) = await table.sit_down("ada"), await table.sit_down("bob")
        first, other, last = await table.hosts.register_hosts([
            introduction(ada, same, "first"), introduction(ada, own, "other"),
            introduction(bob, same, "last"),
        ])  # fmt: skip
        assert (first.user, other.user, last.user) == (ada, ada, bob)
        assert first.id == last.id != other.id
        named = connection.execute("SELECT name FROM hosts WHERE id = %s", (last.id,)).fetchone()
        assert named == ("last",)
        hosts = [(other.id, ada), (last.id, bob)]
        taken = [[item.lease for item in await table.ask(host, 2)] for host in hosts]
        # Nobody keeps what another one holds by naming it.
        await table.store.give_back_others([
            (other.id, [taken[0][0], taken[1][0]]), (last.id, [taken[1][1]])
        ])  # fmt: skip
        assert [[queue.lease_state(lease) for lease in leases] for leases in taken] == [
            ["open", "abandoned"], ["abandoned", "open"]
        ]  # fmt: skip

    at_table(database, play)


def test_a_host_that_changed_its_user_is_looked_up(
    database: str, connection: Connection, queue: Queue
) -> None:
    (asked_before,) = queue.add()

    async def play(table: Table) -> None:
        host, mine = await table.sit_down()
        _, other = await table.sit_down("another")
        await table.ask((host, mine))
        # The question is asked again, and only the other user may see it.
        connection.execute("UPDATE leases SET state = 'returned', ended_at = now()")
        connection.execute("UPDATE workunits SET state = 'ready', quorum = 2")
        table.second_opinions.work_may_be_ready()
        helper = await table.sit_down("another")
        connection.execute("UPDATE hosts SET user_id = %s WHERE id = %s", (mine, helper[0]))
        assert await table.ask((helper[0], mine)) == []
        connection.execute("UPDATE hosts SET user_id = %s WHERE id = %s", (other, helper[0]))
        assert [leased.workunit for leased in await table.ask((helper[0], other))] == [
            asked_before
        ]

    at_table(database, play)


def test_questions_for_others_are_looked_for_when_somebody_says_so(
    database: str, connection: Connection, queue: Queue
) -> None:
    first, second, third = queue.add(3)

    async def play(table: Table) -> None:
        host = await table.sit_down()
        assert [leased.workunit for leased in await table.ask(host)] == [first]
        connection.execute("UPDATE workunits SET quorum = 2 WHERE id = %s", (second,))
        assert [leased.workunit for leased in await table.ask(host)] == [third]
        assert table.store.asked["again"] == 1
        table.second_opinions.work_may_be_ready()
        assert [leased.workunit for leased in await table.ask(host)] == [second]

    at_table(database, play)


def test_a_lease_number_is_never_used_twice(
    database: str, connection: Connection, queue: Queue
) -> None:
    queue.add(4)
    numbers: list[int] = []

    async def play(table: Table) -> None:
        host = await table.sit_down()
        numbers.extend(leased.lease for leased in await table.ask(host, wanted=4))

    for _ in range(3):
        at_table(database, play)
        # What a crash of the database may do to lazy commits it had not yet written.
        connection.execute("DELETE FROM leases")
        connection.execute("UPDATE workunits SET state = 'ready'")
    assert len(set(numbers)) == len(numbers) == 12


@pytest.mark.parametrize("step", ["_write", "reserve_leases"])
def test_what_could_not_be_leased_goes_back(
    database: str, connection: Connection, queue: Queue, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    (workunit,) = queue.add()

    async def play(table: Table) -> None:
        host = await table.sit_down()
        connection.execute("UPDATE hosts SET quota = 1")
        with monkeypatch.context() as patched:
            patched.setattr(table.store, step, lose_the_database)
            with pytest.raises(psycopg.OperationalError):
                await table.ask(host)
        assert queue.state(workunit) == "leased"  # in a hold
        assert await table.store.end_holds() == 1
        assert queue.state(workunit) == "ready"
        assert len(await table.ask(host)) == 1  # nor is its quota lost

    at_table(database, play)


def test_a_hold_that_ended_meanwhile_gives_no_lease(
    database: str, connection: Connection, queue: Queue, monkeypatch: pytest.MonkeyPatch
) -> None:
    (workunit,) = queue.add()

    async def play(table: Table) -> None:
        host = await table.sit_down()
        take = table.store.take

        async def take_slowly(*wanted: Any) -> list[Prefetched]:
            taken = await take(*wanted)
            connection.execute("UPDATE holds SET until = now() - interval '1 second'")
            assert connection.execute(query("end_holds"), {"holds": []}).fetchone() == (1, 1)
            return taken

        with monkeypatch.context() as patched:
            patched.setattr(table.store, "take", take_slowly)
            assert await table.ask(host) == []
        assert connection.execute("SELECT count(*) FROM leases").fetchone() == (0,)
        assert [leased.workunit for leased in await table.ask(host)] == [workunit]

    at_table(database, play)


def test_calls_served_at_once_may_use_the_last_lease_numbers_meanwhile(
    database: str, connection: Connection, queue: Queue, monkeypatch: pytest.MonkeyPatch
) -> None:
    queue.add(2)

    async def play(table: Table) -> None:
        host = await table.sit_down()
        (first,) = await table.ask(host)
        take, assigner = table.store.take, table.assigner
        monkeypatch.setattr(assigner, "_numbers", assigner._numbers[-1:])
        (last,) = assigner._numbers

        async def take_slowly(*wanted: Any) -> list[Prefetched]:
            taken = await take(*wanted)
            (at_once,) = assigner._number([(taken[0], Slot(1, *host, 1e6))])
            assert at_once.lease == last
            return taken

        monkeypatch.setattr(table.store, "take", take_slowly)
        (second,) = await table.ask(host)
        assert second.lease not in (first.lease, last)

    at_table(database, play)


def test_lease_numbers_go_on_after_an_old_backup_was_restored(
    connection: Connection, campaign: Campaign
) -> None:
    # Last used on the 17th of August 2005, as far as the restored database knows.
    connection.execute("UPDATE lease_blocks SET reserved = 1124236800")
    (now,) = connection.execute("SELECT extract(epoch FROM now())::bigint").fetchall()
    (first,) = connection.execute(query("reserve_leases")).fetchall()
    (second,) = connection.execute(query("reserve_leases")).fetchall()
    assert now <= first < second


def test_only_lazy_commits_may_be_lost_in_a_crash(database: str) -> None:
    async def play(table: Table) -> None:
        for pool, waits in ((table.statements.durable, "on"), (table.statements.lazy, "off")):
            async with pool.connection() as connection:
                cursor = await connection.execute("SHOW synchronous_commit")
                assert await cursor.fetchone() == (waits,)

    at_table(database, play)


@pytest.mark.parametrize("name", ["submit_results", "heartbeat"])
def test_leases_are_reached_by_number_however_few_are_open(
    connection: Connection, campaign: Campaign, name: str
) -> None:
    connection.execute(
        "INSERT INTO workunits (node, campaign, threshold, state, priority, expected, guess,"
        " plies_left, ply) SELECT %s, %s, 0, 'answered', 0, 1, 0, 12, 0"
        " FROM generate_series(1, 20000)",
        (campaign.root, campaign.id),
    )
    connection.execute(
        "INSERT INTO leases (id, workunit, host, node_budget, deadline, state, ended_at)"
        " SELECT id, id, 1, 1, now(), 'returned', now() FROM workunits"
    )
    connection.execute("VACUUM ANALYZE leases, workunits")
    empty: dict[str, Any] = columns([], *Returned._fields)
    limits = {"lease_seconds": 1, "most_targets": 1, "most_budgets": 1, "more_nodes": 1}
    plan = "\n".join(
        row[0]
        for row in connection.execute(b"EXPLAIN " + query(name), empty | limits)
    )
    assert "leases_pkey" in plan
    assert "leases_open" not in plan
    assert "workunits_open" not in plan
    assert "Seq Scan on leases" not in plan


def test_a_bad_answer_reaches_the_coordinator_that_remembers_the_host(
    database: str, connection: Connection, campaign: Campaign, queue: Queue
) -> None:
    queue.add(1)
    with running_coordinator(database) as address, ThreadPoolExecutor(1) as pool:
        host = Host(address)
        assert host.take()
        connection.execute("LISTEN zermelo_wanted")
        waiting = pool.submit(host.request, wait_ms=60_000)
        assert list(connection.notifies(timeout=60, stop_after=1))  # now it waits for work
        records.note_errors(connection, [1])
        (workunit,) = queue.add()
        reply = waiting.result()
        assert reply.no_work.reason == pb.NoWork.TOO_MANY_LEASES
        assert queue.state(workunit) == "ready"
        host.close()
