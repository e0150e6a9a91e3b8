"""Names of nodes: 63-bit hashes that any service can compute without asking."""

from __future__ import annotations

from hashlib import blake2b

from zermelo.games import Key

NodeId = int
CampaignId = int


def node_id(campaign: CampaignId, key: Key, history: bytes = b"") -> NodeId:
    """The id of the node of a canonical position; two that collide are told apart on insert."""
    digest = blake2b(key + history, digest_size=8, key=campaign.to_bytes(2, "big"))
    return int.from_bytes(digest.digest(), "big") >> 1
