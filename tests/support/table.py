"""A coordinator's assigner without a network, and hosts that ask it."""

from __future__ import annotations

import asyncio
import uuid
from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Any

import psycopg

from zermelo.server.coordinator.account_store import HostStore, Introduction
from zermelo.server.coordinator.leases.assigner import Assigner
from zermelo.server.coordinator.leases.prefetch import Prefetch
from zermelo.server.coordinator.leases.quota import Quota
from zermelo.server.coordinator.leases.rows import Again, HostId, Leased, Request
from zermelo.server.coordinator.leases.second_opinions import SecondOpinions
from zermelo.server.coordinator.leases.store import LeaseStore
from zermelo.server.coordinator.statements import PooledStatements
from zermelo.server.trust.accounts import UserId


class CountingStore(LeaseStore):
    """Counts what the database is asked."""

    def __init__(self, statements: PooledStatements) -> None:
        super().__init__(statements, lease_seconds=60)
        self.asked: Counter[str] = Counter()

    async def free_of_hosts(self, hosts: Any) -> list[tuple[HostId, UserId, int]]:
        self.asked["hosts"] += 1
        return await super().free_of_hosts(hosts)

    async def free_of_users(self, users: Any) -> list[tuple[UserId, int]]:
        self.asked["users"] += 1
        return await super().free_of_users(users)

    async def workunits_asked_again(self, most: int) -> list[Again]:
        self.asked["again"] += 1
        return await super().workunits_asked_again(most)


def introduction(user: UserId, digest: uuid.UUID, name: str = "") -> Introduction:
    return Introduction(user, digest, name, version="", workers=1, speed=0.0)


class Table:
    """An assigner, its store, and hosts that ask it."""

    def __init__(self, url: str, *, limits_users: bool = True) -> None:
        self.now = 0.0
        self.statements = PooledStatements(url)
        self.hosts = HostStore(self.statements)
        self.store = CountingStore(self.statements)
        self.quota = Quota(self.store, limits_users=limits_users, clock=lambda: self.now)
        self.second_opinions = SecondOpinions(self.store)
        self.prefetch = Prefetch(self.store, clock=lambda: self.now)
        self.assigner = Assigner(self.store, self.quota, self.second_opinions, self.prefetch)

    async def sit_down(self, user: str = "somebody") -> tuple[HostId, UserId]:
        rows = await self.statements.run("ensure_user", {"name": user})
        (host,) = await self.hosts.register_hosts([introduction(rows[0][0], uuid.uuid4())])
        return host.id, host.user

    async def ask(self, host: tuple[HostId, UserId], wanted: int = 1) -> list[Leased]:
        leased, _ = await self.assigner.assign([Request(*host, wanted, 0.0)])
        return leased


def at_table(
    url: str, play: Callable[[Table], Awaitable[None]], *, limits_users: bool = True
) -> None:
    async def main() -> None:
        table = Table(url, limits_users=limits_users)
        await table.statements.open()
        try:
            await play(table)
        finally:
            await table.statements.close()

    asyncio.run(main())


async def lose_the_database(*_: object) -> Any:
    """Instead of a statement: the connection ends."""
    raise psycopg.OperationalError("gone")
