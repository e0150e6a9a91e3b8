"""Assigning workunits to calls: from what is prefetched, or from the queue.

From memory a call is served without any statement. From the queue all calls that wait share two:
workunits are taken into a hold, then their leases are written.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from zermelo.server.chance import CHANCE
from zermelo.server.coordinator.leases.prefetch import Prefetch
from zermelo.server.coordinator.leases.quota import Quota, Slot
from zermelo.server.coordinator.leases.rows import Leased, Prefetched, Request
from zermelo.server.coordinator.leases.second_opinions import SecondOpinions
from zermelo.server.coordinator.leases.store import LeaseStore

#: Nodes a second of a host that has not said how fast it is.
DEFAULT_SPEED = 100_000.0
#: No engine is slower than this anywhere. A host that says so measured nothing, and would get
#: questions that end before anybody could learn how fast it is.
LEAST_SPEED = 1_000.0


class Assigner:
    def __init__(
        self,
        store: LeaseStore,
        quota: Quota,
        second_opinions: SecondOpinions,
        prefetch: Prefetch,
    ) -> None:
        self._store, self._quota = store, quota
        self._second_opinions, self._prefetch = second_opinions, prefetch
        #: Lease numbers of ours that are not used yet.
        self._numbers = range(0)

    @property
    def asks_others(self) -> bool:
        """Whether workunits wait for the answer of another user, as far as is known."""
        return self._second_opinions.waiting

    def work_may_be_ready(self) -> None:
        """Whatever was ready or not may have changed."""
        self._second_opinions.work_may_be_ready()

    def assign_at_once(self, request: Request) -> list[Leased]:
        """Leases of prefetched workunits; none when these, or what must be known, are missing.

        Where answers are compared every call takes the long way, so that none can tell by
        its time whether it got a workunit that others were asked.
        """
        if self._second_opinions.possible or len(self._numbers) < request.wanted:
            return []
        if not (self._store.writable and self._quota.suffices(request)):
            return []
        taken = self._prefetch.take(request.wanted)
        slot = Slot(1, request.host, request.user, request.speed)
        leased = self._number([(item, slot) for item in taken])
        if leased:
            self._store.lease_behind(leased)
            self._quota.grant(request.host, request.user, len(leased))
        return leased

    async def assign(self, requests: Sequence[Request]) -> tuple[list[Leased], list[int]]:
        """Leases for requests from the queue, and how many each could have had by its quota.

        Most are of fresh workunits, most urgent first; some were asked of others before.
        """
        slots = await self._quota.slots(requests)
        granted = Counter(slot.request for slot in slots)
        leased: list[Leased] = []
        try:
            if slots:
                leased = await self._lease(slots)
        finally:
            written = Counter(item.request for item in leased)
            for place, number in granted.items():
                request = requests[place - 1]
                self._quota.settle(request.host, request.user, number, written[place])
        return leased, [granted[place] for place in range(1, len(requests) + 1)]

    async def _lease(self, slots: Sequence[Slot]) -> list[Leased]:
        chosen = await self._second_opinions.choose(slots)
        taken = await self._store.take(len(slots) - len(chosen), list(chosen.values()))
        pairs = _matched(taken, slots, {item: place for place, item in chosen.items()})
        if chosen:
            CHANCE.shuffle(pairs)  # lease numbers must not tell who was asked again
        # Not before: calls that are served at once use numbers up while a statement runs.
        if len(self._numbers) < len(pairs):
            try:
                self._numbers = await self._store.reserve_leases()
            except BaseException:
                self._store.give_up({item.hold for item in taken})
                raise
        leased = self._number(pairs)
        return sorted(leased) if leased and await self._store.lease(leased) else []

    def _number(self, pairs: Sequence[tuple[Prefetched, Slot]]) -> list[Leased]:
        """Leases of workunits for slots, with numbers of ours."""
        numbers, self._numbers = self._numbers[:len(pairs)], self._numbers[len(pairs):]
        return [
            Leased(slot.request, slot.host, lease, node_budget(item, slot.speed), *item)
            for lease, (item, slot) in zip(numbers, pairs, strict=True)
        ]


def node_budget(item: Prefetched, speed: float) -> int:
    """How many nodes a host may spend: what it searches in the campaign's target time."""
    speed = max(speed, LEAST_SPEED) if speed > 0 else DEFAULT_SPEED
    nodes = round(max(1.0, item.target_seconds * speed))
    return nodes if item.max_node_budget is None else min(item.max_node_budget, nodes)


def _matched(
    taken: Sequence[Prefetched], slots: Sequence[Slot], places: dict[tuple[int, bool], int]
) -> list[tuple[Prefetched, Slot]]:
    """Workunits chosen for a slot with that slot, the others with the other slots in turn."""
    given = set(places.values())
    others = (slot for place, slot in enumerate(slots) if place not in given)
    pairs = []
    for item in taken:
        place = places.get((item.workunit, item.probe))
        pairs.append((item, next(others) if place is None else slots[place]))
    return pairs
