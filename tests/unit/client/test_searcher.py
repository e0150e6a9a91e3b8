"""From workunit to result, on the engine for every game."""

from __future__ import annotations

import itertools
import threading
from typing import Any

import pytest

from tests.support.clocks import replace_in
from tests.support.coordinator import wait_until
from zermelo.client import searcher as module
from zermelo.client.searcher import Dropped, Interruption, Searcher
from zermelo.client.speed import Speed
from zermelo.engine import Engine, open_engine
from zermelo.engine.capabilities import HasPasses, Sharpens
from zermelo.engine.portable import PortableEngine
from zermelo.games import Game, open_game
from zermelo.proto import coordinator_pb2 as pb
from zermelo.proto.known import KnownBounds, from_message, to_message

GAME = open_game("reversi:4x4")


@pytest.fixture
def searcher(monkeypatch: pytest.MonkeyPatch) -> Searcher:
    def portable(game: Game[object], **_: object) -> PortableEngine:
        return PortableEngine(game)

    monkeypatch.setattr(module, "open_engine", portable)
    return Searcher(hash_mb=1)


def workunit(threshold: int, node_budget: int = 10**9, spec: str = GAME.spec) -> pb.Workunit:
    game = open_game(spec)
    root = game.canonical(game.initial())
    return pb.Workunit(
        lease_id=1, game=spec, position=game.encode(root), threshold=threshold,
        node_budget=node_budget,
    )


def solved(outcome: pb.Result | Dropped) -> pb.Result:
    assert isinstance(outcome, pb.Result)
    return outcome


@pytest.mark.parametrize(("threshold", "answer"), [(-8, pb.YES), (-7, pb.NO), (16, pb.NO)])
def test_answers(searcher: Searcher, threshold: int, answer: int) -> None:
    result = solved(searcher.solve(workunit(threshold)))
    assert result.answer == answer
    assert result.lo <= -8 <= result.hi
    assert result.nodes > 0


def test_an_exhausted_search_brings_home_what_it_proved(searcher: Searcher) -> None:
    result = solved(searcher.solve(workunit(-8, node_budget=200)))
    assert result.answer == pb.EXHAUSTED
    proved = from_message(result.proved)
    assert proved
    truth = PortableEngine(GAME)
    for item in proved:
        position = GAME.decode(item.key)
        assert GAME.encode(GAME.canonical(position)) == item.key
        exact = truth.solve(position).bounds
        assert item.lo <= exact.lo <= item.hi


def test_known_bounds_save_work(searcher: Searcher, monkeypatch: pytest.MonkeyPatch) -> None:
    question = workunit(-8)
    alone = solved(searcher.solve(question)).nodes
    truth = PortableEngine(GAME)
    child = GAME.canonical(GAME.play(GAME.initial(), GAME.moves(GAME.initial())[0]))
    value = truth.solve(child).bounds
    known = [KnownBounds(GAME.encode(child), b"", value.lo, value.hi)]
    question.known.CopyFrom(to_message(known))
    fresh = Searcher(hash_mb=1)
    assert solved(fresh.solve(question)).nodes < alone


def test_a_running_search_is_dropped(searcher: Searcher) -> None:
    outcomes: list[pb.Result | Dropped] = []
    hard = workunit(1, spec=open_game("reversi:8x8").spec)
    thread = threading.Thread(target=lambda: outcomes.append(searcher.solve(hard)))
    thread.start()
    wait_until(lambda: searcher.progress()[0] >= 100)
    searcher.interrupt(Interruption.DROP)
    # It would take years; how soon a search stops is measured by bench/client.py.
    thread.join(120)
    (outcome,) = outcomes
    assert isinstance(outcome, Dropped)
    assert outcome.nodes >= 100


def test_a_drop_before_the_start_counts_and_is_not_remembered(searcher: Searcher) -> None:
    searcher.interrupt(Interruption.DROP)
    assert searcher.solve(workunit(0)) == Dropped(nodes=0)
    searcher.renew()
    assert solved(searcher.solve(workunit(0))).answer == pb.NO


def test_a_computer_too_busy_to_search_in_time_is_measured_all_the_same(
    searcher: Searcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    hours = itertools.count(step=3600.0)
    replace_in(monkeypatch, module, "time", monotonic=lambda: next(hours))
    assert searcher.measure("reversi:6x6", 1.0) > 1_000


def test_the_speed_of_a_benchmark_gives_way_to_searches() -> None:
    speed = Speed()
    speed.measured(1000)
    speed.finished(nodes=3, seconds=0.001)
    assert speed.current == 1000
    speed.finished(nodes=5000, seconds=1.0)
    speed.measured(7)
    assert speed.current == 5000


@pytest.mark.parametrize("threads", [1, 2])
def test_threads_answer_together(threads: int) -> None:
    result = solved(Searcher(hash_mb=1, threads=threads).solve(workunit(-8)))
    assert result.answer == pb.YES
    assert result.nodes > 0


@pytest.mark.parametrize(("node_budget", "short"), [(module.SHORT_NODES, True), (10**9, False)])
def test_passes_come_before_short_questions_alone(
    monkeypatch: pytest.MonkeyPatch, node_budget: int, short: bool
) -> None:
    """What they find is in no checkpoint, and a long search may have to go on from one."""
    opened = []

    def opening(game: Game[object], **options: Any) -> Engine:
        opened.append(open_engine(game, **options))
        return opened[-1]

    monkeypatch.setattr(module, "open_engine", opening)
    Searcher(hash_mb=1).solve(workunit(-8, node_budget))
    (engine,) = opened
    assert isinstance(engine, HasPasses)
    assert engine.passes_for_questions is short
    assert isinstance(engine, Sharpens)
    assert engine.sharpens_answers
