"""Definitions in campaigns: their distributed value on one machine, and what they refuse."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.harness import Solve
from tests.support.minimax import minimax
from zermelo import ZermeloError
from zermelo.checker.registry import open_checker
from zermelo.games import Bounds, open_game
from zermelo.proof.export import export_proof
from zermelo.server.campaigns import create_campaign
from zermelo.server.check import check_database
from zermelo.server.database import Connection


@pytest.mark.parametrize(("spec", "node_budget"), [
    ("mnk:3x3", 20), ("dots-and-boxes:1x2", 10), ("kalah:2x2", 5), ("nim:2-3-3", 5),
    ("alquerque:3x3,plies=2", 60),
])
def test_the_distributed_value_is_that_of_minimax(
    connection: Connection, spec: str, node_budget: int
) -> None:
    """Moving again, chains, counters and heaps; each workunit has only a few nodes."""
    campaign = create_campaign(
        connection, spec, node_budget=node_budget, replication="none", local=True
    )
    value = minimax(open_game(spec), open_game(spec).initial())
    assert Solve(connection, campaign, clients=2).run() == Bounds(value, value)
    assert check_database(connection) == []


def test_definitions_do_not_go_to_volunteers(connection: Connection) -> None:
    with pytest.raises(ZermeloError, match="do not travel to volunteers yet"):
        create_campaign(connection, "mnk:3x3")


def test_there_are_no_certificates_of_definitions(connection: Connection, tmp_path: Path) -> None:
    campaign = create_campaign(connection, "nim:1-2", replication="none", local=True)
    Solve(connection, campaign, clients=1).run()
    with pytest.raises(ZermeloError, match="no rules of its own"):
        export_proof(connection, campaign, tmp_path / "nim.proof")
    assert not (tmp_path / "nim.proof").exists()
    with pytest.raises(ZermeloError, match="no rules of its own"):
        open_checker(campaign.game)
