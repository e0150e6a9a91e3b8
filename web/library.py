"""Asking the database for pages: in threads, read-only, never for long.

The connections have the rights of `zermelo_research` wherever that role exists and may be taken.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Hashable
from typing import Any, TypeVar

from zermelo.research.api import TreeCampaigns
from zermelo.server.coordinator.blocking_pool import BlockingPool
from zermelo.server.database import Connection, clear_errors, telling_outages
from zermelo.sql import query

T = TypeVar("T")

THREADS = 4
LONGEST_QUEUE = 100
#: A page does not wait longer for a database that is away.
CONNECT_SECONDS = 2.0
#: What took `t` seconds to find out is told for `KEEP_FACTOR * t` seconds, if that is longer
#: than whoever asks for it says.
KEEP_FACTOR = 20.0
MOST_KEPT = 500


class Library:
    def __init__(self, url: str, statement_seconds: float) -> None:
        limit = str(round(1000 * statement_seconds))

        def prepare(connection: Connection) -> None:
            connection.execute(query("read_only"), (limit,))
            connection.execute(query("take_research_role"))

        self._pool = BlockingPool(
            url, threads=THREADS, longest=LONGEST_QUEUE, prepare=prepare,
            connect_seconds=CONNECT_SECONDS,
        )  # fmt: skip
        self._kept: dict[Hashable, tuple[float, Any]] = {}
        self._finding: dict[Hashable, asyncio.Task[Any]] = {}

    async def ask(self, work: Callable[[TreeCampaigns], T]) -> T:
        """What `work` finds out about the campaigns of the database."""
        return await self._run(lambda connection: work(TreeCampaigns(connection)))

    async def read(self, work: Callable[[Connection], T]) -> T:
        """What `work` reads from a connection; its loss is a `DatabaseError`."""

        def guarded(connection: Connection) -> T:
            with clear_errors():
                return work(connection)

        return await self._run(guarded)

    async def _run(self, work: Callable[[Connection], T]) -> T:
        with telling_outages():
            return await self._pool.run(work)

    async def keep(
        self, key: Hashable, seconds: float, find: Callable[[], Awaitable[T]]
    ) -> T:
        """What `find` gives, or gave less than about `seconds` ago for the same key.

        What is costly is kept longer, and whoever asks meanwhile waits for the same answer: so
        no page can make the database busy.
        """
        until, kept = self._kept.get(key, (0.0, None))
        if time.monotonic() < until:
            return kept  # type: ignore[no-any-return]
        finding = self._finding.get(key)
        if finding is None:
            finding = asyncio.get_running_loop().create_task(self._find(key, seconds, find))
            self._finding[key] = finding
        return await asyncio.shield(finding)

    async def _find(self, key: Hashable, seconds: float, find: Callable[[], Awaitable[T]]) -> T:
        began = time.monotonic()
        try:
            found = await find()
        finally:
            del self._finding[key]
        now = time.monotonic()
        self._kept[key] = (now + max(seconds, KEEP_FACTOR * (now - began)), found)
        while len(self._kept) > MOST_KEPT:
            del self._kept[next(iter(self._kept))]
        return found

    async def close(self) -> None:
        await self._pool.close()
