"""Prefetch: workunits taken out of the queue ahead of the calls for them.

A call that the prefetched workunits can serve waits for no statement. Workunits are prefetched
only where at least `LEAST` a second are asked for, so that they are used up at once. Otherwise
each call had better get what is most urgent when it comes.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress

from zermelo.server.coordinator.leases.rows import HoldId, Prefetched
from zermelo.server.coordinator.leases.store import LeaseStore

#: For how long to keep workunits ready, at the rate at which they are asked for.
AHEAD_SECONDS = 1.0
#: Filled up when this share of them is gone: what is left must last as long as that takes.
REFILL = 0.5
#: Fewer than this are not worth it, and more than this at once take too long.
LEAST, MOST = 512, 2048
#: How long to leave the queue alone after it had less than was wanted.
SHORT_SECONDS = 0.05
#: Over how long the rate is measured.
RATE_SECONDS = 0.25
#: What nobody asked for within this time goes back to the queue.
KEEP_SECONDS = 3.0


class Prefetch:
    def __init__(self, store: LeaseStore, clock: Callable[[], float] = time.monotonic) -> None:
        self._store, self._clock = store, clock
        self._ready: deque[Prefetched] = deque()
        #: When each hold with workunits here began.
        self._since: dict[HoldId, float] = {}
        self._asked, self._measured_at, self._rate = 0, clock(), 0.0
        self._not_before = clock()
        self.low = asyncio.Event()

    def asked_for(self, wanted: int) -> None:
        """A call wants at most `wanted` workunits; sets `low` when it is time to fill up."""
        self._asked += wanted
        now = self._clock()
        if (elapsed := now - self._measured_at) >= RATE_SECONDS:
            self._rate, self._asked, self._measured_at = self._asked / elapsed, 0, now
        if self._missing() > REFILL * self._target() and now >= self._not_before:
            self.low.set()

    def take(self, most: int) -> list[Prefetched]:
        """The most urgent workunits: `most` of them, or as many as there are."""
        taken: list[Prefetched] = []
        fresh = self._clock() - KEEP_SECONDS
        while self._ready and len(taken) < most:
            if self._since[self._ready[0].hold] < fresh:
                self.low.set()  # to be put back at once, not when its time comes
                break
            taken.append(self._ready.popleft())
        return taken

    async def refill(self) -> None:
        """Wait until workunits are low or too old; put back the old ones and take more."""
        with suppress(TimeoutError):
            async with asyncio.timeout(KEEP_SECONDS if self._ready else None):
                await self.low.wait()
        await self.put_back()
        await self.fill()

    async def fill(self) -> None:
        """Take as many workunits as calls will want soon."""
        missing = int(self._missing())
        began = self._clock()
        taken = await self._store.take(missing) if missing > 0 else []
        self.low.clear()  # calls that found it low meanwhile did not know of these
        if len(taken) < missing:
            self._not_before = self._clock() + SHORT_SECONDS
        if taken:
            self._ready.extend(taken)
            self._since[taken[0].hold] = began

    async def put_back(self, *, everything: bool = False) -> None:
        """Give up what was kept too long, or all."""
        here = {item.hold for item in self._ready}
        fresh = self._clock() - KEEP_SECONDS
        ended = {hold for hold in here if everything or self._since[hold] < fresh}
        self._since = {hold: self._since[hold] for hold in here - ended}
        if ended:
            self._ready = deque(item for item in self._ready if item.hold not in ended)
            await self._store.end_holds(ended)

    def _target(self) -> float:
        wanted = min(MOST, self._rate * AHEAD_SECONDS)
        return wanted if wanted >= LEAST else 0.0

    def _missing(self) -> float:
        return self._target() - len(self._ready)
