"""Checking the invariants of a live database, by the rules and by nothing cached.

Everything is read in one snapshot, so a running solve does not look like a violation.
Each check is a query that returns the rows that break one rule; expansion and final
scores, which SQL cannot know, are checked against the rules of the game.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import NamedTuple

from psycopg import IsolationLevel

from zermelo.engine.portable import PortableEngine
from zermelo.server.campaigns import Campaign, list_campaigns
from zermelo.server.database import Connection
from zermelo.server.tree.identity import CampaignId
from zermelo.server.tree.tree import Node, Tree
from zermelo.sql import query

#: What the queries of sql/queries/check.sql find.
CHECKS = {
    "check_contradictory_nodes": "bounds contradict each other",
    "check_loose_bounds": "bounds are looser than the children prove",
    "check_unjustified_bounds": "bounds rest on no valid result, child or rule",
    "check_missing_children": "children are not in the tree",
    "check_unknown_parents": "a child does not know this parent",
    "check_evidence": "evidence rests on no believed result, or says more than it",
    "check_lease_ends": "a lease ended in no way or in several",
    "check_returned_leases": "a returned lease has no result",
    "check_results": "a result belongs to no lease of its workunit",
    "check_idle_leased": "a workunit is leased, but nobody works on it",
    "check_lost_returned": "a workunit waits for a result that nobody has",
    "check_opposed_answers": "answers that contradict each other are both believed",
    "check_disputes": "a dispute is not being decided",
    "check_wrong_answers": "an answered workunit's question is open in the tree",
    "check_split_frontier": "a split workunit's node was not expanded",
    "check_finished_campaigns": "a finished campaign's goal is not proved",
    "check_open_after_the_end": "an ended campaign has open workunits",
    "check_tests": "a test's answer is not what the root's bounds say",
    "check_totals": "the totals do not add up",
    "check_contributions": "what came of a host's results is not what was counted",
    "check_workunit_blocks": "lists of workunits do not find these",
    "check_paid_again": "lifting a ban paid a result more than before",
    "check_credit": "credit for results is missing in a host's sums",
}
#: Those that have no query of their own: `check_children` tells them.
OF_CHILDREN = {"check_loose_bounds", "check_missing_children", "check_unknown_parents"}
#: Expanded nodes checked against the rules in each campaign; all of them in small trees.
SAMPLE = 500


class Violation(NamedTuple):
    check: str
    campaign: str
    #: What breaks the rule, such as ``node 123``.
    what: str
    detail: str

    def __str__(self) -> str:
        return f"{self.campaign}: {self.what}: {self.detail}"


def check_database(connection: Connection) -> list[Violation]:
    """Every violation of an invariant; none in a healthy database."""
    former = connection.isolation_level
    connection.isolation_level = IsolationLevel.REPEATABLE_READ
    try:
        with connection.transaction():
            return list(_violations(connection))
    finally:
        connection.isolation_level = former


def _violations(connection: Connection) -> Iterator[Violation]:
    campaigns = list_campaigns(connection)
    names = {campaign.id: campaign.name for campaign in campaigns}
    going = {row[0] for row in connection.execute(query("dropped_campaigns"))}
    for check, owner, what in _found(connection):
        if owner in going:
            continue  # its rows are being removed
        yield Violation(check, names.get(owner, "?"), what, CHECKS[check])
    for campaign in campaigns:
        yield from _check_rules(connection, campaign)


def _found(connection: Connection) -> Iterator[tuple[str, CampaignId, str]]:
    """Check, campaign and name of what breaks a rule that SQL knows."""
    yield from connection.execute(query("check_children"))
    for check in CHECKS:
        if check in OF_CHILDREN:
            continue
        for campaign, what in connection.execute(query(check)):
            yield check, campaign, what


def _check_rules(connection: Connection, campaign: Campaign) -> Iterator[Violation]:
    """Nodes against the rules: their ids, their children, the scores of final positions."""
    tree = Tree(connection, campaign.id, campaign.game)
    engine = PortableEngine(campaign.game)
    rows = connection.execute(query("check_expanded_ids"), (campaign.id,)).fetchall()
    ids = [row[0] for row in rows]
    if len(ids) > SAMPLE:
        ids = random.sample(ids, SAMPLE)
    nodes = tree.load([*ids, campaign.root])
    for node, below in zip(nodes, tree.ids_below(nodes, engine), strict=True):
        for detail in _faults(tree, node, below):
            yield Violation("check_rules", campaign.name, f"node {node.id}", detail)


def _faults(tree: Tree, node: Node, below: list[int]) -> Iterator[str]:
    (found,) = tree.find([(node.key, node.history)])
    if found is None or found.id != node.id:
        yield "the id is not that of its position"
    if node.children is not None and sorted(node.children) != sorted(below):
        yield "the children are not those of the rules"
    if not below and node.children == ():
        score = tree.game.score(tree.position(node))
        if (node.lo, node.hi) != (score, score):
            yield f"the final score is {score}, not {node.lo}..{node.hi}"
