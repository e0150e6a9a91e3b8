"""The calls that wait for work, served together.

A call is served at once where workunits are prefetched. Else all calls that wait are served
together from the queue of workunits. When less was ready there than wanted it is *dry*: calls
wait, without asking the database again, until somebody notifies that there is work. A slow
clock asks anyway, in case a notification was lost with a connection; whoever calls meanwhile
does not put it off. Where workunits wait for the answer of another user the queue is dry only
for those users who have asked since: they may be for others.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

import psycopg

from zermelo.retry import Retry
from zermelo.server.coordinator.batcher import OverloadError
from zermelo.server.coordinator.leases.assigner import Assigner
from zermelo.server.coordinator.leases.rows import Leased, Progress, Request
from zermelo.server.coordinator.leases.store import LeaseStore
from zermelo.server.database import DATABASE
from zermelo.server.trust.accounts import UserId

log = logging.getLogger(__name__)

MOST_WANTED_A_BATCH = 2048
LONGEST_QUEUE = 20_000
RECHECK_SECONDS = 0.4
ASK_SECONDS = 0.05
#: Calls that can wait are told that the database is away when it has been for this long.
AWAY_SECONDS = 5.0
#: How long calls are gathered for one batch of statements, where several wait.
GATHER_SECONDS = 0.025


@dataclass(slots=True, eq=False)
class _Waiting:
    request: Request
    future: asyncio.Future[list[Leased]]
    #: Whether to go on waiting when there is nothing at the moment.
    patient: bool

    def answer(self, leased: list[Leased]) -> None:
        if not self.future.done():
            self.future.set_result(leased)


class CallQueue:
    def __init__(self, store: LeaseStore, assigner: Assigner) -> None:
        self._store, self._assigner = store, assigner
        self._queue: dict[_Waiting, None] = {}
        self._wake = asyncio.Event()
        self._dry = False
        #: Users for whom the queue was asked since it went dry, and when to ask anyway.
        self._asked_for: set[UserId] = set()
        self._recheck_at = 0.0
        #: How often somebody said that there is work.
        self._news = 0
        self._asked_at = 0.0
        #: When the next batch may be served.
        self._not_before = 0.0
        #: Since when the database is away, if it is.
        self._away_since: float | None = None
        #: Leases for calls that had gone away: nobody will work on them.
        self._orphaned: list[Progress] = []
        self.stopping = False

    async def request(self, request: Request, wait_seconds: float) -> list[Leased]:
        """Leases for one call; none when there was no work for `wait_seconds`.

        `psycopg.OperationalError` when the database is away for that long, or AWAY_SECONDS.
        """
        if len(self._queue) >= LONGEST_QUEUE:
            raise OverloadError
        if self.stopping:
            return []
        # Calls may be waiting for a statement all the same; only scarce work goes by turns.
        if not self._dry and (leased := self._assigner.assign_at_once(request)):
            return leased
        if DATABASE.away and not wait_seconds:
            raise psycopg.OperationalError("the database is away")
        future: asyncio.Future[list[Leased]] = asyncio.get_running_loop().create_future()
        waiting = _Waiting(request, future, patient=wait_seconds > 0)
        self._queue[waiting] = None
        self._wake.set()
        try:
            # Not `wait_for`: a call that is cancelled in the moment when it is answered must
            # neither go on nor lose the answer.
            await asyncio.wait([future], timeout=wait_seconds or None)
        except asyncio.CancelledError:
            if future.done() and not future.exception():
                self._orphan(waiting, future.result())
            raise
        finally:
            self._queue.pop(waiting, None)
            future.cancel()
        if not future.cancelled():
            return future.result()
        if self._away_since is not None:
            raise psycopg.OperationalError("the database is away")
        return []

    def work_may_be_ready(self) -> None:
        """Somebody said that there is work."""
        self._news += 1
        self._ask_again()
        self._wake.set()

    def workunits_are_prefetched(self) -> None:
        """What was ready may be prefetched now, where statements do not see it."""
        if self._queue:
            self._wake.set()

    def stop(self) -> None:
        """Answer everybody who waits: there will be no more work from here."""
        self.stopping = True
        for waiting in list(self._queue):
            waiting.answer([])

    async def run(self) -> None:
        """Serve the calls that wait, until this is cancelled."""
        retry = Retry("cannot hand out work", psycopg.OperationalError, log=log, outage=DATABASE)
        await retry.forever(self._serve_next)

    async def _serve_next(self) -> None:
        """Wait until there is something to do, and do it."""
        await self._woken()
        self._wake.clear()
        if (now := asyncio.get_running_loop().time()) >= self._recheck_at:
            self._recheck_at = now + RECHECK_SECONDS
            self._assigner.work_may_be_ready()
            self._ask_again()
        try:
            await self._serve()
        except psycopg.OperationalError as error:
            self._away_since = self._away_since or now
            self._wake.set()
            tell_all = now - self._away_since >= AWAY_SECONDS
            for waiting in self._queue:
                if not waiting.future.done() and (tell_all or not waiting.patient):
                    waiting.future.set_exception(error)
            raise
        self._away_since = None

    async def _woken(self) -> None:
        """Wait until a call comes, there is word of work, or the slow clock says so."""
        if not self._queue:
            await self._wake.wait()
            return
        left = self._recheck_at - asyncio.get_running_loop().time()
        # Not `wait_for`, which before Python 3.12 may overlook that it is cancelled.
        with suppress(TimeoutError):
            async with asyncio.timeout(max(0.0, left)):
                await self._wake.wait()

    def _ask_again(self) -> None:
        self._dry = False
        self._asked_for.clear()

    def _is_dry(self) -> bool:
        """Whether there is nothing for anybody who waits, as far as is known."""
        if not self._dry:
            return False
        return not self._assigner.asks_others or all(
            waiting.request.user in self._asked_for for waiting in self._queue
        )

    async def _serve(self) -> None:
        await self.give_back_orphaned()
        self._serve_at_once()
        while self._queue and not self._is_dry():
            await self._gather()
            batch, news = self._next_batch(), self._news
            if not batch:
                break
            leased, granted = await self._assigner.assign([waiting.request for waiting in batch])
            # What became ready while the statement ran may not be among what it saw.
            self._dry = len(leased) < sum(granted) and news == self._news
            if self._dry:
                self._asked_for.update(waiting.request.user for waiting in batch)
            self._distribute(batch, leased)
            for waiting, allowed in zip(batch, granted, strict=True):
                if not allowed:  # its host holds as many as it may: waiting does not help
                    self._queue.pop(waiting, None)
                    waiting.answer([])
        if self._dry:
            for waiting in list(self._queue):
                if not waiting.patient:
                    waiting.answer([])
            await self._ask_for_more()

    async def _gather(self) -> None:
        """In a crowd, let calls come together; one that is alone does not wait."""
        loop = asyncio.get_running_loop()
        if (pause := self._not_before - loop.time()) > 0:
            await asyncio.sleep(pause)
        crowd = len(self._queue) > 1
        self._not_before = loop.time() + (GATHER_SECONDS if crowd else 0.0)

    def _serve_at_once(self) -> None:
        for waiting in [waiting for waiting in self._queue if not waiting.future.done()]:
            leased = self._assigner.assign_at_once(waiting.request)
            if not leased:
                break
            del self._queue[waiting]
            waiting.answer(leased)

    def _next_batch(self) -> list[_Waiting]:
        """The calls that have waited longest, as many as one statement should serve.

        Where the queue is dry for some users, those of the others.
        """
        batch: list[_Waiting] = []
        wanted = 0
        for waiting in self._queue:
            if self._dry and waiting.request.user in self._asked_for:
                continue
            wanted += waiting.request.wanted
            if batch and wanted > MOST_WANTED_A_BATCH:
                break
            batch.append(waiting)
        return batch

    def _distribute(self, batch: list[_Waiting], leased: list[Leased]) -> None:
        shares: list[list[Leased]] = [[] for _ in batch]
        for item in leased:
            shares[item.request - 1].append(item)
        for waiting, share in zip(batch, shares, strict=True):
            if not share:
                continue
            self._queue.pop(waiting, None)
            if waiting.future.done():
                self._orphan(waiting, share)
            else:
                waiting.future.set_result(share)

    def _orphan(self, waiting: _Waiting, leased: Sequence[Leased]) -> None:
        """The client of this call went away: nobody will work on these."""
        self._orphaned += [Progress(waiting.request.host, item.lease, 0) for item in leased]
        self._wake.set()

    async def give_back_orphaned(self) -> None:
        """End the leases of calls that had gone away."""
        orphaned, self._orphaned = self._orphaned, []
        try:
            if orphaned:
                await self._store.give_back(orphaned)
        except BaseException:
            self._orphaned += orphaned
            raise

    async def _ask_for_more(self) -> None:
        now = asyncio.get_running_loop().time()
        if now - self._asked_at >= ASK_SECONDS:
            self._asked_at = now
            await self._store.ask_for_more()
