"""Backing bounds up the tree, a batch at a time.

Whoever calls this holds the tree lock of the campaign in the running transaction. A
contradiction (``lo > hi``) is never written: `Contradiction` names the nodes, the
caller rolls back and decides which results to quarantine.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from zermelo.server.arrays import array
from zermelo.server.database import Connection
from zermelo.server.tree.identity import CampaignId, NodeId
from zermelo.sql import query


class Evidence(NamedTuple):
    """A result proves ``lo <= score(node) <= hi``."""

    node: NodeId
    result: int
    lo: int
    hi: int


class Contradiction(Exception):  # noqa: N818 - an event of the search, not of the program
    """Bounds that cannot both be true met at these nodes."""

    def __init__(self, nodes: list[NodeId]) -> None:
        super().__init__(f"contradictory bounds at {len(nodes)} nodes")
        self.nodes = nodes


def add_evidence(
    connection: Connection, campaign: CampaignId, evidence: Iterable[Evidence]
) -> set[NodeId]:
    """Record evidence, tighten its nodes and everything above; the nodes that changed."""
    evidence = list(evidence)
    if not evidence:
        return set()
    nodes, results, lo, hi = (array(column) for column in zip(*evidence, strict=True))
    columns = {"nodes": nodes, "results": results, "lo": lo, "hi": hi}
    connection.execute(query("insert_evidence"), columns)
    changed, parents = _tighten(connection, query("apply_evidence"), columns)
    return changed | back_up(connection, campaign, parents, also_changed=changed)


def back_up(
    connection: Connection,
    campaign: CampaignId,
    expanded: Iterable[NodeId],
    *,
    also_changed: Iterable[NodeId] = (),
) -> set[NodeId]:
    """Recompute these nodes from their children, then their parents, until nothing changes.

    Publishes and returns the nodes that changed.
    """
    changed = set(also_changed)
    level = set(expanded)
    while level:
        newly, level = _tighten(connection, query("back_up_nodes"), {"ids": array(sorted(level))})
        changed |= newly
    if changed:
        connection.execute(
            query("publish_changes"), {"nodes": array(sorted(changed)), "campaign": campaign}
        )
    return changed


def _tighten(
    connection: Connection, statement: bytes, arguments: dict[str, str | list[Any]]
) -> tuple[set[NodeId], set[NodeId]]:
    """Run a tightening statement: the nodes it changed and the parents of those."""
    rows = connection.execute(statement, arguments).fetchall()
    contradictory = [node for node, _, _, bad in rows if bad]
    if contradictory:
        raise Contradiction(contradictory)
    changed = {node for node, _, _, _ in rows}
    parents = {parent for _, parent, _, _ in rows}
    for _, _, further, _ in rows:
        parents.update(further or ())
    return changed, parents
