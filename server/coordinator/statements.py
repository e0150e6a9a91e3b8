"""Running named queries, each a transaction of its own."""

from __future__ import annotations

import asyncio
import select
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping
from contextlib import asynccontextmanager
from typing import Any, Protocol, TypeVar

from psycopg import AsyncConnection, errors
from psycopg_pool import AsyncConnectionPool

from zermelo.server.database import Connection
from zermelo.sql import query

T = TypeVar("T")
Pool = AsyncConnectionPool[AsyncConnection[Any]]
Configure = Callable[[AsyncConnection[Any]], Awaitable[None]]

CONNECTIONS = 6
LAZY_CONNECTIONS = 4
POOL_WAIT_SECONDS = 3.0
#: After which the pool gives a new connection up, and tries anew for whoever wants one. It doubles
#: its pauses until then: if they grew, calls would wait in vain though the database is back.
RECONNECT_SECONDS = 2.0
ATTEMPTS = 5


class Statements(Protocol):
    """What stores need: one statement at a time, which is one transaction."""

    async def run(self, name: str, parameters: Mapping[str, Any]) -> list[Any]:
        """The rows of a statement that is on the disk when this returns."""
        ...

    async def lazily(self, name: str, parameters: Mapping[str, Any]) -> list[Any]:
        """The rows of a statement that is committed lazily: it will be on the disk soon."""
        ...


class PooledStatements:
    """Statements of many calls at once, on connections kept for them."""

    def __init__(self, url: str) -> None:
        #: For what must not be lost once somebody was told of it.
        self.durable = _pool(url, CONNECTIONS, configure=_prepare)
        #: For lazy commits: a crash that undoes the latest of them costs work, nothing else.
        self.lazy = _pool(url, LAZY_CONNECTIONS, configure=_prepare_lazy)

    async def open(self) -> None:
        await asyncio.gather(self.durable.open(), self.lazy.open())

    async def close(self) -> None:
        await asyncio.gather(self.durable.close(), self.lazy.close())

    async def renew(self) -> None:
        """After an outage: replace the connections that it broke. There is one of each kind when
        this returns."""
        for pool in (self.durable, self.lazy):
            await pool.check()
            async with pool.connection():
                pass

    async def run(self, name: str, parameters: Mapping[str, Any]) -> list[Any]:
        return await _run(self.durable, name, parameters)

    async def lazily(self, name: str, parameters: Mapping[str, Any]) -> list[Any]:
        return await _run(self.lazy, name, parameters)

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[AsyncConnection[Any]]:
        """Several statements in one transaction, which is on the disk when this ends."""
        async with self.durable.connection() as connection, connection.transaction():
            yield connection


class ConnectionStatements:
    """Statements on one blocking connection, whose coroutines never wait: see `run_blocking`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    async def run(self, name: str, parameters: Mapping[str, Any]) -> list[Any]:
        cursor = self._connection.execute(query(name), parameters)
        return cursor.fetchall() if cursor.description else []

    async def lazily(self, name: str, parameters: Mapping[str, Any]) -> list[Any]:
        return await self.run(name, parameters)


def run_blocking(coroutine: Coroutine[Any, Any, T]) -> T:
    """What a coroutine returns that waits for nothing but `ConnectionStatements`."""
    try:
        coroutine.send(None)
    except StopIteration as returned:
        result: T = returned.value
        return result
    coroutine.close()
    raise RuntimeError("the coroutine waits for something else than a statement")


def _pool(url: str, connections: int, configure: Configure) -> Pool:
    return AsyncConnectionPool(
        url,
        min_size=2,
        max_size=connections,
        timeout=POOL_WAIT_SECONDS,
        reconnect_timeout=RECONNECT_SECONDS,
        open=False,
        configure=configure,
        check=_check,
        kwargs={
            "autocommit": True,
            "prepare_threshold": 2,
            "application_name": "zermelo coordinator",
        },
    )


async def _check(connection: AsyncConnection[Any]) -> None:
    """Refuse a connection that the database closed while it lay in the pool.

    A healthy one has nothing to read, which costs no round trip to find out.
    """
    arrived = select.poll()
    arrived.register(connection.fileno(), select.POLLIN)
    if arrived.poll(0):
        await AsyncConnectionPool.check_connection(connection)


async def _prepare(connection: AsyncConnection[Any]) -> None:
    await connection.execute(query("plan_by_index"))


async def _prepare_lazy(connection: AsyncConnection[Any]) -> None:
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
