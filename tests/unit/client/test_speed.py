"""Speed is by processor time: a computer that is busy with others is not slow."""

from __future__ import annotations

import time
from typing import Any

import pytest

from tests.support.clocks import replace_in
from tests.support.effort import first_of
from zermelo.client import searcher as searcher_module
from zermelo.client.searcher import Searcher
from zermelo.client.speed import MEMORY, Speed
from zermelo.engine import SearchReport, Status
from zermelo.engine import reversi as engine_module
from zermelo.games import Bounds, open_game
from zermelo.proto import coordinator_pb2 as pb

GAME = open_game("reversi:8x8")
#: How much of the time other programs take: all but one part in so many.
BUSY = 20
SECONDS = 0.4


@pytest.mark.parametrize(
    "name", first_of(["monotonic", "perf_counter"])
)
def test_a_busy_computer_measures_what_an_idle_one_does(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    idle = Searcher(hash_mb=1).measure(GAME.spec, SECONDS)
    clock = getattr(time, name)
    for module in (searcher_module, engine_module):
        replace_in(monkeypatch, module, "time", **{name: lambda: BUSY * clock()})
    busy = Searcher(hash_mb=1).measure(GAME.spec, BUSY * SECONDS)
    assert idle / 4 < busy < idle * 4


class SleepyEngine:
    """Half a second passes, and nothing is computed."""

    game = GAME

    def solve(self, *_: Any, **__: Any) -> SearchReport:
        time.sleep(0.5)
        return SearchReport(Status.SOLVED, Bounds(1, 64), None, (), nodes=1000, seconds=0.5)


def test_a_result_tells_its_processor_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(searcher_module, "open_engine", lambda *_, **__: SleepyEngine())
    workunit = pb.Workunit(
        lease_id=1, game=GAME.spec, position=GAME.encode(GAME.canonical(GAME.initial())),
        threshold=1, node_budget=10**6,
    )  # fmt: skip
    result = Searcher(hash_mb=1).solve(workunit)
    assert isinstance(result, pb.Result)
    assert result.milliseconds < 250


def test_results_refine_the_speed_and_the_time_that_passes_apart() -> None:
    speed = Speed()
    speed.measured(10)
    speed.finished(nodes=1000, seconds=1.0, passed=10.0)
    assert speed.current == 1000
    assert speed.workunit_seconds == 10.0
    speed.finished(nodes=3000, seconds=1.0, passed=20.0)
    assert speed.current == round((1000 * MEMORY + 3000) / (MEMORY + 1))
    assert speed.workunit_seconds == pytest.approx(10 * MEMORY + 20 * (1 - MEMORY))
