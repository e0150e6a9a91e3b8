"""Dealing: which workunits go to the calls that wait, in one statement for all of them.

What would have to be asked of the database before every deal is remembered instead: how
many more leases a host or a user may have, and that no question waits for another user. When
all of that is known, a call is dealt from the stock without any statement.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress

import psycopg

from zermelo.retry import Backoff
from zermelo.server.coordinator.matching import Again, assign, open_slots
from zermelo.server.coordinator.rows import Leased, LeaseId, Request
from zermelo.server.coordinator.stock import KEEP_SECONDS, Stock
from zermelo.server.coordinator.store import CoordinatorStore
from zermelo.server.coordinator.terms import Terms

log = logging.getLogger(__name__)

#: Known answers to choose from, the latest.
MOST_PROBES = 64


class Dealer:
    def __init__(self, store: CoordinatorStore, stock: Stock, terms: Terms) -> None:
        self._store, self._stock, self._terms = store, stock, terms
        self._numbers = range(0)
        #: Whether a question waited for another user's answer, and whether one may by now.
        self._again_waits = True
        self._again_news = True
        self._to_learn = asyncio.Event()
        #: How many of the leases shall be questions with a known answer.
        self.probe_rate = 0.0

    def work_may_be_ready(self) -> None:
        """Somebody said that there is work; it may be a question for other users."""
        self._again_news = True

    async def deal(self, requests: Sequence[Request]) -> tuple[list[Leased], list[int]]:
        """Leases for requests, and how many each could have had by its host's quota.

        Most are fresh questions, some were asked of others before.
        """
        slots = open_slots(
            [(request.host, request.slots, request.speed) for request in requests],
            *await self._terms.of(requests),
        )
        granted = [0] * len(requests)
        for slot in slots:
            granted[slot.request - 1] += 1
            self._terms.dealt(slot.host, 1)
        if not slots:
            return [], granted
        again = await self._asked_again(2 * len(slots))
        probes = await self._store.probes(MOST_PROBES) if self.probe_rate else []
        leased = await self._store.lease_workunits(
            slots, assign(slots, again, probes, self.probe_rate), await self._number(len(slots))
        )
        unused = Counter(slot.host for slot in slots)
        unused.subtract(requests[item.request - 1].host for item in leased)
        for host, leases in unused.items():
            self._terms.dealt(host, -leases)
        return leased, granted

    def asked_for(self, slots: int) -> None:
        """A new call wants so many workunits."""
        self._stock.asked_for(slots)

    def deal_at_once(self, request: Request) -> list[Leased]:
        """Leases from the stock; none when that, or what must be known first, is missing.

        Where answers are compared every call takes the long way, so that none can tell by
        its time whether it got a question that others were asked.
        """
        if self._again_waits or self.probe_rate or len(self._numbers) < request.slots:
            return []
        if not self._terms.suffice(request):
            return []
        leased = self._stock.take(request, self._numbers[0])
        self._numbers = self._numbers[len(leased):]
        self._terms.dealt(request.host, len(leased))
        return leased

    async def keep_stocked(self, tell: Callable[[], None]) -> None:
        """Fill the stock whenever it is low, and tell of it, as long as this runs."""

        async def fill() -> None:
            with suppress(TimeoutError):
                async with asyncio.timeout(None if self._stock.empty else KEEP_SECONDS):
                    await self._stock.low.wait()
            await self._stock.put_back()
            await self._stock.fill()
            tell()
            self._to_learn.set()

        await _again_and_again(fill, "take work ahead")

    async def keep_informed(self) -> None:
        """Learn what must be known to deal from the stock, as long as that is in use."""

        async def learn() -> None:
            await self._to_learn.wait()
            self._to_learn.clear()
            await self._asked_again(1)
            await self._terms.renew()

        await _again_and_again(learn, "look up who may have work")

    async def _asked_again(self, most: int) -> list[Again]:
        if not (self._again_waits or self._again_news):
            return []
        self._again_news = False  # word of others that comes from now on counts
        again = await self._store.workunits_asked_again(most)
        self._again_waits = bool(again)
        return again

    async def _number(self, count: int) -> LeaseId:
        """The first of so many lease numbers that were never used."""
        if len(self._numbers) < count:
            self._numbers = await self._store.reserve_leases()
        first = self._numbers[0]
        self._numbers = self._numbers[count:]
        return first


async def _again_and_again(step: Callable[[], Awaitable[None]], what: str) -> None:
    """Take this step after step; when the database is away, wait before the next."""
    backoff = Backoff()
    while True:
        try:
            await step()
        except psycopg.OperationalError as error:
            pause = backoff.next()
            log.warning("cannot %s: %s; again in %.1f s", what, error, pause)
            await asyncio.sleep(pause)
        else:
            backoff.reset()
