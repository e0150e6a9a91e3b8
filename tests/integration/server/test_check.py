"""What is wrong with a tree is found, and by the check that is meant for it."""

from __future__ import annotations

from typing import LiteralString

import pytest

from tests.support.harness import Solve
from zermelo.server.campaigns import create_campaign
from zermelo.server.check import check_database
from zermelo.server.database import Connection

#: A node of which its children prove something, the child of some node, a node that nobody was
#: asked about and one that somebody was.
PLACES = """
    CREATE TEMPORARY TABLE places AS SELECT
        (SELECT min(id) FROM nodes WHERE children <> '{}' AND hi < 16) AS backed_up,
        (SELECT min(children[1]) FROM nodes WHERE children <> '{}') AS child,
        (SELECT min(id) FROM nodes WHERE children IS NULL AND lo = -16 AND hi = 16) AS frontier,
        (SELECT min(node) FROM evidence) AS proved
"""
DAMAGE: dict[LiteralString, set[str]] = {
    "UPDATE nodes SET lo = -16, hi = 16 FROM places WHERE id = backed_up":
        {"check_loose_bounds", "check_unjustified_bounds"},
    "UPDATE nodes SET hi = lo FROM places WHERE id = backed_up": {"check_unjustified_bounds"},
    "UPDATE nodes SET lo = lo + 1 FROM places WHERE id = frontier": {"check_unjustified_bounds"},
    "UPDATE nodes SET lo = -99 FROM places WHERE id = frontier": {"check_contradictory_nodes"},
    "UPDATE nodes SET lo = -16, hi = 16 FROM places WHERE id = proved":
        {"check_unjustified_bounds"},
    "DELETE FROM nodes USING places WHERE id = child": {"check_missing_children"},
    "UPDATE nodes SET parent = id, parents = NULL FROM places WHERE id = child":
        {"check_unknown_parents"},
}  # fmt: skip


@pytest.mark.parametrize("statement", DAMAGE)
def test_damage_to_a_tree_is_found(connection: Connection, statement: LiteralString) -> None:
    campaign = create_campaign(connection, "reversi:4x4", node_budget=40, replication="none")
    solve = Solve(connection, campaign, clients=2)
    for _ in range(8):
        solve.step()
    assert check_database(connection) == []
    connection.execute(PLACES)
    assert connection.execute(statement).rowcount == 1
    assert {violation.check for violation in check_database(connection)} >= DAMAGE[statement]
