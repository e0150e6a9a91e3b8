"""Who stands in a certificate: the users whose results prove its leaves."""

from __future__ import annotations

from collections import Counter

from zermelo.proof.strategy import find_strategy, leaf_evidence
from zermelo.server.campaigns import Campaign
from zermelo.server.database import Connection
from zermelo.server.tree.tree import Tree
from zermelo.sql import query


def leaves_by_user(connection: Connection, campaign: Campaign) -> Counter[str]:
    """How many leaves of the campaign's certificate rest on a result of each user.

    A leaf that several results prove counts for each of their users.
    """
    tree = Tree(connection, campaign.id, campaign.game)
    owners = dict(connection.execute(query("owners_of_hosts")).fetchall())
    counts: Counter[str] = Counter()
    for at_least in (True, False):
        strategy = find_strategy(tree, campaign, at_least=at_least)
        if strategy is None:
            continue
        leaves = [statement for statement, reason in strategy.reasons.items() if reason.leaf]
        evidence = leaf_evidence(connection, [leaf.node for leaf in leaves])
        for leaf in leaves:
            bound = strategy.bound_of(leaf)
            counts.update({
                owners[one.host] for one in evidence.get(leaf.node, ())
                if (one.lo >= bound if leaf.at_least else one.hi <= bound)
            })  # fmt: skip
    return counts
