"""Definitions in campaigns: their distributed value, their certificates, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.definitions import TIC_TAC_TOE, play_text
from tests.support.harness import Solve
from tests.support.minimax import minimax
from zermelo import ZermeloError
from zermelo.checker import verify
from zermelo.checker.registry import open_checker
from zermelo.engine import open_engine
from zermelo.games import Bounds, open_game
from zermelo.games.definition import library, sources
from zermelo.games.definition.library import remember
from zermelo.proof.export import export_proof
from zermelo.server.campaigns import create_campaign, find_campaign, list_campaigns
from zermelo.server.check import check_database
from zermelo.server.database import Connection
from zermelo.sql import query


@pytest.mark.parametrize(("spec", "node_budget"), [
    ("mnk:3x3", 20), ("dots-and-boxes:1x2", 10), ("kalah:2x2", 5), ("nim:2-3-3", 5),
    ("alquerque:3x3,plies=2", 60), ("frogs:2x2", 5),
])
def test_campaign_engine_and_checker_agree(
    connection: Connection, tmp_path: Path, spec: str, node_budget: int
) -> None:
    """Moving again, chains, counters, heaps and one player; workunits have only a few nodes."""
    campaign = create_campaign(connection, spec, node_budget=node_budget, replication="none")
    game = open_game(spec)
    value = minimax(game, game.initial())
    assert Solve(connection, campaign, clients=2).run() == Bounds(value, value)
    assert check_database(connection) == []
    assert open_engine(game, hash_mb=1).solve(game.initial()).bounds == Bounds(value, value)
    for full in (False, True):
        path = tmp_path / f"{full}.proof"
        made = export_proof(connection, find_campaign(connection, campaign.name), path, full=full)
        report = verify(path)
        assert report.complete
        assert report.header.bounds == Bounds(value, value) == made.header.bounds
        assert not (full and report.leaves)


def test_an_unfinished_campaign_proves_what_it_has(
    connection: Connection, tmp_path: Path
) -> None:
    """The side of the bounds that only the rules give needs no entries."""
    campaign = create_campaign(connection, "mnk:3x3", node_budget=20, replication="none")
    solve = Solve(connection, campaign, clients=1)
    while not solve.plan.bounds.lo > -1 and not solve.plan.bounds.hi < 1:
        solve.step()
    export_proof(connection, find_campaign(connection, campaign.name), tmp_path / "half")
    assert verify(tmp_path / "half").complete


def forget(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make this process one that has read no definition."""
    monkeypatch.setattr(library, "_remembered", {})
    sources._remembered.clear()
    open_game.cache_clear()


def test_a_campaign_keeps_the_text_of_its_game(
    connection: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another process, which never read the file, opens the game by what the database has."""
    game = play_text(TIC_TAC_TOE)
    remember(game.definition)
    campaign = create_campaign(connection, game.spec, name="mine")
    assert connection.execute(
        query("find_definition"), {"digest": game.definition.digest}
    ).fetchall() == [(TIC_TAC_TOE,)]
    forget(monkeypatch)
    with pytest.raises(ZermeloError, match="not known here"):
        open_game(campaign.spec)
    assert find_campaign(connection, "mine").game.max_score == 1
    forget(monkeypatch)
    assert [each.game.name for each in list_campaigns(connection)] == ["tic-tac-toe"]


def test_the_rules_that_made_a_proof_do_not_check_it() -> None:
    with pytest.raises(ZermeloError, match="own reading"):
        open_checker(open_game("nim:1-2"))
