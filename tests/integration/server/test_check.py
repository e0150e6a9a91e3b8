"""What is wrong with a tree is found, and by the check that is meant for it."""

from __future__ import annotations

from typing import LiteralString

import pytest
from tests.support.harness import Solve

from zermelo.server.campaigns import create_campaign
from zermelo.server.check import check_database
from zermelo.server.database import Connection

#: A node with children, one of these, a node that nobody was asked about, and one that somebody was.
PARENT: LiteralString = "(SELECT id FROM nodes WHERE children <> '{}' ORDER BY id LIMIT 1)"
CHILD: LiteralString = f"(SELECT children[1] FROM nodes WHERE id = {PARENT})"
FRONTIER: LiteralString = (
    "(SELECT nodes.id FROM nodes WHERE children IS NULL AND lo < hi"
    " AND NOT EXISTS (SELECT FROM evidence WHERE node = nodes.id) ORDER BY id LIMIT 1)"
)
PROVED: LiteralString = "(SELECT node FROM evidence ORDER BY node LIMIT 1)"
DAMAGE: dict[LiteralString, tuple[str, ...]] = {
    "UPDATE nodes SET lo = -16, hi = 16 WHERE id = (SELECT id FROM nodes"
    " WHERE children <> '{}' AND hi < 16 ORDER BY id LIMIT 1)": (
        "check_loose_bounds", "check_unjustified_bounds",
    ),
    f"UPDATE nodes SET lo = lo + 1 WHERE id = {FRONTIER}": ("check_unjustified_bounds",),
    f"UPDATE nodes SET lo = -16, hi = 16 WHERE id = {PROVED}": ("check_unjustified_bounds",),
    f"DELETE FROM nodes WHERE id = {CHILD}": ("check_missing_children",),
    f"UPDATE nodes SET parent = id, parents = NULL WHERE id = {CHILD}": ("check_unknown_parents",),
    f"UPDATE nodes SET lo = -99 WHERE id = {FRONTIER}": ("check_contradictory_nodes",),
}  # fmt: skip


@pytest.mark.parametrize("statement", DAMAGE)
def test_damage_to_a_tree_is_found(connection: Connection, statement: LiteralString) -> None:
    campaign = create_campaign(connection, "reversi:4x4", node_budget=40, replication="none")
    solve = Solve(connection, campaign, clients=2)
    for _ in range(8):
        solve.step()
    assert check_database(connection) == []
    assert connection.execute(statement).rowcount == 1
    found = {violation.check for violation in check_database(connection)}
    assert found.issuperset(DAMAGE[statement])
