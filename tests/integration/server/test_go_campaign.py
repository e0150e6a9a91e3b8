"""Campaigns far too large to be solved here: they run, split, and say what they know."""

from __future__ import annotations

import pytest

from tests.support.effort import first_of
from tests.support.harness import Solve
from zermelo.server.campaigns import campaign_summary, create_campaign
from zermelo.server.check import check_database
from zermelo.server.database import Connection
from zermelo.server.planning.campaign_plan import SPLITS_AHEAD

STEPS = 8


@pytest.mark.long
@pytest.mark.parametrize("spec", first_of(["go:5x5", "go:7x7"]))
def test_an_opening_campaign_keeps_its_clients_busy(connection: Connection, spec: str) -> None:
    campaign = create_campaign(connection, spec, node_budget=400, replication="none")
    solve = Solve(connection, campaign, clients=2)
    for step in range(STEPS):
        if step == STEPS // 2:
            solve.restart_generator()
        solve.step()
        # One of them has just answered.
        assert sum(bool(host.holding) for host in solve.hosts) == solve.clients - 1
    solve.plan.step(solve.demand())
    summary = campaign_summary(connection, campaign.name)
    assert summary.answered + summary.splits == STEPS
    assert summary.splits > STEPS // 2
    # The tree grows with what was asked: below it, and only so far beside it.
    expanded = connection.execute(
        "SELECT count(*) FROM nodes WHERE children <> '{}'"
    ).fetchone()
    assert expanded
    assert expanded[0] <= summary.splits + (SPLITS_AHEAD + 1) * summary.workunits
    lo, hi = summary.bounds
    assert -campaign.game.max_score <= lo < hi <= campaign.game.max_score
    assert summary.remaining
    assert summary.remaining_factor
    # 5x5 is known to take thousands of millions, and nobody knows what 7x7 takes.
    assert summary.remaining * summary.remaining_factor > 1e9
    assert summary.remaining_factor > 10
    assert check_database(connection) == []
