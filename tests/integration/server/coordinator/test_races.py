"""What is read before a wait and used after it: somebody else may have changed it meanwhile.

Each test puts that change exactly there, by a statement that does it on its way.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from tests.integration.server.coordinator.test_assigner import Table, at_table
from tests.support.coordinator import Queue
from zermelo.server.database import Connection

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
        connection.execute(f"UPDATE {quota} SET quota = 6")  # type: ignore[arg-type]
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
