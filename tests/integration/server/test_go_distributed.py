"""The distributed value equals the engine's, with histories in every workunit.

Budgets are small on purpose: the tree is split far down, and most answers depend on what
was on the board before.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.effort import REPEATED
from tests.support.go_positions import go
from tests.support.harness import Solve
from zermelo.engine.go import GoEngine
from zermelo.server.campaigns import create_campaign
from zermelo.server.check import check_database
from zermelo.server.database import Connection

BUDGETS = {
    "1x1": (10, 1000), "1x2": (10, 1000), "1x3": (10, 1000), "1x4": (20, 1000),
    "2x2": (40, 1000), "2x3": (200, 2000), "2x4": (1500, 6000), "3x3": (800, 4000),
    "3x4": (60_000, 200_000),
}
CASES = [(size, node_budget) for size, budgets in BUDGETS.items() for node_budget in budgets]
#: The budgets of the short run: the smaller one, which splits more, where that takes about a
#: second. 3x4 takes several with any.
SHORT = {size: min(budgets) for size, budgets in BUDGETS.items()} | {"2x3": 2000, "3x4": 0}


def cases() -> list[Any]:
    return [
        pytest.param(
            size, node_budget, rules,
            marks=() if node_budget == SHORT[size] else REPEATED,
        )
        for size, node_budget in CASES
        for rules in ("ko=psk", "ko=basic")
    ]


@pytest.mark.parametrize(("size", "node_budget", "rules"), cases())
def test_distributed_equals_the_engine(
    connection: Connection, size: str, rules: str, node_budget: int
) -> None:
    game = go(f"{size},{rules}")
    value = GoEngine(game).solve(game.initial()).bounds
    campaign = create_campaign(connection, game.spec, node_budget=node_budget, replication="none")
    assert Solve(connection, campaign, clients=3).run() == value
    assert check_database(connection) == []
