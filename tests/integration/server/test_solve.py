"""The distributed value equals plain minimax, however small the pieces."""

from __future__ import annotations

import random
from typing import Any

import pytest

from tests.support.effort import REPEATED, first_of
from tests.support.harness import Solve
from tests.support.minimax import KNOWN_VALUES, minimax
from zermelo.cli.solve.local_run import DEMO_NODE_BUDGET
from zermelo.engine import open_engine
from zermelo.games import Bounds, Game, open_game
from zermelo.server.campaigns import campaign_summary, create_campaign
from zermelo.server.check import check_database
from zermelo.server.database import Connection
from zermelo.server.planning import campaign_plan
from zermelo.server.planning.campaign_plan import CampaignPlan, Demand


def agrees(bounds: Bounds, value: int, goal: str) -> bool:
    if goal == "score":
        return bounds == Bounds(value, value)
    outcome = (value > 0) - (value < 0)
    known = 1 if bounds.lo > 0 else -1 if bounds.hi < 0 else 0
    return known == outcome and bounds.lo <= value <= bounds.hi


def late_position(game: Game[Any], empties: int, seed: int) -> str:
    """A position that random play reaches with this number of plies left."""
    chance = random.Random(seed)
    while True:
        position = game.initial()
        while game.plies_left(position) > empties and (moves := game.moves(position)):
            position = game.play(position, chance.choice(moves))
        if game.moves(position):
            return game.format(position)


def test_plain_minimax_confirms_the_smallest_board() -> None:
    game = open_game("reversi:4x4")
    assert minimax(game, game.initial()) == KNOWN_VALUES["reversi:4x4"]


@pytest.mark.parametrize("goal", ["score", "outcome"])
@pytest.mark.parametrize("node_budget", first_of([8, 1000, 60], 2))
@pytest.mark.parametrize("clients", first_of([4, 1]))
def test_smallest_board(
    connection: Connection, goal: str, node_budget: int, clients: int
) -> None:
    campaign = create_campaign(
        connection, "reversi:4x4", goal=goal, node_budget=node_budget, replication="none"
    )
    bounds = Solve(connection, campaign, clients=clients).run()
    assert agrees(bounds, KNOWN_VALUES["reversi:4x4"], goal)
    assert check_database(connection) == []


@pytest.mark.parametrize(("spec", "goal", "node_budget", "clients"), [
    ("reversi:4x5", "score", 400, 3),
    pytest.param("reversi:4x5", "outcome", 40, 2, marks=REPEATED),
    pytest.param("reversi:5x4", "outcome", 100, 4, marks=REPEATED),
])
def test_twenty_squares(
    connection: Connection, spec: str, goal: str, node_budget: int, clients: int
) -> None:
    campaign = create_campaign(
        connection, spec, goal=goal, node_budget=node_budget, replication="none"
    )
    bounds = Solve(connection, campaign, clients=clients).run()
    assert agrees(bounds, KNOWN_VALUES[spec], goal)
    summary = campaign_summary(connection, campaign.name)
    assert summary.state == "finished"
    assert summary.line
    assert check_database(connection) == []


@pytest.mark.parametrize(
    "seed", first_of(range(8), 2)
)
def test_late_positions(connection: Connection, seed: int) -> None:
    chance = random.Random(seed)
    game = open_game(chance.choice(["reversi:6x6", "reversi:8x8", "reversi:5x7"]))
    position = late_position(game, 7, seed)
    value = minimax(game, game.parse(position))
    for goal in ("score", "outcome"):
        campaign = create_campaign(
            connection, game.spec, name=goal, position=position, goal=goal,
            node_budget=chance.choice([3, 10, 40]), replication="none",
        )
        solve = Solve(connection, campaign, clients=chance.randint(1, 4), seed=seed)
        assert agrees(solve.run(), value, goal)
    assert check_database(connection) == []


def test_what_can_be_asked_does_not_wait_for_all_splits(
    connection: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Steps end after a split, and the rest is split and asked in later ones."""
    monkeypatch.setattr(campaign_plan, "MOST_SPLITS_A_STEP", 1)
    campaign = create_campaign(connection, "reversi:4x4", node_budget=8, replication="none")
    bounds = Solve(connection, campaign, clients=8).run()
    assert agrees(bounds, KNOWN_VALUES["reversi:4x4"], "score")
    assert check_database(connection) == []


def test_a_generator_that_dies_loses_nothing(connection: Connection) -> None:
    campaign = create_campaign(connection, "reversi:4x4", node_budget=20, replication="none")
    solve = Solve(connection, campaign, clients=3)
    for _ in range(10_000):
        solve.restart_generator()
        solve.step()
        if solve.plan.finished:
            break
    assert solve.plan.bounds == Bounds(-8, -8)
    assert check_database(connection) == []


def test_a_finished_campaign_is_found_again(connection: Connection) -> None:
    campaign = create_campaign(
        connection, "reversi:4x4", goal="outcome", node_budget=500, replication="none"
    )
    Solve(connection, campaign).run()
    again = create_campaign(connection, "reversi:4x4", goal="outcome", replication="none")
    assert (again.id, again.state) == (campaign.id, "finished")
    assert campaign_summary(connection, "reversi:4x4").outcome == "the second player wins"


@pytest.mark.parametrize("node_budget", [None, DEMO_NODE_BUDGET])
def test_a_demo_asks_about_parts_however_fast_its_computer(
    connection: Connection, node_budget: int | None
) -> None:
    campaign = create_campaign(connection, "reversi:6x6", node_budget=node_budget)
    plan = CampaignPlan(connection, campaign, open_engine(campaign.game))
    for step in range(3):
        plan.step(Demand(workers=1, speed=1e9, now=step / 10))
    row = connection.execute("SELECT min(ply) FROM workunits").fetchone()
    # All first moves of the board are the same up to symmetry, so one ply is the whole game, too.
    assert row
    assert row[0] >= 2 if node_budget else row[0] == 0
