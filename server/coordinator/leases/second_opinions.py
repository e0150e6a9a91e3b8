"""Second opinions: unrecognisably among fresh workunits, some that others were asked before.

Three kinds of workunits are asked again, only of users who have not seen them: those whose answer
waits for another user's, those that take another user too long and, rarely, those whose answer is
known (*probes*). Where there may be probes every call takes the same statements, so that nobody
can tell by the time whether it got a fresh workunit. Elsewhere it is remembered that no workunit
waits for another user, until somebody says that work is ready.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

from zermelo.server.chance import CHANCE
from zermelo.server.coordinator.leases.quota import Slot
from zermelo.server.coordinator.leases.rows import Again, WorkunitId
from zermelo.server.coordinator.leases.store import LeaseStore

#: Known answers to choose from, the latest.
MAX_PROBES = 256

#: Workunits to choose from at least: the users of a call may have seen the most urgent ones.
LEAST_AGAIN = 32


class SecondOpinions:
    def __init__(self, store: LeaseStore) -> None:
        self._store = store
        #: Whether a workunit waited for another user's answer, and whether one may by now.
        self._waiting, self._news = True, True
        self._looks = 0
        #: Which part of the leases shall be probes.
        self.probe_rate = 0.0
        self._probes: list[Again] = []
        #: Those given to somebody since the last renewal, and before it: what is looked up may not
        #: tell whom they were given to.
        self._given: set[WorkunitId] = set()
        self._given_before: set[WorkunitId] = set()

    @property
    def possible(self) -> bool:
        """Whether a call may get a workunit that others were asked before."""
        return self._waiting or self.probe_rate > 0

    @property
    def waiting(self) -> bool:
        """Whether workunits wait for the answer of another user, as far as is known."""
        return self._waiting or self._news

    def work_may_be_ready(self) -> None:
        """Somebody said that there is work; it may be for other users."""
        self._news = True

    async def look(self, most: int = 1) -> list[Again]:
        """Workunits that wait for another user's answer, if there may be any."""
        if not (self.possible or self._news):
            return []
        self._news = False  # word of others that comes from now on counts
        self._looks += 1
        look = self._looks
        try:
            again = await self._store.workunits_asked_again(most)
        except BaseException:
            self._news = True
            raise
        if look == self._looks:  # else a later look knows better
            self._waiting = bool(again)
        return again

    async def renew_probes(self) -> None:
        """Look for workunits with known answers, ahead of the calls that get them."""
        self._given_before, self._given = self._given, set()
        probes = await self._store.probes(MAX_PROBES) if self.probe_rate else []
        given = self._given_before | self._given
        self._probes = [item for item in probes if item.workunit not in given]

    async def choose(self, slots: Sequence[Slot]) -> dict[int, tuple[WorkunitId, bool]]:
        """For some of the slots, by their index, a workunit and whether it is a probe."""
        again = await self.look(max(LEAST_AGAIN, 2 * len(slots)))
        chosen = choose(slots, again, self._probes, self.probe_rate)
        if used := {workunit for workunit, probe in chosen.values() if probe}:
            self._given |= used
            self._probes = [item for item in self._probes if item.workunit not in used]
        return chosen


def choose(
    slots: Sequence[Slot],
    again: Sequence[Again],
    probes: Sequence[Again],
    probe_rate: float,
    chance: random.Random = CHANCE,
) -> dict[int, tuple[WorkunitId, bool]]:
    """Give workunits that are asked again to slots of users who have not seen them.

    Each slot gets a probe with the chance `probe_rate`, where there is one for its user.
    """
    chosen: dict[int, tuple[WorkunitId, bool]] = {}
    left = list(probes)
    chance.shuffle(left)
    places = list(range(len(slots)))
    chance.shuffle(places)

    def seen(item: Again, place: int) -> bool:
        return slots[place].user in item.users or slots[place].host in item.hosts

    for place in places if left else ():
        if chance.random() < probe_rate:
            probe = next((item for item in left if not seen(item, place)), None)
            if probe is not None:
                left.remove(probe)
                chosen[place] = probe.workunit, True
    places = [place for place in places if place not in chosen]
    for item in again:
        fitting = next((place for place in places if not seen(item, place)), None)
        if fitting is not None:
            places.remove(fitting)
            chosen[fitting] = item.workunit, False
    return chosen
