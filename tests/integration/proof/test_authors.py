"""Who stands in a certificate."""

from __future__ import annotations

from tests.support.harness import Solve
from zermelo.proof.authors import leaves_by_user
from zermelo.proof.strategy import find_strategy
from zermelo.server.campaigns import create_campaign, find_campaign
from zermelo.server.database import Connection
from zermelo.server.tree.tree import Tree

SPEC = "reversi:4x4"


def test_every_leaf_is_somebodys(connection: Connection) -> None:
    campaign = create_campaign(connection, SPEC, node_budget=40, replication="none")
    Solve(connection, campaign, clients=3, users=True).run()
    campaign = find_campaign(connection, SPEC)
    counts = leaves_by_user(connection, campaign)
    tree = Tree(connection, campaign.id, campaign.game)
    leaves = 0
    for at_least in (True, False):
        strategy = find_strategy(tree, campaign, at_least=at_least)
        assert strategy is not None
        leaves += sum(reason.leaf is not None for reason in strategy.reasons.values())
    assert set(counts) <= {"user 0", "user 1", "user 2"}
    # Nothing is compared here, so each leaf rests on one result, or on several of several users.
    assert sum(counts.values()) >= leaves > 0
    assert max(counts.values()) <= leaves
