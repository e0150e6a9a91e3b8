"""Blocking work on the database that takes more than a statement, in threads of its own.

It has threads and connections of its own, a few of each, so that nothing that operators
or researchers ask for can hold up the volunteers.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from psycopg_pool import ConnectionPool

from zermelo.server.coordinator.batcher import OverloadError
from zermelo.server.database import Connection

T = TypeVar("T")

THREADS = 2
LONGEST_QUEUE = 20
CONNECT_SECONDS = 10.0


class BlockingPool:
    def __init__(
        self, url: str, *, threads: int = THREADS, longest: int = LONGEST_QUEUE,
        prepare: Callable[[Connection], None] | None = None,
        connect_seconds: float = CONNECT_SECONDS,
    ) -> None:  # fmt: skip
        """`prepare` is told of every new connection before it is used."""
        self._longest = longest
        self._waiting = 0
        self._executor = ThreadPoolExecutor(threads, thread_name_prefix="blocking")
        self._pool: ConnectionPool[Connection] = ConnectionPool(
            url,
            min_size=0,
            max_size=threads,
            timeout=connect_seconds,
            check=ConnectionPool.check_connection,
            configure=prepare,
            open=False,
            kwargs={"autocommit": True, "application_name": "zermelo coordinator pool"},
        )

    async def run(self, work: Callable[[Connection], T]) -> T:
        """What `work` gives; `OverloadError` when too many wait already."""
        if self._waiting >= self._longest:
            raise OverloadError
        self._waiting += 1
        try:
            loop = asyncio.get_running_loop()
            return await loop.run_in_executor(self._executor, self._work, work)
        finally:
            self._waiting -= 1

    def _work(self, work: Callable[[Connection], T]) -> T:
        self._pool.open()
        with self._pool.connection() as connection:
            return work(connection)

    async def close(self) -> None:
        await asyncio.to_thread(self._executor.shutdown)
        await asyncio.to_thread(self._pool.close)
