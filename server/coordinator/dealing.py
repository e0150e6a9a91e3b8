"""Dealing: which workunits go to the calls that wait, in one statement for all of them.

What would have to be asked of the database before every deal is remembered instead: how
many more leases a host may have, and that no question waits for another user. Only one
deal runs at a time, so what is remembered and what is dealt do not come apart; other
coordinators can make it wrong for `REMEMBER_SECONDS` at most.
"""

from __future__ import annotations

import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from zermelo.server.coordinator.matching import Again, Slot, assign, open_slots
from zermelo.server.coordinator.store import CoordinatorStore, HostId, Leased, LeaseId, Request
from zermelo.server.trust.accounts import UserId

#: Known answers to choose from, the latest.
MOST_PROBES = 64
#: How long a host's terms are believed without asking the database again.
REMEMBER_SECONDS = 10.0
MOST_HOSTS_REMEMBERED = 100_000


@dataclass(slots=True)
class _Terms:
    user: UserId
    #: How many more leases the host may have; those that end meanwhile are not added.
    free: int
    until: float


class Dealer:
    def __init__(
        self, store: CoordinatorStore, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._store, self._clock = store, clock
        self._terms: OrderedDict[HostId, _Terms] = OrderedDict()
        self._numbers = range(0)
        #: Whether a question may be waiting for another user's answer.
        self._again_waits = True
        #: How many of the leases shall be questions with a known answer.
        self.probe_rate = 0.0

    def forget_terms(self) -> None:
        """Somebody changed what hosts may have: ask the database again."""
        self._terms.clear()

    def work_may_be_ready(self) -> None:
        """Somebody said that there is work; it may be a question for other users."""
        self._again_waits = True

    async def deal(self, requests: Sequence[Request]) -> tuple[list[Leased], list[int]]:
        """Leases for requests, and how many each could have had by its host's quota.

        Most are fresh questions, some were asked of others before.
        """
        slots = await self._open_slots(requests)
        granted = [0] * len(requests)
        for slot in slots:
            granted[slot.request - 1] += 1
        if not slots:
            return [], granted
        again = await self._asked_again(2 * len(slots))
        probes = await self._store.probes(MOST_PROBES) if self.probe_rate else []
        leased = await self._store.lease_workunits(
            slots, assign(slots, again, probes, self.probe_rate), await self._number(len(slots))
        )
        for item in leased:
            terms = self._terms.get(requests[item.request - 1].host)
            if terms is not None:
                terms.free -= 1
        return leased, granted

    async def _open_slots(self, requests: Sequence[Request]) -> list[Slot]:
        wanted: Counter[HostId] = Counter()
        for request in requests:
            wanted[request.host] += request.slots
        now = self._clock()
        unsure = {
            request.host for request in requests
            if (terms := self._terms.get(request.host)) is None
            or terms.user != request.user or terms.until < now
            or terms.free < wanted[request.host]
        }  # fmt: skip
        if unsure:
            for host, user, free in await self._store.lease_terms(list(unsure)):
                self._terms[host] = _Terms(user, free, now + REMEMBER_SECONDS)
                self._terms.move_to_end(host)
        known = {host: self._terms[host] for host in wanted if host in self._terms}
        while len(self._terms) > MOST_HOSTS_REMEMBERED:
            self._terms.popitem(last=False)
        return open_slots(
            [(request.host, request.slots, request.speed) for request in requests],
            {host: (terms.user, terms.free) for host, terms in known.items()},
        )

    async def _asked_again(self, most: int) -> list[Again]:
        if not self._again_waits:
            return []
        self._again_waits = False  # word of others that comes from now on counts
        again = await self._store.workunits_asked_again(most)
        self._again_waits = self._again_waits or bool(again)
        return again

    async def _number(self, count: int) -> LeaseId:
        """The first of so many lease numbers that were never used."""
        if len(self._numbers) < count:
            self._numbers = await self._store.reserve_leases()
        first = self._numbers[0]
        self._numbers = self._numbers[count:]
        return first
