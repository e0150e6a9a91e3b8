"""Taking back what rests on answers that are no longer believed.

This is the only place where bounds become looser, and each time it is in the audit. What
rests on a doubted result is found through provenance: its evidence, the bounds backed up
from them, and the answers that were found with its bounds as seeds. The caller holds the
tree lock of the campaign in the running transaction.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import NamedTuple

from zermelo.server.campaigns import Campaign
from zermelo.server.database import Connection
from zermelo.server.listening import notify
from zermelo.server.tree.identity import NodeId
from zermelo.server.trust.audit import record
from zermelo.server.trust.voting import DISPUTE_QUORUM
from zermelo.server.vocabulary import Answer, Channel, ResultState
from zermelo.sql import query

log = logging.getLogger(__name__)


class Retracted(NamedTuple):
    """What a retraction took out: results, those that rested on them, nodes with looser bounds."""

    results: int
    resting: int
    nodes: int


def retract_doubted(connection: Connection, campaign: Campaign) -> Retracted | None:
    """Take every doubted result of a campaign out of its tree; None when there is none."""
    rows = connection.execute(query("doubted_results"), (campaign.id,)).fetchall()
    if not rows:
        return None
    return _retract(connection, campaign, [row[0] for row in rows], ResultState.RETRACTED)


def dispute(
    connection: Connection, campaign: Campaign, contested: Sequence[int]
) -> Retracted:
    """Take results out and have their questions decided by more users."""
    retracted = _retract(connection, campaign, contested, ResultState.UNCONFIRMED)
    connection.execute(
        query("dispute_answers"), {"results": list(contested), "quorum": DISPUTE_QUORUM}
    )
    notify(connection, Channel.READY, campaign.id)
    return retracted


def _retract(
    connection: Connection, campaign: Campaign, results: Sequence[int], state: str
) -> Retracted:
    resting = _closure(connection, campaign, results)
    every = [*results, *resting]
    told: list[str] = []
    for those, becomes in ((results, state), (resting, ResultState.RETRACTED)):
        rows = connection.execute(
            query("retract_results"), {"results": list(those), "state": becomes}
        )
        told += [row[0] for row in rows]
    loosened = _loosen(connection, every)
    parameters = {"campaign": campaign.id, "results": every}
    connection.execute(query("withdraw_unfounded"), parameters)
    connection.execute(query("reopen_unanswered"), {"results": every})
    if loosened:
        connection.execute(query("reopen_tests"), {"campaign": campaign.id})
    if loosened or resting or Answer.EXHAUSTED in told:  # else no plan was made from them
        connection.execute(query("begin_revision"), (campaign.id,))
    retracted = Retracted(len(results), len(resting), loosened)
    summary = (
        f"{retracted.results} results ({state}), {retracted.resting} that rested on them,"
        f" {retracted.nodes} bounds"
    )
    record(connection, "assimilator", "retract", f"campaign {campaign.name}", summary)
    log.warning("campaign %s: taken out of the tree: %s", campaign.name, summary)
    notify(connection, Channel.TREE, campaign.id)
    return retracted


def _closure(connection: Connection, campaign: Campaign, results: Sequence[int]) -> list[int]:
    """All answers that were found with the help of these results, directly or not."""
    every = set(results)
    while True:
        rows = connection.execute(
            query("resting_on"), {"results": sorted(every), "campaign": campaign.id}
        ).fetchall()
        if not rows:
            return sorted(every - set(results))
        every.update(row[0] for row in rows)


def _loosen(connection: Connection, results: Sequence[int]) -> int:
    """Take evidence away and recompute what it held up, to the root; how many nodes changed."""
    rows = connection.execute(query("remove_evidence"), (list(results),)).fetchall()
    level = {row[0] for row in rows}
    changed: set[NodeId] = set()
    while level:
        rows = connection.execute(query("recompute_nodes"), {"ids": sorted(level)}).fetchall()
        level = set()
        for node, parent, parents in rows:
            changed.add(node)
            level.add(parent)
            level.update(parents or ())
    return len(changed)
