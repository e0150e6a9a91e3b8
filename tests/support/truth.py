"""What is true of a tree, found by solving every node of it from scratch."""

from __future__ import annotations

from zermelo.engine import Status, Window, open_engine
from zermelo.server.campaigns import Campaign
from zermelo.server.database import Connection
from zermelo.server.tree.tree import Tree


def wrong_bounds(connection: Connection, campaign: Campaign) -> list[int]:
    """The nodes whose bounds exclude their true score."""
    engine = open_engine(campaign.game, hash_mb=1)
    tree = Tree(connection, campaign.id, campaign.game)
    ids = [row[0] for row in connection.execute(
        "SELECT id FROM nodes WHERE campaign = %s", (campaign.id,)
    ).fetchall()]
    wrong = []
    for node in tree.load(ids):
        position = tree.position(node)
        if campaign.game.is_final(position):
            continue
        score = campaign.game.score_range
        for threshold in (node.lo, node.hi + 1):
            answer = engine.solve(position, Window.question(threshold))
            assert answer.status is Status.SOLVED
            score &= answer.bounds
        if not (score.lo >= node.lo and score.hi <= node.hi):
            wrong.append(node.id)
    return wrong
