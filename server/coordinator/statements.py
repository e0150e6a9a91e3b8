"""Running named queries, each a transaction of its own, on connections kept for it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

from psycopg import AsyncConnection, errors
from psycopg_pool import AsyncConnectionPool

from zermelo.sql import query

Pool = AsyncConnectionPool[AsyncConnection[Any]]
Configure = Callable[[AsyncConnection[Any]], Awaitable[None]]

CONNECTIONS = 6
PROMISE_CONNECTIONS = 4
POOL_WAIT_SECONDS = 3.0
ATTEMPTS = 5


class Statements:
    def __init__(self, url: str) -> None:
        #: For what must not be lost once somebody was told of it.
        self.facts = _pool(url, CONNECTIONS, configure=_prepare)
        #: For promises: a crash that undoes the latest of them costs work, nothing else.
        self.promises = _pool(url, PROMISE_CONNECTIONS, configure=_prepare_for_promises)

    async def open(self) -> None:
        await asyncio.gather(self.facts.open(), self.promises.open())

    async def close(self) -> None:
        await asyncio.gather(self.facts.close(), self.promises.close())

    async def run(self, name: str, parameters: Mapping[str, Any]) -> list[Any]:
        """One statement, which is one transaction and on the disk when this returns."""
        return await _run(self.facts, name, parameters)

    async def promise(self, name: str, parameters: Mapping[str, Any]) -> list[Any]:
        """One statement, which is one transaction and will be on the disk soon."""
        return await _run(self.promises, name, parameters)

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[AsyncConnection[Any]]:
        """Several statements in one transaction, which is on the disk when this ends."""
        async with self.facts.connection() as connection, connection.transaction():
            yield connection


def _pool(url: str, connections: int, configure: Configure) -> Pool:
    return AsyncConnectionPool(
        url,
        min_size=2,
        max_size=connections,
        timeout=POOL_WAIT_SECONDS,
        reconnect_timeout=30,
        open=False,
        configure=configure,
        kwargs={
            "autocommit": True,
            "prepare_threshold": 2,
            "application_name": "zermelo coordinator",
        },
    )


async def _prepare(connection: AsyncConnection[Any]) -> None:
    await connection.execute(query("plan_by_index"))


async def _prepare_for_promises(connection: AsyncConnection[Any]) -> None:
    await connection.execute(query("plan_by_index"))
    await connection.execute(query("commit_lazily"))


async def _run(pool: Pool, name: str, parameters: Mapping[str, Any]) -> list[Any]:
    """Run a statement, again when it lost against another."""
    for _ in range(ATTEMPTS - 1):
        try:
            return await _run_once(pool, name, parameters)
        except (errors.DeadlockDetected, errors.SerializationFailure):
            continue
    return await _run_once(pool, name, parameters)


async def _run_once(pool: Pool, name: str, parameters: Mapping[str, Any]) -> list[Any]:
    async with pool.connection() as connection:
        cursor = await connection.execute(query(name), parameters)
        return await cursor.fetchall() if cursor.description else []
