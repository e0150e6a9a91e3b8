"""Hosts that take work and never answer delay a campaign little: bench/hoarders.py in short."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from bench.virtual.clock import VirtualClock
from bench.virtual.fleet import Puzzle
from bench.virtual.hoarders import Outcome, late_position, solve_beside_hoarders
from bench.virtual.oracle import Oracle
from tests.support.coordinator import Queue
from tests.support.databases import new_database
from zermelo.engine import open_engine
from zermelo.games import Bounds, open_game
from zermelo.server.check import check_database
from zermelo.server.coordinator.in_process import InProcessCoordinator
from zermelo.server.database import Connection, connect_once

SMALL = open_game("reversi:4x4")
TARGET_SECONDS = 60.0
#: How much longer a campaign may take beside one hoarder for four honest hosts.
MOST = 1.3
#: How fast the honest search beside it, by what they do alone.
LEAST_PACE = 0.85
NEW_USERS_QUOTA = 2


def test_leases_end_in_virtual_time(connection: Connection, queue: Queue) -> None:
    clock = VirtualClock(connection)
    coordinator = InProcessCoordinator(connection, lease_seconds=60.0)
    queue.add()
    assert len(coordinator.request(coordinator.register("ada"))) == 1
    clock.set(59.0)
    assert coordinator.expire() == 0
    clock.set(61.0)
    assert coordinator.expire() == 1


def test_hoarders_hold_no_more_than_a_new_user_may(
    connection: Connection, tmp_path: Path
) -> None:
    told = solve_beside_hoarders(
        connection, Oracle(SMALL, tmp_path / "answers.sqlite"), Puzzle(None, "score", None),
        honest=8, hoarders=2, speed=0.3, target_seconds=TARGET_SECONDS,
    )  # fmt: skip
    assert Bounds(*told.bounds) == open_engine(SMALL).solve(SMALL.initial()).bounds
    assert 0 < told.most_held <= 2 * NEW_USERS_QUOTA
    assert check_database(connection) == []


def beside_hoarders(postgres: str, oracle: Oracle, puzzle: Puzzle, hoarders: int) -> Outcome:
    with new_database(postgres) as url, connect_once(url) as connection:
        return solve_beside_hoarders(
            connection, oracle, puzzle, honest=16, hoarders=hoarders, speed=4.0,
            target_seconds=TARGET_SECONDS,
        )


@pytest.mark.long
@pytest.mark.repeated  # eight campaigns, as bench/hoarders.py
def test_a_fifth_of_hoarders_delays_a_campaign_little(postgres: str, tmp_path: Path) -> None:
    """One campaign differs from the next by more than that, so the mean of several counts.

    They differ in the nodes that are searched. The pace of the honest hardly does, so that its
    limit is closer.
    """
    game = open_game("reversi:6x6")
    oracle = Oracle(game, tmp_path / "answers.sqlite")
    ratios, paces = [], []
    for seed in range(2, 6):
        puzzle = Puzzle(late_position(game, 12, seed), "score", None)
        alone, beside = (beside_hoarders(postgres, oracle, puzzle, hoarders) for hoarders in (0, 4))
        assert alone.bounds == beside.bounds
        ratios.append(beside.seconds / alone.seconds)
        paces.append(beside.pace / alone.pace)
    assert math.prod(ratios) ** (1 / len(ratios)) <= MOST, ratios
    assert math.prod(paces) ** (1 / len(paces)) >= LEAST_PACE, paces
