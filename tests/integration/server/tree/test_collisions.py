"""Hashes so short that most positions collide: every one still has a node of its own."""

from __future__ import annotations

import pytest

from tests.support.harness import Solve
from zermelo.engine import open_engine
from zermelo.research.tree_queries import TreeQueries
from zermelo.server.campaigns import create_campaign
from zermelo.server.check import check_database
from zermelo.server.database import Connection
from zermelo.server.growth import grow
from zermelo.server.tree import identity


@pytest.fixture(autouse=True)
def _short_hashes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(identity, "BITS", 10)


def displaced(connection: Connection) -> int:
    row = connection.execute("SELECT count(DISTINCT node) FROM displaced_nodes").fetchone()
    return int(row[0]) if row else 0


def test_the_value_is_right_although_most_names_collide(connection: Connection) -> None:
    for goal in ("outcome", "score"):  # the trees of two campaigns stand in each other's way
        campaign = create_campaign(
            connection, "reversi:4x4", name=goal, goal=goal, node_budget=8, replication="none"
        )
        solve = Solve(connection, campaign, clients=3)
        for _ in range(5):
            solve.step()
        solve.restart_generator()
        assert solve.run().hi < 0
    assert displaced(connection) > 20
    assert check_database(connection) == []
    found = TreeQueries(connection, campaign).position()
    assert (found.node, found.worth.lo, found.worth.hi) == (campaign.root, -8, -8)


def test_a_tree_grows_beside_another_with_its_names(connection: Connection) -> None:
    counts = []
    for name in ("first", "second"):
        campaign = create_campaign(connection, "reversi:6x6", name=name, replication="none")
        counts.append(grow(connection, campaign, open_engine(campaign.game, hash_mb=1), 5))
    assert counts == [1 + 1 + 3 + 14 + 60 + 314] * 2
    assert displaced(connection) > 20
    assert check_database(connection) == []
