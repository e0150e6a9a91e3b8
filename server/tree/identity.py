"""Names of nodes: 63-bit hashes that any service can compute, and what happens where two collide.

A position is named by the first of its hashes (the *probes* 0, 1, 2, ...) that no other position
holds. Nearly always that is the first; with three billion nodes one collision is to be expected.
Names are never taken away from a position, and a dropped campaign leaves those behind that others
had to give way to, so whoever looks for a position finds it by trying its hashes in turn.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from hashlib import blake2b
from typing import NamedTuple

from zermelo.games import Key

NodeId = int
CampaignId = int

#: How many bits of the hash are used: a bigint has no room for more.
BITS = 63


#: The key and the history of a canonical position.
Place = tuple[Key, bytes]
#: Stands for every position of another campaign.
ELSEWHERE: Place = (b"", b"")


class Names(NamedTuple):
    """The ids of places, and of those that had to give way the ids that others hold."""

    ids: dict[Place, NodeId]
    displaced: dict[Place, list[NodeId]]


def node_id(campaign: CampaignId, place: Place, probe: int = 0) -> NodeId:
    """One of the hashes of a place in a campaign."""
    key, history = place
    digest = blake2b(
        key + history, digest_size=8, key=campaign.to_bytes(2, "big"),
        salt=probe.to_bytes(4, "big"),
    )  # fmt: skip
    return int.from_bytes(digest.digest(), "big") >> (64 - BITS)


def find_names(
    campaign: CampaignId,
    places: Iterable[Place],
    held: Callable[[list[NodeId]], Mapping[NodeId, Place]],
) -> Names:
    """The names that places of a campaign have, or will have if they are inserted together, in
    this order.

    `held` tells which of some ids are names already, and of what.
    """
    names = Names({}, {})
    given: dict[NodeId, Place] = {}
    waiting, probe = list(dict.fromkeys(places)), 0
    while waiting:
        hashes = [node_id(campaign, place, probe) for place in waiting]
        holders = held(hashes)
        displaced = []
        for place, id_ in zip(waiting, hashes, strict=True):
            if given.setdefault(id_, holders.get(id_, place)) == place:
                names.ids[place] = id_
            else:
                names.displaced.setdefault(place, []).append(id_)
                displaced.append(place)
        waiting, probe = displaced, probe + 1
    return names
