"""The simulated clients of bench/store.py keep work in store, and lose nothing by it."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.virtual.fleet import Puzzle
from bench.virtual.oracle import Oracle
from bench.virtual.storing import StoringFleet, solve_with_store
from zermelo.client.intake import MOST_FOR_OWNER
from zermelo.engine import open_engine
from zermelo.games import Bounds, open_game
from zermelo.server.campaigns import create_campaign
from zermelo.server.check import check_database
from zermelo.server.database import Connection

GAME = open_game("reversi:4x4")


@pytest.fixture
def oracle(tmp_path: Path) -> Oracle:
    return Oracle(GAME, tmp_path / "answers.sqlite")


@pytest.mark.parametrize("store_seconds", [0.0, 20.0])
def test_a_fleet_with_a_store_finds_what_the_engine_finds(
    connection: Connection, oracle: Oracle, store_seconds: float
) -> None:
    told = solve_with_store(
        connection, oracle, Puzzle(None, "score", None), clients=4, speed=20.0,
        target_seconds=10.0, store_seconds=store_seconds, mature=True,
    )  # fmt: skip
    assert Bounds(*told.bounds) == open_engine(GAME).solve(GAME.initial()).bounds
    assert check_database(connection) == []
    assert (told.ended_in_store > 0) == (store_seconds > 0)


def test_a_store_holds_what_takes_so_long(connection: Connection, oracle: Oracle) -> None:
    campaign = create_campaign(connection, GAME.spec, target_seconds=10.0)
    fleet = StoringFleet(
        connection, campaign, oracle, 1, 20.0, times_services=False, mature=True,
        store_seconds=20.0,
    )  # fmt: skip
    (client,) = fleet.idle
    wanted = {}
    for mean in (1e-9, 1.0, 5.0, 15.0, 25.0):
        fleet._means[client.host] = mean
        wanted[mean] = fleet._wanted(client, set())
    assert wanted == {1e-9: MOST_FOR_OWNER, 1.0: 20, 5.0: 4, 15.0: 2, 25.0: 0}
