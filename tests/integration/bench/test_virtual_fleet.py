"""The simulated fleet of bench/fleet.py is honest: its clock, its costs and its answers."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

import pytest

from bench.virtual import oracle as oracle_module
from bench.virtual.fleet import LATENCY, TICK, Fleet, Job, Puzzle, simulate
from bench.virtual.oracle import Ask, Oracle
from bench.virtual.timeline import MOST_STRETCHES, State, Timeline, table
from zermelo.engine import open_engine
from zermelo.games import Bounds, open_game
from zermelo.server.campaigns import campaign_summary, create_campaign
from zermelo.server.check import check_database
from zermelo.server.database import Connection

GAME = open_game("reversi:4x4")
SPEED = 1.0  # budgets of at most 60 nodes, so that some searches run out


@pytest.fixture
def oracle(tmp_path: Path) -> Oracle:
    return Oracle(GAME, tmp_path / "answers.sqlite")


@dataclass
class Watched(Fleet):
    """A fleet that notes when it served, and who worked from when to when."""

    times: list[float] = field(default_factory=list)
    shifts: dict[int, list[tuple[float, float]]] = field(default_factory=lambda: defaultdict(list))

    def _serve(self, done: list[Job]) -> None:
        self.times.append(self.now)
        super()._serve(done)

    def _account(self, job: Job, until: float) -> None:
        self.shifts[job.client.host].append((job.started, max(job.started, until)))
        super()._account(job, until)


def watched(connection: Connection, oracle: Oracle, clients: int) -> Watched:
    campaign = create_campaign(connection, GAME.spec, target_seconds=60.0, replication="none")
    # The services' own time differs from run to run.
    fleet = Watched(connection, campaign, oracle, clients, SPEED, times_services=False)
    fleet.run()
    return fleet


@pytest.mark.parametrize("clients", [1, 6, 20])
def test_a_fleet_finds_what_the_engine_finds(
    connection: Connection, oracle: Oracle, clients: int
) -> None:
    run = simulate(connection, oracle, Puzzle(None, "score", None), clients, SPEED)
    assert Bounds(*run["bounds"]) == open_engine(GAME).solve(GAME.initial()).bounds
    assert run["workunits"] > clients
    assert run["splits"] > 0 or clients > 1, "no search ran out"
    assert check_database(connection) == []


def test_a_single_question_is_answered_and_no_more(
    connection: Connection, oracle: Oracle
) -> None:
    value = open_engine(GAME).solve(GAME.initial()).bounds.lo
    puzzle = Puzzle(None, "score", Bounds(value - 1, GAME.max_score))
    bounds = Bounds(*simulate(connection, oracle, puzzle, 4, SPEED)["bounds"])
    assert bounds.lo >= value - 1
    assert not bounds.exact


def test_one_client_takes_the_sum_of_the_costs(connection: Connection, oracle: Oracle) -> None:
    fleet = watched(connection, oracle, clients=1)
    (shifts,) = fleet.shifts.values()
    nodes = campaign_summary(connection, fleet.campaign.name).nodes
    assert fleet.searched == pytest.approx(nodes)
    assert fleet.busy_seconds == pytest.approx(nodes / SPEED)
    assert fleet.now == pytest.approx(nodes / SPEED + len(shifts) * (LATENCY + TICK))


def test_time_runs_forward_and_nobody_is_in_two_places(
    connection: Connection, oracle: Oracle
) -> None:
    fleet = watched(connection, oracle, clients=7)
    assert len(fleet.shifts) == 7
    assert fleet.times == sorted(fleet.times)
    assert len(set(fleet.times)) == len(fleet.times)
    for shifts in fleet.shifts.values():
        for (_, until), (since, _) in pairwise(shifts):
            assert until < since
    worked = sum(until - since for shifts in fleet.shifts.values() for since, until in shifts)
    assert fleet.busy_seconds == pytest.approx(worked)
    assert fleet.busy_seconds <= 7 * fleet.now


def test_the_fleet_counts_what_the_database_counts(
    connection: Connection, oracle: Oracle
) -> None:
    fleet = watched(connection, oracle, clients=7)
    unfinished = sum(
        max(0.0, fleet.now - job.started) * job.client.speed for job in fleet.jobs.values()
    )
    nodes = campaign_summary(connection, fleet.campaign.name).nodes
    dropped = len(fleet.shifts)  # each cancelled lease is rounded to whole nodes
    assert fleet.searched - unfinished == pytest.approx(nodes, abs=dropped)


def test_the_timeline_says_what_the_run_says(connection: Connection, oracle: Oracle) -> None:
    run = simulate(connection, oracle, Puzzle(None, "score", None), 7, SPEED)
    states = [State(*state) for state in run["timeline"]]
    assert all(earlier.seconds < later.seconds for earlier, later in pairwise(states))
    for earlier, later in pairwise(states):
        assert earlier.busy_seconds <= later.busy_seconds + 1e-6
        assert earlier.answers <= later.answers
    last = states[-1]
    assert last.seconds == run["seconds"]
    assert last.nodes == pytest.approx(run["nodes"], abs=1)
    assert 1 - last.busy_seconds / last.seconds / 7 == pytest.approx(run["idle_share"])
    assert last.services == pytest.approx(sum(run["service_seconds"].values()))
    heading, *stretches = table(states, 7, 5)
    assert "idle" in heading
    assert 0 < len(stretches) <= 6


def test_a_long_timeline_gets_coarser() -> None:
    timeline = Timeline()
    nothing = State(*[0] * len(State._fields))
    for second in range(10 * MOST_STRETCHES):
        if timeline.due(second):
            timeline.note(nothing._replace(seconds=second))
    seconds = [state.seconds for state in timeline.states]
    assert MOST_STRETCHES // 2 <= len(seconds) <= MOST_STRETCHES
    assert seconds[0] == 0
    assert seconds[-1] > 9 * MOST_STRETCHES


def test_memory_changes_nothing(
    connection: Connection, oracle: Oracle, tmp_path: Path
) -> None:
    puzzle = Puzzle(None, "score", Bounds(0, GAME.max_score))
    first = simulate(connection, oracle, puzzle, 1, SPEED, times_services=False)
    reopened = Oracle(GAME, tmp_path / "answers.sqlite")
    connection.execute("UPDATE campaigns SET name = 'before'")
    second = simulate(connection, reopened, puzzle, 1, SPEED, times_services=False)
    assert first["new_answers"] > 0
    assert second["new_answers"] == 0
    same = ("seconds", "bounds", "nodes", "workunits", "splits", "tree_nodes")
    assert [first[name] for name in same] == [second[name] for name in same]


def test_several_cores_find_the_same_answers(oracle: Oracle, tmp_path: Path) -> None:
    keys = GAME.encode(GAME.canonical(GAME.initial()))
    for _ in range(3):
        keys = oracle.engines[0].expand(keys).children
    asks = [
        Ask(keys[at : at + 16], threshold, node_budget)
        for at in range(0, len(keys), 16)
        for threshold, node_budget in [(0, 10**6), (1, 5)]
    ]
    several = Oracle(GAME, tmp_path / "several.sqlite", cores=3)
    assert several.ask(asks) == oracle.ask(asks)
    assert {reply.answer for reply in oracle.ask(asks)} == {"yes", "no", "exhausted"}


def test_another_engine_does_not_inherit_answers(
    oracle: Oracle, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ask = Ask(GAME.encode(GAME.canonical(GAME.initial())), 0, 10**9)
    oracle.ask([ask])
    oracle.save()
    monkeypatch.setattr(oracle_module, "FINGERPRINT_PLIES", 8)  # other costs, another mark
    other = Oracle(GAME, tmp_path / "answers.sqlite")
    other.ask([ask])
    assert other.found == 1
