"""Dealing: which workunits go to the calls that wait, in one statement for all of them.

What would have to be asked of the database before every deal is remembered instead: how
many more leases a host or a user may have, and that no question waits for another user. Only one
deal runs at a time, so what is remembered and what is dealt do not come apart; other
coordinators can make it wrong for `REMEMBER_SECONDS` at most.
"""

from __future__ import annotations

import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from zermelo.server.coordinator.matching import Again, Slot, assign, open_slots
from zermelo.server.coordinator.store import CoordinatorStore, HostId, Leased, LeaseId, Request
from zermelo.server.trust.accounts import UserId

#: Known answers to choose from, the latest.
MOST_PROBES = 64
#: How long a host's terms are believed without asking the database again.
REMEMBER_SECONDS = 10.0
#: ... and those of a user who holds as many leases as it may, which take counting to look up.
REMEMBER_FULL_SECONDS = 1.0
MOST_REMEMBERED = 100_000


@dataclass(slots=True)
class _Terms:
    user: UserId
    #: How many more leases the host may have; those that end meanwhile are not added.
    free: int
    until: float


@dataclass(slots=True)
class _Allowance:
    """How many more leases all hosts of a user together may have."""

    free: int
    asked_at: float

    def stale(self, wanted: int, now: float) -> bool:
        seconds = REMEMBER_SECONDS if self.free >= wanted else REMEMBER_FULL_SECONDS
        return now > self.asked_at + seconds


class Dealer:
    def __init__(
        self, store: CoordinatorStore, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._store, self._clock = store, clock
        self._terms: OrderedDict[HostId, _Terms] = OrderedDict()
        self._allowances: OrderedDict[UserId, _Allowance] = OrderedDict()
        self._numbers = range(0)
        #: Whether a question may be waiting for another user's answer.
        self._again_waits = True
        #: How many of the leases shall be questions with a known answer.
        self.probe_rate = 0.0

    def forget_terms(self) -> None:
        """Somebody changed what hosts may have: ask the database again."""
        self._terms.clear()
        self._allowances.clear()

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
                if terms.user in self._allowances:
                    self._allowances[terms.user].free -= 1
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
        while len(self._terms) > MOST_REMEMBERED:
            self._terms.popitem(last=False)
        return open_slots(
            [(request.host, request.slots, request.speed) for request in requests],
            {host: (terms.user, terms.free) for host, terms in known.items()},
            await self._free_of_users(known, wanted),
        )

    async def _free_of_users(
        self, known: Mapping[HostId, _Terms], wanted: Mapping[HostId, int]
    ) -> dict[UserId, int]:
        """What the users of these hosts may have together; nobody's where that is unlimited."""
        if not self._store.limits_users:
            return {}
        of_users: Counter[UserId] = Counter()
        for host, terms in known.items():
            of_users[terms.user] += wanted[host]
        now = self._clock()
        unsure = [
            user for user, number in of_users.items()
            if user not in self._allowances or self._allowances[user].stale(number, now)
        ]  # fmt: skip
        if unsure:
            for user, free in await self._store.user_terms(unsure):
                self._allowances[user] = _Allowance(free, now)
                self._allowances.move_to_end(user)
        left = {user: self._allowances[user].free for user in of_users}
        while len(self._allowances) > MOST_REMEMBERED:
            self._allowances.popitem(last=False)
        return left

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
