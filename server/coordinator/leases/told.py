"""What hosts without room for more leases were told, so that asking again too soon is cheap.

A client waits in its call, or asks again when it was told to, or when it has handed something in.
Whoever asks earlier, without waiting, would cost more statements than a call that gets work: it
gets the same answer from memory.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable

from zermelo.server.coordinator.leases.rows import HostId
from zermelo.server.trust.accounts import UserId
from zermelo.server.trust.shortage import Shortage

#: The shortages of one host or user, which end when it hands something in.
OWN = frozenset({Shortage.HOST_RESTS, Shortage.HOST_QUOTA, Shortage.USER_QUOTA})
#: Which part of the pause that a host was told is insisted on: it may hand something in at another
#: coordinator meanwhile.
INSISTED = 0.5
MOST_USERS = 50_000

#: Until when which host of a user is told what.
Page = dict[HostId, tuple[float, Shortage]]


class ToldShortages:
    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._told: OrderedDict[UserId, Page] = OrderedDict()

    def page(self, user: UserId) -> Page:
        """What hosts of this user are told, until there is news for them: then it is void."""
        page = self._told.setdefault(user, {})
        self._told.move_to_end(user)
        while len(self._told) > MOST_USERS:
            self._told.popitem(last=False)
        return page

    def tell(self, page: Page, host: HostId, shortage: Shortage, seconds: float) -> None:
        """A host, whose user had this page when it asked, is told to ask again after `seconds`."""
        if shortage in OWN:
            page[host] = self._clock() + INSISTED * seconds, shortage

    def again(self, host: HostId, user: UserId) -> Shortage | None:
        """What a host is told that asks again too soon."""
        until, shortage = self._told.get(user, {}).get(host, (0.0, None))
        return shortage if self._clock() < until else None

    def has_news(self, user: UserId) -> None:
        """A host of this user handed something in, or lost a lease: there may be room."""
        self._told.pop(user, None)

    def forget(self) -> None:
        """Somebody changed what hosts may have."""
        self._told.clear()
