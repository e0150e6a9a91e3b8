"""Handing out work: at once where there is a stock, else all calls that wait share a statement.

When less was ready than wanted the queue is *dry*: calls wait, without asking the
database again, until somebody notifies that there is work. A slow clock asks anyway,
in case a notification was lost with a connection.
"""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass

import psycopg

from zermelo.retry import Backoff
from zermelo.server.coordinator.batcher import OverloadError
from zermelo.server.coordinator.dealing import Dealer
from zermelo.server.coordinator.rows import Beat, Leased, Request
from zermelo.server.coordinator.store import CoordinatorStore

log = logging.getLogger(__name__)

MOST_SLOTS_A_BATCH = 2048
LONGEST_QUEUE = 20_000
RECHECK_SECONDS = 2.0
ASK_SECONDS = 0.05


@dataclass(slots=True, eq=False)
class _Waiting:
    request: Request
    future: asyncio.Future[list[Leased]]
    #: Whether to go on waiting when there is nothing at the moment.
    patient: bool


class Leasing:
    def __init__(self, store: CoordinatorStore, dealer: Dealer) -> None:
        self._store, self._dealer = store, dealer
        self._queue: dict[_Waiting, None] = {}
        self._wake = asyncio.Event()
        self._dry = False
        #: How often somebody said that there is work.
        self._news = 0
        self._asked_at = 0.0
        self._database_away = False
        self.stopping = False

    async def request(self, request: Request, wait_seconds: float) -> list[Leased]:
        """Leases for one call; none when there was no work for so long."""
        if len(self._queue) >= LONGEST_QUEUE:
            raise OverloadError
        if self.stopping:
            return []
        self._dealer.asked_for(request.slots)
        # Calls may be waiting for a statement all the same; only scarce work goes by turns.
        if not self._dry and (leased := self._dealer.deal_at_once(request)):
            return leased
        future: asyncio.Future[list[Leased]] = asyncio.get_running_loop().create_future()
        waiting = _Waiting(request, future, patient=wait_seconds > 0)
        self._queue[waiting] = None
        self._wake.set()
        try:
            return await asyncio.wait_for(future, wait_seconds or None)
        except TimeoutError:
            if self._database_away:
                raise psycopg.OperationalError("the database is away") from None
            return []
        finally:
            self._queue.pop(waiting, None)

    def work_may_be_ready(self) -> None:
        """Somebody said that there is work."""
        self._news += 1
        self._dealer.work_may_be_ready()
        self._dry = False
        self._wake.set()

    def stock_is_filled(self) -> None:
        """What was ready may be in the stock now, where statements do not see it."""
        if self._queue:
            self._wake.set()

    def stop(self) -> None:
        """Answer everybody who waits: there will be no more work from here."""
        self.stopping = True
        for waiting in list(self._queue):
            if not waiting.future.done():
                waiting.future.set_result([])

    async def run(self) -> None:
        backoff = Backoff()
        while True:
            if not await self._woken():
                self._dry = False
            self._wake.clear()
            try:
                await self._serve()
            except psycopg.OperationalError as error:
                self._database_away = True
                pause = backoff.next()
                log.warning("cannot hand out work: %s; again in %.1f s", error, pause)
                await asyncio.sleep(pause)
                self._wake.set()
            else:
                self._database_away = False
                backoff.reset()

    async def _woken(self) -> bool:
        """Wait until there is something to do; False when only the slow clock says so."""
        if not self._queue:
            await self._wake.wait()
            return True
        try:
            await asyncio.wait_for(self._wake.wait(), RECHECK_SECONDS)
        except TimeoutError:
            return False
        return True

    async def _serve(self) -> None:
        self._serve_from_stock()
        while self._queue and not self._dry:
            batch, news = self._next_batch(), self._news
            leased, granted = await self._dealer.deal([waiting.request for waiting in batch])
            # What became ready while the statement ran may not be among what it saw.
            self._dry = len(leased) < sum(granted) and news == self._news
            await self._distribute(batch, leased)
            for waiting, slots in zip(batch, granted, strict=True):
                if not slots:  # its host holds as many as it may: waiting does not help
                    self._queue.pop(waiting, None)
                    if not waiting.future.done():
                        waiting.future.set_result([])
        if self._dry:
            for waiting in list(self._queue):
                if not (waiting.patient or waiting.future.done()):
                    waiting.future.set_result([])
            await self._ask_for_more()

    def _serve_from_stock(self) -> None:
        for waiting in [waiting for waiting in self._queue if not waiting.future.done()]:
            leased = self._dealer.deal_at_once(waiting.request)
            if not leased:
                break
            del self._queue[waiting]
            waiting.future.set_result(leased)

    def _next_batch(self) -> list[_Waiting]:
        """The calls that have waited longest, as many as one statement should serve."""
        batch: list[_Waiting] = []
        slots = 0
        for waiting in self._queue:
            slots += waiting.request.slots
            if batch and slots > MOST_SLOTS_A_BATCH:
                break
            batch.append(waiting)
        return batch

    async def _distribute(self, batch: list[_Waiting], leased: list[Leased]) -> None:
        shares: list[list[Leased]] = [[] for _ in batch]
        for item in leased:
            shares[item.request - 1].append(item)
        orphaned: list[Beat] = []
        for waiting, share in zip(batch, shares, strict=True):
            if not share:
                continue
            self._queue.pop(waiting, None)
            if waiting.future.done():
                # Its client went away meanwhile: nobody will work on these.
                orphaned += [Beat(waiting.request.host, item.lease, 0) for item in share]
            else:
                waiting.future.set_result(share)
        if orphaned:
            await self._store.return_leases(orphaned)

    async def _ask_for_more(self) -> None:
        now = asyncio.get_running_loop().time()
        if now - self._asked_at >= ASK_SECONDS:
            self._asked_at = now
            await self._store.ask_for_more()
