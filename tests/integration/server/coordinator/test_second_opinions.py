"""Nobody can tell a second opinion from a first by what the coordinator does for the call."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Mapping
from typing import Any

from tests.support.coordinator import Queue
from zermelo.server.coordinator.account_store import HostStore, Introduction
from zermelo.server.coordinator.leases.assigner import Assigner
from zermelo.server.coordinator.leases.prefetch import Prefetch
from zermelo.server.coordinator.leases.quota import Quota
from zermelo.server.coordinator.leases.rows import Leased, Request
from zermelo.server.coordinator.leases.second_opinions import SecondOpinions
from zermelo.server.coordinator.leases.store import LeaseStore
from zermelo.server.coordinator.statements import PooledStatements
from zermelo.server.database import Connection


class NotingStatements(PooledStatements):
    """Notes the names of the statements that run."""

    def __init__(self, url: str) -> None:
        super().__init__(url)
        self.names: list[str] = []

    async def run(self, name: str, parameters: Mapping[str, Any]) -> list[Any]:
        self.names.append(name)
        return await super().run(name, parameters)

    async def lazily(self, name: str, parameters: Mapping[str, Any]) -> list[Any]:
        self.names.append(name)
        return await super().lazily(name, parameters)


def test_every_call_takes_the_same_statements(
    database: str, connection: Connection, queue: Queue
) -> None:
    connection.execute("UPDATE campaigns SET replication = 'adaptive', probe_rate = 0.002")
    fresh = queue.add(6)

    async def main() -> None:
        statements = NotingStatements(database)
        await statements.open()
        try:
            await compare(statements)
        finally:
            await statements.close()

    async def compare(statements: NotingStatements) -> None:
        store = LeaseStore(statements, lease_seconds=60)
        opinions = SecondOpinions(store)
        opinions.probe_rate = await store.probe_rate()
        now = [0.0]
        quota = Quota(store, limits_users=True, clock=lambda: now[0])
        assigner = Assigner(store, quota, opinions, Prefetch(store))

        async def ask(user: str) -> tuple[list[Leased], list[str]]:
            rows = await statements.run("ensure_user", {"name": user})
            hello = Introduction(rows[0][0], uuid.uuid4(), "", version="", workers=1, speed=0.0)
            (host,) = await HostStore(statements).register_hosts([hello])
            statements.names.clear()
            leased, _ = await assigner.assign([Request(host.id, host.user, 1, 0.0)])
            return leased, list(statements.names)

        await ask("first")  # reserves lease numbers
        (first,), without = await ask("ada")
        assert first.workunit in fresh
        connection.execute(
            "UPDATE leases SET state = 'returned', ended_at = now() WHERE id = %s", (first.lease,)
        )
        connection.execute(
            "UPDATE workunits SET state = 'ready', quorum = 2 WHERE id = %s", (first.workunit,)
        )
        opinions.work_may_be_ready()
        (second,), asked_again = await ask("bob")
        assert second.workunit == first.workunit
        (other,), after = await ask("carl")
        assert other.workunit != first.workunit
        assert without == asked_again == after
        assert "workunits_asked_again" in without
        # Nor by what it is told: all that a client sees of the two is alike.
        assert (first.node_budget, first.threshold, first.known) == (
            second.node_budget, second.threshold, second.known
        )  # fmt: skip

    asyncio.run(main())
