"""Stopping and going on: limits, aborts, known bounds, checkpoints. Same tests, all engines."""

from __future__ import annotations

import contextlib
import random
import struct
import threading
import time
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, NamedTuple

import pytest

from tests.support.effort import first_of
from tests.support.machine import INSTRUCTIONS
from tests.support.oracle import Position, random_play, reversi, scoring, settled, whole_tree
from zermelo.engine import (
    ALGORITHMS,
    CheckpointError,
    Engine,
    EngineError,
    Known,
    SearchReport,
    Status,
    Window,
)
from zermelo.engine.portable import PortableEngine
from zermelo.engine.reversi import ReversiEngine
from zermelo.games import Bounds, Game

THRESHOLD_RANGE = 5
PATIENCE = 180.0  # seconds until a test that waits for a thread gives up


class Case(NamedTuple):
    """An engine with a position that keeps it busy for a while."""

    make: Callable[..., Engine]
    game: Game[Any]
    position: Position
    value: int
    nodes: int  # that an uninterrupted search takes, about


@cache
def _portable_position() -> tuple[Position, int]:
    """A position of 4x4 that is neither won nor lost by a lot, nor quickly solved."""
    tree, rng, game = whole_tree(), random.Random(8), reversi("reversi:4x4")
    while True:
        position = random_play(game, rng, 8)
        value = tree.value(game, position)
        if abs(value) <= 4 and PortableEngine(game).solve(position).nodes > 250:
            return position, value


@pytest.fixture(params=["two threads", "portable", *first_of(INSTRUCTIONS)])
def case(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Case:
    if request.param == "portable":
        game = reversi("reversi:4x4")
        position, value = _portable_position()
        nodes = PortableEngine(game).solve(position).nodes
        return Case(PortableEngine, game, position, value, nodes)
    game, threads = reversi("reversi:5x5"), 1
    if request.param in INSTRUCTIONS:
        monkeypatch.setenv("ZERMELO_INSTRUCTIONS", request.param)
    else:
        threads = 2

    def make(game: Any) -> Engine:
        return ReversiEngine(game, threads=threads, hash_mb=8)

    answer = make(game).solve(game.initial())
    assert answer.bounds.exact
    return Case(make, game, game.initial(), answer.bounds.lo, answer.nodes)


@pytest.fixture
def judge(case: Case) -> Callable[[Position], int]:
    """The true value of a position, from an engine that nobody stops."""
    engine = case.make(case.game)
    engine.solve(case.position)

    def value(position: Position) -> int:
        bounds = engine.solve(position).bounds
        assert bounds.exact
        return bounds.lo

    return value


def check_stopped(case: Case, answer: SearchReport, judge: Callable[[Position], int]) -> None:
    assert answer.bounds.lo <= case.value <= answer.bounds.hi
    for item in answer.proved:
        assert item.bounds != case.game.score_range
        assert item.bounds.lo <= judge(item.position) <= item.bounds.hi


# -- node limits -----------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("share", first_of([0.0, 0.01, 0.3, 0.9, 0.1, 0.6], 4))
def test_a_node_budget_leaves_true_bounds(
    case: Case, judge: Callable[[Position], int], share: float
) -> None:
    limit = max(1, int(share * case.nodes))
    answer = case.make(case.game).solve(case.position, node_budget=limit)
    check_stopped(case, answer, judge)
    if case.nodes > 10_000 and share <= 0.3:
        assert answer.status is Status.EXHAUSTED
        assert answer.nodes < case.nodes
        below = {case.game.encode(p) for p in _two_plies(case.game, case.position)}
        assert {case.game.encode(item.position) for item in answer.proved} <= below
    if answer.status is Status.SOLVED:
        assert answer.bounds.exact
        assert answer.proved == ()


def _two_plies(game: Game[Any], position: Any) -> Iterator[Any]:
    for move in game.moves(position):
        child = game.play(position, move)
        yield child
        for reply in game.moves(child):
            yield game.play(child, reply)


@pytest.mark.slow
def test_a_limit_that_is_not_reached_changes_nothing(case: Case) -> None:
    answer = case.make(case.game).solve(case.position, node_budget=100 * case.nodes)
    assert answer.status is Status.SOLVED
    assert answer.bounds == Bounds(case.value, case.value)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_every_algorithm_keeps_to_a_limit(case: Case, algorithm: str) -> None:
    answer = case.make(case.game).solve(case.position, algorithm=algorithm, node_budget=200)
    assert answer.bounds.lo <= case.value <= answer.bounds.hi
    assert answer.nodes < 20_000
    if answer.status is not Status.SOLVED:
        assert answer.status is Status.EXHAUSTED
        assert answer.line == () or isinstance(case.make(case.game), PortableEngine)


def test_going_on_with_what_was_proved_gives_the_same_value(case: Case) -> None:
    """Each round a new engine that knows only what the one before has proved."""
    known: list[Known] = []
    limit, bounds = max(50, case.nodes // 20), case.game.score_range
    rounds, answer = 0, None
    while (answer is None or answer.status is not Status.SOLVED) and rounds < 12:
        rounds += 1
        answer = case.make(case.game).solve(case.position, node_budget=limit, known=known)
        bounds = bounds & answer.bounds  # contradictory bounds raise
        assert bounds.lo <= case.value <= bounds.hi
        known = [*known, *answer.proved, Known(case.position, bounds)]
        limit *= 2
    assert answer is not None
    assert answer.status is Status.SOLVED
    assert answer.bounds == Bounds(case.value, case.value)
    assert rounds > 1


def test_the_same_engine_goes_on_where_it_stopped(case: Case) -> None:
    engine = case.make(case.game)
    first = engine.solve(case.position, node_budget=case.nodes // 2)
    second = engine.solve(case.position)
    assert second.bounds == Bounds(case.value, case.value)
    if first.status is not Status.SOLVED:
        assert second.nodes < case.nodes


# -- questions -------------------------------------------------------------------------------


def test_questions_are_answered_yes_or_no(case: Case) -> None:
    engine = case.make(case.game)
    for threshold in range(case.value - THRESHOLD_RANGE, case.value + THRESHOLD_RANGE + 1):
        answer = engine.solve(case.position, Window.question(threshold))
        assert answer.status is Status.SOLVED
        assert answer.bounds.answers(threshold) is (case.value >= threshold)
        assert answer.bounds.lo <= case.value <= answer.bounds.hi


def test_a_window_beyond_all_scores_is_settled_at_once(case: Case) -> None:
    limit = case.game.max_score
    for window in (Window(limit, limit + 1), Window(-limit - 3, -limit), Window(900, 1000)):
        for algorithm in ("negascout", "mtdf"):
            answer = case.make(case.game).solve(case.position, window, algorithm=algorithm)
            assert answer.status is Status.SOLVED
            assert answer.nodes < 10
            assert settled(answer.bounds, *window)
            assert answer.bounds.lo <= case.value <= answer.bounds.hi


def test_a_final_position_is_solved(case: Case) -> None:
    game, position = case.game, case.position
    while moves := game.moves(position):
        position = game.play(position, moves[-1])
    for algorithm in ALGORITHMS:
        answer = case.make(game).solve(position, algorithm=algorithm)
        assert answer.status is Status.SOLVED
        assert answer.bounds == Bounds(game.score(position), game.score(position))
        assert (answer.move, answer.line) == (None, ())
    assert case.make(game).guess(position) == game.score(position)


def test_impossible_questions_are_refused(case: Case) -> None:
    engine = case.make(case.game)
    for window in (Window(3, 3), Window(4, -4)):
        with pytest.raises(EngineError, match="LO must be below HI"):
            engine.solve(case.position, window)
    with pytest.raises(EngineError, match="unknown algorithm 'sss'; known: minimax"):
        engine.solve(case.position, algorithm="sss")


# -- known bounds ----------------------------------------------------------------------------


def test_known_bounds_save_work(case: Case, judge: Callable[[Position], int]) -> None:
    game = case.game
    children = [game.play(case.position, move) for move in game.moves(case.position)]
    known = [Known(child, Bounds(judge(child), judge(child))) for child in children]
    answer = case.make(game).solve(case.position, known=known)
    assert answer.bounds == Bounds(case.value, case.value)
    assert answer.nodes < case.nodes / 2


def test_what_is_known_of_the_position_itself(case: Case) -> None:
    game, value = case.game, case.value
    limits = game.score_range
    wide = Bounds(-1000, 1000)
    for bounds in (Bounds(value, value), Bounds(value, limits.hi), Bounds(limits.lo, value), wide):
        answer = case.make(game).solve(case.position, known=[Known(case.position, bounds)])
        assert answer.bounds == Bounds(value, value)
        # The portable engine names no move that its table does not prove.
        portable = isinstance(case.make(game), PortableEngine)
        assert answer.move in game.moves(case.position) or (portable and answer.move is None)


def test_known_bounds_are_trusted_for_symmetric_positions_too(case: Case) -> None:
    game = case.game
    image = game.symmetries(case.position)[1]
    known = [Known(image, Bounds(case.value, case.value))]
    answer = case.make(game).solve(case.position, Window.question(case.value), known=known)
    assert answer.bounds.lo >= case.value
    assert answer.nodes < 100


def test_false_bounds_do_not_make_a_search_endless(case: Case) -> None:
    """Known bounds are trusted; but what a stranger sends must not hang the engine."""
    wrong = case.value + (4 if case.value <= 0 else -4)
    engine, ended = case.make(case.game), threading.Event()

    def solve() -> None:
        with contextlib.suppress(ValueError):  # a contradiction that was noticed
            engine.solve(case.position, known=[Known(case.position, Bounds(wrong, wrong))])
        ended.set()

    threading.Thread(target=solve, daemon=True).start()
    in_time = ended.wait(PATIENCE)
    engine.abort()
    assert ended.wait(PATIENCE)
    assert in_time


# -- aborts ----------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_abort(case: Case, algorithm: str) -> None:
    """The start of 8x8 lasts for ever on any machine; its value is 0, as published."""
    game = reversi("reversi:8x8")
    engine, answers = case.make(game), []
    solver = threading.Thread(
        target=lambda: answers.append(engine.solve(game.initial(), algorithm=algorithm)),
        daemon=True,
    )
    solver.start()
    deadline = time.monotonic() + PATIENCE
    while engine.progress().nodes < 100 and time.monotonic() < deadline:
        time.sleep(0.001)
    running = engine.progress()
    assert running.bounds.lo <= 0 <= running.bounds.hi
    assert 0 <= running.fraction <= 1
    engine.abort()
    solver.join(PATIENCE)
    assert not solver.is_alive()
    answer = answers[0]
    assert answer.status is Status.ABORTED
    assert answer.bounds.lo <= 0 <= answer.bounds.hi
    assert answer.nodes >= 100

    # The engine is as good as before.
    late = random_play(game, random.Random(1), 3)
    assert engine.solve(late).status is Status.SOLVED


def test_progress_never_exceeds_the_whole() -> None:
    """Nor while the line of play is found, which is about other positions."""
    game = reversi("reversi:5x6")
    engine = ReversiEngine(game, threads=2, hash_mb=16)
    solver = threading.Thread(target=engine.solve, args=(game.initial(),), daemon=True)
    solver.start()
    most = 0.0
    while solver.is_alive():
        most = max(most, engine.progress().fraction)
    assert most == 1


def test_abort_without_a_search_has_no_effect(case: Case) -> None:
    engine = case.make(case.game)
    engine.abort()
    assert engine.solve(case.position).bounds == Bounds(case.value, case.value)
    engine.abort()
    assert engine.solve(case.position).status is Status.SOLVED


def test_aborts_at_any_moment_leave_the_table_true(case: Case) -> None:
    """Abort again and again at random moments, then let the same table finish."""
    engine, rng = case.make(case.game), random.Random(3)
    for _ in range(12):
        timer = threading.Timer(rng.random() * 0.02, engine.abort)
        timer.start()
        answer = engine.solve(case.position)
        timer.cancel()
        timer.join()
        assert answer.bounds.lo <= case.value <= answer.bounds.hi
    assert engine.solve(case.position).bounds == Bounds(case.value, case.value)


# -- checkpoints -----------------------------------------------------------------------------


def test_a_checkpoint_saves_the_work_done(case: Case) -> None:
    engine = case.make(case.game)
    engine.solve(case.position, node_budget=case.nodes // 2)
    saved = engine.checkpoint()
    engine.clear()
    assert engine.solve(case.position).nodes > case.nodes / 2  # cleared means forgotten

    fresh = case.make(case.game)
    fresh.restore(saved)
    answer = fresh.solve(case.position)
    assert answer.bounds == Bounds(case.value, case.value)
    assert answer.nodes < case.nodes


def test_a_checkpoint_of_a_solved_position(case: Case) -> None:
    engine = case.make(case.game)
    engine.solve(case.position)
    fresh = case.make(case.game)
    fresh.restore(engine.checkpoint())
    answer = fresh.solve(case.position)
    assert answer.bounds == Bounds(case.value, case.value)
    assert answer.move in case.game.moves(case.position)
    assert answer.nodes < case.nodes / 4
    assert fresh.checkpoint()


def test_an_empty_checkpoint(case: Case) -> None:
    fresh = case.make(case.game)
    fresh.restore(case.make(case.game).checkpoint())
    assert fresh.solve(case.position).bounds == Bounds(case.value, case.value)


def test_damaged_checkpoints_are_refused(case: Case) -> None:
    engine, rng = case.make(case.game), random.Random(7)
    engine.solve(case.position)
    saved = engine.checkpoint()
    damaged = [b"", saved[:1], saved[:16], saved[:-1], saved[: len(saved) // 2], saved + b"\0"]
    for at in [0, 15, 16, 19, 20, len(saved) - 1, *(rng.randrange(len(saved)) for _ in range(40))]:
        damaged.append(saved[:at] + bytes([saved[at] ^ 1 << rng.randrange(8)]) + saved[at + 1 :])
    damaged += [rng.randbytes(size) for size in (1, 15, 16, 17, 100, 1000)]
    for checkpoint in damaged:
        with pytest.raises(CheckpointError):
            engine.restore(checkpoint)


def test_checkpoints_of_other_games_are_refused(case: Case) -> None:
    for spec in ("reversi:4x5", "reversi:5x5,scoring=wof", "reversi:4x4,start=parallel"):
        other = reversi(spec)
        with pytest.raises(CheckpointError, match="not one of reversi"):
            case.make(case.game).restore(case.make(other).checkpoint())
    strange = PortableEngine if case.make is not PortableEngine else ReversiEngine
    with pytest.raises(CheckpointError):
        case.make(case.game).restore(strange(case.game).checkpoint())


def test_checkpoints_taken_while_threads_search_hold_only_truth() -> None:
    """Two threads on a crowded table: entries half written must never be saved."""
    game = scoring("reversi:6x6", "raw")
    engine = ReversiEngine(game, threads=2, hash_mb=1)
    solver = threading.Thread(target=engine.solve, args=(game.initial(),), daemon=True)
    solver.start()
    records: dict[tuple[int, int], Bounds] = {}
    try:
        for step in range(1, 11):
            while engine.progress().nodes < 100_000 * step:
                time.sleep(0.001)
            saved = engine.checkpoint()
            body = saved[saved.index(b"\0", 20) + 1 :]
            for own, opponent, facts in struct.iter_unpack("=QQQ", body):
                lo, hi = struct.unpack("bb", struct.pack("H", facts & 0xFFFF))
                assert own & opponent == 0
                assert (own | opponent) & ~game.mask == 0
                records[own, opponent] = Bounds(lo, hi)
    finally:
        engine.abort()
        solver.join(PATIENCE)
    assert not solver.is_alive()
    judge = ReversiEngine(game, hash_mb=16)
    cheap = [
        (Position(*boards), bounds) for boards, bounds in records.items()
        if game.plies_left(Position(*boards)) <= 14
    ]
    assert len(cheap) > 100
    for position, bounds in random.Random(1).sample(cheap, 100):
        value = judge.solve(position).bounds.lo
        assert bounds.lo <= value <= bounds.hi, game.format(position)
