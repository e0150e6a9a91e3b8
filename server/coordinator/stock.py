"""The stock: workunits taken out of the queue ahead of the calls for them.

A call that the stock can serve waits for no statement: its leases are handed out from memory
and written down right behind it. Whoever asks the database about leases waits until they
are (`written`). If this process dies in between, the host's next call finds its lease
unknown, as after a crash of the database, and loses what it did in that moment. Workunits
that were held and not handed out go back to the queue, here or, when nobody is left to do
it, at the end of the hold.

There is a stock only where so much is asked for that it is used up at once. Otherwise each
call had better get what is most urgent when it comes.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import deque
from collections.abc import Callable, Iterable

import psycopg

from zermelo.retry import Backoff
from zermelo.server.coordinator.rows import Given, Held, HoldId, Leased, LeaseId, Request
from zermelo.server.coordinator.store import DEFAULT_SPEED, CoordinatorStore

log = logging.getLogger(__name__)

#: For how long to keep workunits ready, at the rate at which they are asked for.
AHEAD_SECONDS = 1.0
#: Filled up when so much of it is gone: what is left must last as long as that takes.
REFILL = 0.25
#: Less than this is not worth it, and more than this at once takes too long.
LEAST, MOST = 512, 2048
#: How long to leave the queue alone after it had less than was wanted.
SHORT_SECONDS = 0.05
#: How long to gather leases before they are written down together.
GATHER_SECONDS = 0.04
#: Over how long the rate is measured.
RATE_SECONDS = 0.25
#: What nobody asked for within this time goes back to the queue.
KEEP_SECONDS = 3.0
#: When others may take it for lost. Far longer, because they go by another clock.
HOLD_SECONDS = 30.0


class Stock:
    def __init__(
        self, store: CoordinatorStore, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._store, self._clock = store, clock
        self._held: deque[Held] = deque()
        #: How many workunits of a hold are still here, and when the hold began.
        self._left: dict[HoldId, int] = {}
        self._since: dict[HoldId, float] = {}
        self._given: list[Given] = []
        self._unwritten: set[LeaseId] = set()
        self._to_write = asyncio.Event()
        self._batch_written = asyncio.Event()
        self._database_away = False
        self._asked, self._measured_at, self._rate = 0, clock(), 0.0
        self._not_before = clock()
        self.low = asyncio.Event()

    # -- handing out ---------------------------------------------------------------------

    def asked_for(self, slots: int) -> None:
        """A call wants so many workunits; says that the stock is `low` when it is time."""
        self._asked += slots
        now = self._clock()
        if (elapsed := now - self._measured_at) >= RATE_SECONDS:
            self._rate, self._asked, self._measured_at = self._asked / elapsed, 0, now
        if self._missing() > REFILL * self._target() and now >= self._not_before:
            self.low.set()

    def take(self, request: Request, first: LeaseId) -> list[Leased]:
        """Leases for a call, numbered from `first`: as many as it wants or as there are."""
        if self._database_away:
            return []
        leased: list[Leased] = []
        fresh = self._clock() - KEEP_SECONDS
        while self._held and len(leased) < request.slots:
            if self._since[self._held[0].hold] < fresh:
                self.low.set()  # to be put back at once, not when its time comes
                break
            item = self._held.popleft()
            self._left[item.hold] -= 1
            lease, budget = first + len(leased), _budget(item, request.speed)
            leased.append(Leased(
                1, lease, item.workunit, item.campaign, item.game, item.position, item.history,
                item.threshold, budget, item.known,
            ))  # fmt: skip
            self._given.append(Given(item.hold, lease, item.workunit, request.host, budget))
            self._unwritten.add(lease)
        if leased:
            self._to_write.set()
        return leased

    # -- writing down --------------------------------------------------------------------

    async def written(self, leases: Iterable[LeaseId] | None = None) -> None:
        """Wait until these leases, or all so far, are in the database if they are ours."""
        wanted = self._unwritten.copy() if leases is None else set(leases)
        while not self._unwritten.isdisjoint(wanted):
            if self._database_away:
                raise psycopg.OperationalError("the database is away")
            await self._batch_written.wait()

    async def write(self) -> None:
        """Write down what is handed out, as long as this runs."""
        backoff = Backoff()
        while True:
            await self._to_write.wait()
            await asyncio.sleep(GATHER_SECONDS)
            self._to_write.clear()
            try:
                await self._write_batch()
            except psycopg.OperationalError as error:
                pause = backoff.next()
                log.warning("cannot write leases down: %s; again in %.1f s", error, pause)
                self._tell_written(database_away=True)
                await asyncio.sleep(pause)
                self._to_write.set()
            else:
                self._tell_written(database_away=False)
                backoff.reset()

    async def _write_batch(self) -> None:
        batch = self._given
        spent = [hold for hold, left in self._left.items() if not left]
        self._given = []
        try:
            await self._store.lease_held(batch, spent)
        except BaseException:
            self._given = batch + self._given
            raise
        self._forget(spent)
        self._unwritten.difference_update(item.lease for item in batch)

    def _tell_written(self, *, database_away: bool) -> None:
        self._database_away = database_away
        self._batch_written.set()
        self._batch_written = asyncio.Event()

    # -- filling -------------------------------------------------------------------------

    def _target(self) -> float:
        wanted = min(MOST, self._rate * AHEAD_SECONDS)
        return wanted if wanted >= LEAST else 0.0

    def _missing(self) -> float:
        return self._target() - len(self._held)

    async def fill(self) -> None:
        """Hold as many workunits as calls will want soon."""
        missing = int(self._missing())
        began = self._clock()
        held = await self._store.hold_workunits(missing, HOLD_SECONDS) if missing > 0 else []
        self.low.clear()  # calls that found it low meanwhile did not know of these
        if len(held) < missing:
            self._not_before = self._clock() + SHORT_SECONDS
        if held:
            self._held.extend(held)
            self._left[held[0].hold], self._since[held[0].hold] = len(held), began

    async def close(self) -> None:
        """Leave nothing behind, when nobody fills the stock or writes any more."""
        await self._write_batch()
        await self.put_back(everything=True)

    async def put_back(self, *, everything: bool = False) -> None:
        """Give up what was kept too long, or all."""
        fresh = self._clock() - KEEP_SECONDS
        ended = {
            hold for hold, since in self._since.items()
            if self._left[hold] and (everything or since < fresh)
        }  # fmt: skip
        if ended:
            self._held = deque(item for item in self._held if item.hold not in ended)
            await self.written()  # what was handed out of them must not go back
            await self._store.end_holds(list(ended))
            self._forget(ended)

    @property
    def empty(self) -> bool:
        return not self._held

    def _forget(self, holds: Iterable[HoldId]) -> None:
        for hold in holds:
            self._left.pop(hold, None)
            self._since.pop(hold, None)


def _budget(item: Held, speed: float) -> int:
    """What the query `lease_workunits` gives a host of this speed, in nodes."""
    nodes = round(max(1.0, item.target_seconds * (speed if speed > 0 else DEFAULT_SPEED)))
    return nodes if item.most_nodes is None else min(item.most_nodes, nodes)
