"""The Go engine against searches that share nothing, and the contract of every engine."""

from __future__ import annotations

import json
import random
import threading
from dataclasses import replace
from itertools import islice

import pytest

from tests.support.effort import some
from tests.support.go_plain import TooLargeError, plain_value
from tests.support.go_positions import RULES, go, wander
from tests.support.places import DATA
from zermelo.cext.go_search import OPTIONS
from zermelo.engine import (
    CheckpointError,
    EngineError,
    Known,
    SearchReport,
    Status,
    Window,
    open_engine,
)
from zermelo.engine.go import GoEngine
from zermelo.games import Bounds
from zermelo.games.go import PASS, GoPosition, Past

TINY = ["1x1", "1x2", "1x3", "1x4", "1x5", "2x2"]


@pytest.mark.parametrize("rules", RULES)
@pytest.mark.parametrize("size", TINY)
def test_value_equals_a_search_that_shares_nothing(size: str, rules: str) -> None:
    """Every rule combination: no proof is reused under another history, no life assumed."""
    game = go(f"{size},{rules}")
    alone = GoEngine(game, hash_mb=64, share=False, life=False).solve(game.initial())
    answer = GoEngine(game, hash_mb=8).solve(game.initial())
    assert answer.bounds.exact
    assert answer.bounds == alone.bounds


@pytest.mark.parametrize("rules", RULES)
@pytest.mark.parametrize("size", ["1x6", "2x3"])
def test_six_points_proved_again_without_sharing(size: str, rules: str) -> None:
    """What was found with sharing only tells what to try first."""
    game = go(f"{size},{rules}")
    engine = GoEngine(game)
    answer = engine.solve(game.initial())
    assert answer.bounds.exact
    engine.switch(share=False)
    assert engine.solve(game.initial()).bounds == answer.bounds


@pytest.mark.slow
@pytest.mark.examples
@pytest.mark.parametrize("rules", RULES)
def test_random_positions_equal_plain_search_over_the_reference_rules(rules: str) -> None:
    rng = random.Random(rules)
    checked, tried = 0, some(2, 8)
    for size in ("1x4", "2x2", "2x3", "3x3"):
        game = go(f"{size},{rules},komi={rng.randint(-1, 1)}")
        engine = GoEngine(game, hash_mb=4)  # one table for all: histories meet in it
        for _ in range(tried):
            position = wander(game, rng, rng.randint(6, 30))
            try:
                value = plain_value(game, position, 1500)
            except TooLargeError:
                continue
            answer = engine.solve(position)
            assert answer.bounds == Bounds(value, value), game.format(position)
            checked += 1
    assert checked >= tried / 2


@pytest.mark.slow
@pytest.mark.examples
@pytest.mark.parametrize("ko", ["psk", "ssk", "basic"])
@pytest.mark.parametrize("size", ["3x3", "3x4", "4x4"])
def test_random_positions_equal_a_search_that_shares_nothing(size: str, ko: str) -> None:
    game = go(f"{size},ko={ko}")
    rng = random.Random(size + ko)
    engine, alone = GoEngine(game, hash_mb=8), GoEngine(game, hash_mb=32, share=False, life=False)
    settled, tried = 0, some(10, 25)
    for _ in range(tried):
        position = wander(game, rng, rng.randint(8, 40))
        answer = engine.solve(position, node_budget=20_000)
        yardstick = alone.solve(position, node_budget=20_000)
        answer.bounds & yardstick.bounds  # raises if they contradict each other
        settled += answer.status is yardstick.status is Status.SOLVED
    assert settled >= tried / 5


@pytest.mark.parametrize("cycle", ["draw", "passes"])
def test_a_pass_can_close_a_cycle(cycle: str) -> None:
    """A ko point apart, the board was there before: passing brings the situation back."""
    different = 0
    for size in ("1x3", "1x4", "2x2"):
        game, rng = go(f"{size},ko=basic,cycle={cycle}"), random.Random(size)
        engine = GoEngine(game, hash_mb=4)
        for _ in range(12):
            stones = wander(game, rng, 6)
            before = GoPosition(stones.black, stones.white, stones.black_to_move)
            after_a_pass = Past(before.black, before.white, (not before.black_to_move) | 1 << 1)
            position = replace(before, past=frozenset({after_a_pass}))
            assert game.is_final(game.play(position, PASS))
            value = plain_value(game, position)
            assert engine.solve(position).bounds == Bounds(value, value)
            different += value != engine.solve(before).bounds.lo
    assert different


def test_known_values() -> None:
    published = {"2x2": 1, "3x3": 9, "1x6": 1, "1x7": 2, "2x4": 8, "2x5": 10, "3x4": 4}
    for size, value in published.items():
        game = go(size)
        assert GoEngine(game).solve(game.initial()).bounds == Bounds(value, value), size


def test_first_moves_on_3x3() -> None:
    game = go("3x3")
    for name, value in {"b2": 9, "b3": 3, "a3": -9}.items():
        child = game.play(game.initial(), game.find_move(game.initial(), name))
        assert GoEngine(game).solve(child).bounds == Bounds(-value, -value)


@pytest.mark.parametrize("off", OPTIONS)
def test_every_technique_can_be_switched_off(off: str) -> None:
    game = go("1x6")
    assert GoEngine(game, **{off: False}).solve(game.initial()).bounds == Bounds(1, 1)


@pytest.mark.parametrize("size", ["2x3", "3x3"])
def test_symmetric_positions_have_symmetric_answers(size: str) -> None:
    game, rng = go(size), random.Random(size)
    for _ in range(10):
        position = wander(game, rng, 8)
        values = {
            GoEngine(game, hash_mb=4).solve(image).bounds for image in game.symmetries(position)
        }
        assert len(values) == 1


# -- the contract of every engine -------------------------------------------------------


@pytest.mark.parametrize("size", ["4x5", "5x5"])
def test_on_large_boards_the_centre_looks_best_from_every_side(size: str) -> None:
    game = go(size)
    engine, start = GoEngine(game), game.initial()
    outlook = {move: -engine.guess(game.play(start, move)) for move in game.moves(start)}
    best = [move for move in outlook if outlook[move] == max(outlook.values())]
    names = {"4x5": {"c2", "c3"}, "5x5": {"c3"}}
    assert {game.move_name(move) for move in best} == names[size]
    assert min(outlook.values()) == outlook[game.find_move(start, "a1")]
    rng = random.Random(size)
    for _ in range(20):
        position = wander(game, rng, rng.randrange(2, 12))
        assert len({engine.guess(image) for image in game.symmetries(position)}) == 1
        swapped = replace(
            position, black=position.white, white=position.black,
            black_to_move=not position.black_to_move, past=frozenset(),
        )  # fmt: skip
        assert engine.guess(swapped) == engine.guess(replace(position, past=frozenset()))


def test_the_factory_opens_it() -> None:
    assert isinstance(open_engine(go("5x5")), GoEngine)


def test_bad_questions() -> None:
    game = go("3x3")
    with pytest.raises(EngineError, match="the Go engine searches with one"):
        open_engine(game, threads=2)
    with pytest.raises(EngineError, match="unknown algorithm 'sss'"):
        GoEngine(game).solve(game.initial(), algorithm="sss")
    with pytest.raises(EngineError, match="empty window"):
        GoEngine(game).solve(game.initial(), Window(2, 2))


@pytest.mark.slow
def test_long_lines_do_not_end_a_textbook_search() -> None:
    game = go("3x3")
    report = GoEngine(game).solve(game.initial(), algorithm="minimax", node_budget=1_200)
    assert report.status is Status.EXHAUSTED
    assert report.nodes > 1_000


def test_a_question_is_answered_and_no_more() -> None:
    game = go("3x4")
    for threshold, answer in ((4, True), (5, False)):
        bounds = GoEngine(game).solve(game.initial(), Window.question(threshold)).bounds
        assert bounds.answers(threshold) is answer


def test_node_limit_then_resume_from_what_was_proved() -> None:
    game = go("3x4")
    engine = GoEngine(game)
    stopped = engine.solve(game.initial(), node_budget=30_000)
    assert stopped.status is Status.EXHAUSTED
    assert stopped.nodes < 30_050  # children with a certain outcome are gone through to the end
    fresh = GoEngine(game)
    answer = fresh.solve(game.initial(), known=stopped.proved)
    assert answer.bounds == Bounds(4, 4)


def test_known_bounds_are_used() -> None:
    game = go("4x4")
    children = [game.play(game.initial(), move) for move in game.moves(game.initial())]
    # Nothing but what is given can say that Black loses by at least 7 whatever he plays.
    seeds = [Known(child, Bounds(7, game.max_score)) for child in children]
    answer = GoEngine(game).solve(game.initial(), Window.question(0), known=seeds)
    assert answer.bounds.hi == -7
    assert answer.nodes < 1000


@pytest.mark.slow
def test_checkpoint_saves_the_work() -> None:
    game = go("3x4")
    engine = GoEngine(game)
    first = engine.solve(game.initial())
    saved = engine.checkpoint()
    other = GoEngine(game)
    other.restore(saved)
    again = other.solve(game.initial())
    assert again.bounds == first.bounds
    assert again.nodes < first.nodes / 10
    stopped, resumed = GoEngine(game), GoEngine(game)
    spent = stopped.solve(game.initial(), node_budget=first.nodes // 2).nodes
    resumed.restore(stopped.checkpoint())
    assert spent + resumed.solve(game.initial()).nodes <= 1.1 * first.nodes
    with pytest.raises(CheckpointError, match="damaged"):
        other.restore(saved[:-1])
    with pytest.raises(CheckpointError, match="not one of"):
        GoEngine(go("3x3")).restore(saved)


def test_abort() -> None:
    game = go("6x6")
    engine = GoEngine(game)
    answers: list[SearchReport] = []
    thread = threading.Thread(target=lambda: answers.append(engine.solve(game.initial())))
    thread.start()
    while not engine.progress().nodes:
        assert thread.is_alive()
    engine.abort()
    thread.join(180)
    assert not thread.is_alive()
    assert answers[0].status is Status.ABORTED


def test_the_line_is_legal_and_keeps_the_value() -> None:
    game = go("3x3")
    answer = GoEngine(game).solve(game.initial())
    position = game.initial()
    for move in answer.line:
        position = game.play(position, move)
    assert len(answer.line) >= 3


def test_late_positions_on_7x7() -> None:
    suite = json.loads((DATA / "late7x7.json").read_text())
    for item in islice(suite, 3):
        game = go(item["spec"])
        answer = GoEngine(game).solve(game.parse(item["position"]), node_budget=3_000_000)
        assert answer.bounds == Bounds(item["value"], item["value"])
