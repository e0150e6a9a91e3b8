"""The results on which bounds of the tree rest: from a node down to the evidence."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, NamedTuple

from zermelo.games import Bounds
from zermelo.server.campaigns import Campaign
from zermelo.server.database import Connection
from zermelo.server.tree.identity import NodeId
from zermelo.sql import query

Side = Literal["lo", "hi"]
SIDES: tuple[Side, Side] = ("lo", "hi")
OTHER: dict[Side, Side] = {"lo": "hi", "hi": "lo"}


class Evidence(NamedTuple):
    """What a result proves about a node, and how many users stand behind it."""

    result: int
    lo: int
    hi: int
    users: int


class Supported(NamedTuple):
    """A node, its children and the evidence about it."""

    lo: int
    hi: int
    children: list[NodeId]
    evidence: list[Evidence]


def responsible_results(
    connection: Connection, campaign: Campaign, nodes: Iterable[NodeId]
) -> list[int]:
    """The results on which the bounds of these nodes rest, the least supported alone."""
    supported = _support(connection, campaign, nodes, every_child=True)
    least = min(supported.values(), default=0)
    return sorted(result for result, users in supported.items() if users == least)


def proof_of_root(connection: Connection, campaign: Campaign) -> list[int]:
    """Results that together prove the bounds of the root."""
    return sorted(_support(connection, campaign, [campaign.root], every_child=False))


def _support(
    connection: Connection, campaign: Campaign, nodes: Iterable[NodeId], *, every_child: bool
) -> dict[int, int]:
    """The results on which bounds rest, with the number of users behind each.

    Walks down: a bound comes from evidence about the node or from its children, a lower
    bound from one of them, an upper bound from all. Without `every_child` one way to prove each
    bound is enough.
    """
    rules = campaign.game.score_range
    supported: dict[int, int] = {}
    level = {(node, side) for node in nodes for side in SIDES}
    seen = set(level)
    while level:
        found = _load(connection, {node for node, _ in level})
        below: set[tuple[NodeId, Side]] = set()
        refuting: list[tuple[int, list[NodeId]]] = []
        for node, side in level:
            own = _own(found[node], side, rules)
            if own is None:
                continue
            if not every_child:
                own = sorted(own, key=lambda item: -item.users)[:1]
            supported.update((item.result, item.users) for item in own)
            if own:
                continue
            if side == "hi" or every_child:
                below.update((child, OTHER[side]) for child in found[node].children)
            else:
                refuting.append((-found[node].lo, found[node].children))
        bounds = _load(connection, {child for _, children in refuting for child in children})
        for hi, children in refuting:
            below.update([(child, SIDES[1]) for child in children if bounds[child].hi <= hi][:1])
        level = below - seen
        seen |= level
    return supported


def _own(node: Supported, side: Side, rules: Bounds) -> Sequence[Evidence] | None:
    """The evidence about the node itself that gives this bound; None where the rules do."""
    bound: int = getattr(node, side)
    if bound == getattr(rules, side):
        return None
    return [item for item in node.evidence if getattr(item, side) == bound]


def _load(connection: Connection, nodes: set[NodeId]) -> Mapping[NodeId, Supported]:
    found: dict[NodeId, Supported] = {}
    for node, lo, hi, children, *item in connection.execute(
        query("node_evidence"), (sorted(nodes),)
    ):
        entry = found.setdefault(node, Supported(lo, hi, children or [], []))
        if item[0] is not None:
            entry.evidence.append(Evidence(*item))
    return found
