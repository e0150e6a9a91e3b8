"""The distributed value equals the engine's, with histories in every workunit.

Budgets are small on purpose: the tree is split far down, and most answers depend on what
was on the board before.
"""

from __future__ import annotations

import pytest

from tests.go.positions import go
from tests.server.harness import Solve
from zermelo.engine.go import GoEngine
from zermelo.server.campaigns import create_campaign
from zermelo.server.check import check_database
from zermelo.server.database import Connection

SMALL = [(1, 1), (1, 2), (1, 3), (1, 4), (2, 2), (2, 3), (2, 4), (3, 3)]
CASES = [
    *((f"{rows}x{cols}", budget) for rows, cols in SMALL for budget in (40, 1500)),
    *(("3x4", budget) for budget in (8_000, 60_000)),
]


@pytest.mark.parametrize("rules", ["ko=psk", "ko=basic"])
@pytest.mark.parametrize(("size", "node_limit"), CASES)
def test_distributed_equals_the_engine(
    connection: Connection, size: str, rules: str, node_limit: int
) -> None:
    game = go(f"{size},{rules}")
    value = GoEngine(game).solve(game.initial()).bounds
    campaign = create_campaign(connection, game.spec, node_limit=node_limit)
    assert Solve(connection, campaign, clients=3).run() == value
    assert check_database(connection) == []
