"""Quota: how many more leases hosts and users may have, remembered between calls.

What is granted comes out of what is remembered, so a quota is kept though it is seldom looked
up. A look-up does not see leases that are granted and not written yet: those come out of what it
finds. Other coordinators can make it wrong for at most `REMEMBER_SECONDS`.
"""

from __future__ import annotations

import math
import time
from collections import Counter, OrderedDict
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeVar

from zermelo.server.coordinator.leases.rows import HostId, Request
from zermelo.server.coordinator.leases.store import LeaseStore
from zermelo.server.trust.accounts import UserId

Clock = Callable[[], float]
#: A host is remembered with its user: it has a quota of its own only as this user's host.
Owned = tuple[HostId, UserId]
Key = TypeVar("Key")

#: How long a quota is believed that is not used up.
REMEMBER_SECONDS = 10.0
#: ... and that of a user that is, which takes counting to look up. A host's is looked up.
REMEMBER_FULL_SECONDS = 1.0
#: How old it may be to tell a call why it got no work: the call itself looked it up.
JUST_NOW_SECONDS = 0.5
MOST_REMEMBERED = 100_000


class Slot(NamedTuple):
    """One workunit wanted and granted; `request` counts from 1 within the batch."""

    request: int
    host: HostId
    user: UserId
    speed: float


@dataclass(slots=True)
class _Allowance:
    #: How many more leases; those that end meanwhile are not added.
    free: int
    asked_at: float


@dataclass(slots=True, eq=False)
class _LookUp(Generic[Key]):
    """One that is on its way."""

    #: Leases of each that it may not see.
    unseen: dict[Key, int]
    #: Those that changed since it began.
    outdated: set[Key]


class _Remembered(Generic[Key]):
    """The allowances of hosts, or those of users."""

    def __init__(
        self,
        look_up: Callable[[list[Key]], Awaitable[Iterable[tuple[Key, int]]]],
        clock: Clock,
        full_seconds: float,
    ) -> None:
        """One that is used up is believed for `full_seconds`."""
        self._ask = look_up
        self._clock, self._full_seconds = clock, full_seconds
        self._known: OrderedDict[Key, _Allowance] = OrderedDict()
        #: Those that grow old while they are used.
        self._ageing: dict[Key, None] = {}
        #: Leases granted for which statements are still to run.
        self._unwritten: Counter[Key] = Counter()
        self._look_ups: list[_LookUp[Key]] = []

    def forget(self) -> None:
        self._known.clear()
        for look_up in self._look_ups:
            look_up.outdated.update(look_up.unseen)

    def forget_full(self, key: Key) -> None:
        """Leases ended: if the quota was used up it may have room."""
        if (known := self._known.get(key)) is not None and known.free <= 0:
            del self._known[key]
        for look_up in self._look_ups:
            look_up.outdated.add(key)

    def grant(self, key: Key, leases: int) -> None:
        """`leases` are granted; a negative number are given back unused."""
        if (known := self._known.get(key)) is not None:
            known.free -= leases
        for look_up in self._look_ups:
            if key in look_up.unseen:
                look_up.unseen[key] += leases

    def grant_unwritten(self, key: Key) -> None:
        """A lease is granted that is still to be written; to be followed by `settle`."""
        self.grant(key, 1)
        self._unwritten[key] += 1

    def settle(self, key: Key, granted: int, written: int) -> None:
        """Of this number of leases `granted` unwritten these are written, the others unused."""
        self._unwritten[key] -= granted
        if not self._unwritten[key]:
            del self._unwritten[key]
        self.grant(key, written - granted)

    def free(self, keys: Iterable[Key]) -> dict[Key, int]:
        """How many more leases each may have, as far as is known."""
        return {key: self._known[key].free for key in keys if key in self._known}

    def suffices(self, key: Key, wanted: int) -> bool:
        """Whether it is known to have room for `wanted` leases. Notes what is to be renewed."""
        known = self._known.get(key)
        if known is None or known.free < wanted or self._age(known) > REMEMBER_SECONDS:
            return False
        if self._age(known) > REMEMBER_SECONDS / 2:
            self._ageing[key] = None
        return True

    async def renew(self) -> None:
        """Look up what grows old, so that no call has to wait for it."""
        ageing, self._ageing = self._ageing, {}
        if ageing:
            await self.look_up(list(ageing))

    async def ensure(self, wanted: Mapping[Key, int]) -> None:
        """Look up what is unknown, or not to be believed when each wants this number of leases."""
        unsure = [
            key for key, number in wanted.items()
            if not self.suffices(key, number) and (
                (known := self._known.get(key)) is None or known.free >= number
                or self._age(known) > self._full_seconds
            )
        ]  # fmt: skip
        if unsure:
            await self.look_up(unsure)

    async def look_up_older(self, keys: Iterable[Key], seconds: float) -> None:
        """Look up what is not known, or for longer than `seconds`."""
        old = [
            key for key in keys
            if (known := self._known.get(key)) is None or self._age(known) > seconds
        ]  # fmt: skip
        if old:
            await self.look_up(old)

    async def look_up(self, keys: list[Key]) -> None:
        """What changed meanwhile is believed by who asks for it now, and by nobody later."""
        look_up = _LookUp({key: self._unwritten[key] for key in keys}, set())
        now = self._clock()
        self._look_ups.append(look_up)
        try:
            found = await self._ask(keys)
        finally:
            self._look_ups.remove(look_up)
        for key, free in found:
            if key in look_up.unseen:
                asked_at = -math.inf if key in look_up.outdated else now
                self._known[key] = _Allowance(free - look_up.unseen[key], asked_at)
                self._known.move_to_end(key)
        while len(self._known) > MOST_REMEMBERED:
            self._known.popitem(last=False)

    def _age(self, known: _Allowance) -> float:
        return self._clock() - known.asked_at


class Quota:
    def __init__(
        self, store: LeaseStore, *, limits_users: bool, clock: Clock = time.monotonic
    ) -> None:
        """Where all callers share an account its user is not limited."""
        self._store = store
        self._limits_users = limits_users
        self._hosts: _Remembered[Owned] = _Remembered(self._look_up_hosts, clock, -1.0)
        self._users: _Remembered[UserId] = _Remembered(
            store.free_of_users, clock, REMEMBER_FULL_SECONDS
        )
        self._changes = 0

    def forget(self) -> None:
        """Somebody changed what hosts may have: ask the database again."""
        self._changes += 1
        self._hosts.forget()
        self._users.forget()

    def leases_ended(self, user: UserId) -> None:
        """A host of this user handed results in, or leases back."""
        self._users.forget_full(user)

    def suffices(self, request: Request) -> bool:
        """Whether a call is known to be within all quotas."""
        return self._hosts.suffices((request.host, request.user), request.wanted) and (
            not self._limits_users or self._users.suffices(request.user, request.wanted)
        )

    def grant(self, host: HostId, user: UserId, leases: int) -> None:
        """A host is granted `leases`, which are written already as far as look-ups know."""
        self._hosts.grant((host, user), leases)
        self._users.grant(user, leases)

    def settle(self, host: HostId, user: UserId, granted: int, written: int) -> None:
        """Of this number of slots `granted` to a host these became leases, the others nothing."""
        self._hosts.settle((host, user), granted, written)
        self._users.settle(user, granted, written)

    async def slots(self, requests: Sequence[Request]) -> list[Slot]:
        """Grant what requests want as far as quotas allow, one to each before a second.

        To be followed by `settle`.
        """
        hosts: Counter[Owned] = Counter()
        users: Counter[UserId] = Counter()
        for request in requests:
            hosts[request.host, request.user] += request.wanted
            users[request.user] += request.wanted
        changes = None
        while changes != self._changes:  # what was looked up first may be forgotten by now
            changes = self._changes
            await self._hosts.ensure(hosts)
            if self._limits_users:
                await self._users.ensure(users)
        free_of_users = self._users.free(users) if self._limits_users else None
        granted = open_slots(requests, self._hosts.free(hosts), free_of_users)
        for slot in granted:
            self._hosts.grant_unwritten((slot.host, slot.user))
            self._users.grant_unwritten(slot.user)
        return granted

    async def used_up(self, host: HostId, user: UserId) -> str:
        """Whose quota leaves no room for another lease: "host", "user" or nobody's."""
        await self._hosts.look_up_older([(host, user)], JUST_NOW_SECONDS)
        if not self._hosts.free([(host, user)]).get((host, user), 0) > 0:
            return "host"
        if not self._limits_users:
            return ""
        await self._users.look_up_older([user], JUST_NOW_SECONDS)
        return "" if self._users.free([user]).get(user, 0) > 0 else "user"

    async def renew(self) -> None:
        """Look up what grows old, so that no call has to wait for it."""
        await self._hosts.renew()
        await self._users.renew()

    async def _look_up_hosts(self, owned: list[Owned]) -> Iterable[tuple[Owned, int]]:
        rows = await self._store.free_of_hosts([host for host, _ in owned])
        return (((host, user), free) for host, user, free in rows)


def open_slots(
    requests: Sequence[Request],
    free_of_hosts: Mapping[Owned, int],
    free_of_users: Mapping[UserId, int] | None = None,
) -> list[Slot]:
    """Slots as far as quotas allow, one to each request before a second.

    What a host or a user asks for in several requests comes out of one quota. Without
    `free_of_users` users are not limited.
    """
    hosts = dict(free_of_hosts)
    users = None if free_of_users is None else dict(free_of_users)
    slots: list[Slot] = []
    for turn in range(max((request.wanted for request in requests), default=0)):
        before = len(slots)
        for place, (host, user, wanted, speed) in enumerate(requests, 1):
            if turn >= wanted or hosts.get((host, user), 0) <= 0:
                continue
            if users is not None:
                if users.get(user, 0) <= 0:
                    continue
                users[user] -= 1
            hosts[host, user] -= 1
            slots.append(Slot(place, host, user, speed))
        if len(slots) == before:
            break  # nobody has room: a greedy request must not take a thousand turns
    return slots
