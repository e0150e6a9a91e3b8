"""Terms: how many more leases hosts and users may have, remembered between deals.

What is dealt comes out of what is remembered, so a quota is kept though it is seldom looked
up; other coordinators can make it wrong for `REMEMBER_SECONDS` at most.
"""

from __future__ import annotations

import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from zermelo.server.coordinator.rows import HostId, Request
from zermelo.server.coordinator.stock import Stock
from zermelo.server.coordinator.store import CoordinatorStore
from zermelo.server.trust.accounts import UserId

Key = TypeVar("Key", HostId, UserId)

#: How long terms are believed without asking the database again.
REMEMBER_SECONDS = 10.0
#: ... and those of a user who holds as many leases as it may, which take counting to look up.
REMEMBER_FULL_SECONDS = 1.0
MOST_REMEMBERED = 100_000


@dataclass(slots=True)
class _Allowance:
    """How many more leases a host, or all hosts of a user together, may have."""

    user: UserId
    #: Leases that end meanwhile are not added.
    free: int
    asked_at: float
    #: Leases dealt as long as it is remembered.
    dealt: int = 0

    def deal(self, leases: int) -> None:
        self.free -= leases
        self.dealt += leases

    def suffices(self, user: UserId, wanted: int, now: float) -> bool:
        """Whether it is known to allow so many leases."""
        return self.user == user and self.free >= wanted and not self.older(now, REMEMBER_SECONDS)

    def older(self, now: float, seconds: float) -> bool:
        return now > self.asked_at + seconds


_Remembered = OrderedDict[Key, _Allowance]


class Terms:
    def __init__(
        self,
        store: CoordinatorStore,
        stock: Stock,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._store, self._stock, self._clock = store, stock, clock
        self._hosts: _Remembered[HostId] = OrderedDict()
        self._users: _Remembered[UserId] = OrderedDict()
        #: Hosts whose terms grow old while they call, and their users.
        self._ageing: dict[HostId, UserId] = {}

    def forget(self) -> None:
        """Somebody changed what hosts may have: ask the database again."""
        self._hosts.clear()
        self._users.clear()

    def dealt(self, host: HostId, leases: int) -> None:
        """A host got so many leases, or will not use so many that it was to get."""
        terms = self._hosts.get(host)
        if terms is not None:
            terms.deal(leases)
            if terms.user in self._users:
                self._users[terms.user].deal(leases)

    def suffice(self, request: Request) -> bool:
        """Whether a call is known to be within all quotas. Notes what is to be renewed."""
        known = [self._hosts.get(request.host)]
        if self._store.limits_users:
            known.append(self._users.get(request.user))
        now = self._clock()
        for terms in known:
            if terms is None or not terms.suffices(request.user, request.slots, now):
                return False
            if terms.older(now, REMEMBER_SECONDS / 2):
                self._ageing[request.host] = request.user
        return True

    async def of(
        self, requests: Sequence[Request]
    ) -> tuple[dict[HostId, tuple[UserId, int]], dict[UserId, int]]:
        """User and free leases of every host, and free leases of users where they are limited."""
        wanted: Counter[HostId] = Counter()
        for request in requests:
            wanted[request.host] += request.slots
        now = self._clock()
        unsure = {
            request.host for request in requests
            if (terms := self._hosts.get(request.host)) is None
            or not terms.suffices(request.user, wanted[request.host], now)
        }  # fmt: skip
        if unsure:
            await self._ask_for_hosts(unsure)
        users = {host: self._hosts[host].user for host in wanted if host in self._hosts}
        if self._store.limits_users:
            await self._know_users(users, wanted)
        return (
            {host: (user, self._hosts[host].free) for host, user in users.items()
             if host in self._hosts},
            {user: self._users[user].free for user in users.values() if user in self._users},
        )  # fmt: skip

    async def renew(self) -> None:
        """Ask again for what grows old, so that no call has to wait for it."""
        ageing, self._ageing = self._ageing, {}
        if ageing:
            await self._ask_for_hosts(ageing)
            if self._store.limits_users:
                await self._ask_for_users(set(ageing.values()))

    # -- asking the database ----------------------------------------------------------------

    async def _know_users(
        self, users: Mapping[HostId, UserId], wanted: Mapping[HostId, int]
    ) -> None:
        of_users: Counter[UserId] = Counter()
        for host, user in users.items():
            of_users[user] += wanted[host]
        now = self._clock()
        unsure = {
            user for user, number in of_users.items()
            if (terms := self._users.get(user)) is None
            or terms.older(
                now, REMEMBER_SECONDS if terms.free >= number else REMEMBER_FULL_SECONDS
            )
        }  # fmt: skip
        if unsure:
            await self._ask_for_users(unsure)

    async def _ask_for_hosts(self, hosts: Iterable[HostId]) -> None:
        await self._stock.written()  # leases that are not would not be counted
        before, now = _dealt_so_far(self._hosts, hosts), self._clock()
        for host, user, free in await self._store.lease_terms(list(before)):
            _remember(self._hosts, host, _Allowance(user, free, now), before[host])

    async def _ask_for_users(self, users: Iterable[UserId]) -> None:
        await self._stock.written()
        before, now = _dealt_so_far(self._users, users), self._clock()
        for user, free in await self._store.user_terms(list(before)):
            _remember(self._users, user, _Allowance(user, free, now), before[user])


def _dealt_so_far(remembered: _Remembered[Key], keys: Iterable[Key]) -> dict[Key, int]:
    return {key: remembered[key].dealt if key in remembered else 0 for key in keys}


def _remember(remembered: _Remembered[Key], key: Key, terms: _Allowance, before: int) -> None:
    """Keep new terms; what was dealt while they were asked for may not be counted in them."""
    old = remembered.get(key)
    if old is not None:
        terms.free -= old.dealt - before
        terms.dealt = old.dealt
    remembered[key] = terms
    remembered.move_to_end(key)
    if len(remembered) > MOST_REMEMBERED:
        remembered.popitem(last=False)
