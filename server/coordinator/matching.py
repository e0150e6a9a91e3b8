"""Who gets what: fresh questions to most, and unrecognisably among them second opinions.

A question that was answered before goes only to users who have not seen it. Two kinds
are asked again: those whose answer waits for another user's, and, rarely, those whose
answer is known (*probes*).
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

from zermelo.server.chance import CHANCE

#: How many lease numbers are reserved at once.
BLOCK = 1 << 16


class Slot(NamedTuple):
    """One workunit wanted; `request` counts from 1 within the batch."""

    request: int
    host: int
    user: int
    speed: float


class Again(NamedTuple):
    """A question to be asked again, and the users who know it already."""

    workunit: int
    users: Sequence[int]


class Assignment(NamedTuple):
    workunit: int
    #: Which slot gets it, from 1.
    place: int
    probe: bool


def open_slots(
    wanted: Sequence[tuple[int, int, float]],
    terms: dict[int, tuple[int, int]],
    free_of_users: Mapping[int, int] = MappingProxyType({}),
) -> list[Slot]:
    """Slots of (host, number, speed) as far as quotas allow, one to each before a second.

    `terms` has user and free leases of every host, `free_of_users` those of users where they
    are limited; what a host or a user asks for in several requests comes out of one quota.
    """
    free = {host: allowance for host, (_, allowance) in terms.items()}
    left = dict(free_of_users)
    slots: list[Slot] = []
    for turn in range(max((number for _, number, _ in wanted), default=0)):
        for request, (host, number, speed) in enumerate(wanted, 1):
            if turn < number and free.get(host, 0) > 0:
                user = terms[host][0]
                if left.get(user, 1) > 0:
                    free[host] -= 1
                    if user in left:
                        left[user] -= 1
                    slots.append(Slot(request, host, user, speed))
    return slots


def assign(
    slots: Sequence[Slot],
    again: Sequence[Again],
    probes: Sequence[Again],
    probe_rate: float,
    chance: random.Random = CHANCE,
) -> list[Assignment]:
    """Give questions that are asked again to slots of users who have not seen them."""
    assigned: list[Assignment] = []
    places = list(range(len(slots)))
    chance.shuffle(places)
    left = list(probes)
    chance.shuffle(left)
    for place in [place for place in places if left and chance.random() < probe_rate]:
        probe = next((item for item in left if slots[place].user not in item.users), None)
        if probe is not None:
            left.remove(probe)
            places.remove(place)
            assigned.append(Assignment(probe.workunit, place + 1, probe=True))
    for item in again:
        fitting = next((place for place in places if slots[place].user not in item.users), None)
        if fitting is not None:
            places.remove(fitting)
            assigned.append(Assignment(item.workunit, fitting + 1, probe=False))
    return assigned


def lease_parameters(
    slots: Sequence[Slot], first: int, assigned: Sequence[Assignment] = ()
) -> dict[str, Any]:
    """Slots, the number of the first lease, and what was chosen for some of the slots.

    In the form in which the query `lease_workunits` takes them.
    """
    return {
        "first_lease": first,
        "requests": [slot.request for slot in slots],
        "hosts": [slot.host for slot in slots],
        "speeds": [slot.speed for slot in slots],
        "again": [item.workunit for item in assigned],
        "again_places": [item.place for item in assigned],
        "again_probes": [item.probe for item in assigned],
    }


def leases_of_block(block: int) -> range:
    """The lease numbers of a block that the query `reserve_leases` gave."""
    return range(block * BLOCK, (block + 1) * BLOCK)
