"""Unconditional life and basic ko against the retrograde analysis of all positions."""

from __future__ import annotations

import random

import pytest

from tests.support.effort import some
from tests.support.go_positions import go, wander
from zermelo.cext.go_retrograde import Retrograde
from zermelo.cext.go_search import Prover
from zermelo.engine.go import GoEngine
from zermelo.games.go import Go, GoPosition


def prover(rows: int, cols: int) -> Prover:
    return Prover(rows, cols, "psk", False, False, 1)


@pytest.mark.slow
@pytest.mark.parametrize(("rows", "cols", "legal"), [(2, 2, 57), (3, 3, 12675), (3, 4, 321689)])
def test_number_of_legal_boards(rows: int, cols: int, legal: int) -> None:
    assert Retrograde(rows, cols).legal == legal


@pytest.mark.parametrize(
    ("rows", "cols"),
    [(1, 5), (1, 7), (2, 3), (2, 4), (2, 5), (3, 3), pytest.param(3, 4, marks=pytest.mark.slow)],
)
def test_certain_area_is_certain_against_every_attack(rows: int, cols: int) -> None:
    """Every claim on every board: the owner can force it even if no ko rule protects him."""
    attack = Retrograde(rows, cols, ko_rule=False, bottom=-rows * cols)
    kernel = prover(rows, cols)
    claims = 0
    for black, white in attack.all_boards():
        alive, secure = kernel.secure(black)
        if alive:
            claims += 1
            value = 2 * secure.bit_count() - rows * cols
            assert attack.floor(black, white, True) >= value
            assert attack.floor(black, white, False) >= value
    assert claims


@pytest.mark.slow
@pytest.mark.examples
@pytest.mark.parametrize("size", ["1x6", "2x2", "2x3", "2x4", "3x3", "3x4"])
def test_basic_ko_with_draws_equals_the_oracle(size: str) -> None:
    game = go(f"{size},ko=basic")
    oracle = Retrograde(game.rows, game.cols)
    rng = random.Random(size)
    engine = GoEngine(game)
    assert engine.solve(game.initial()).bounds.lo == oracle_value(oracle, game.initial())
    for _ in range(some(15, 30)):
        past = wander(game, rng, 12)
        position = GoPosition(past.black, past.white, past.black_to_move, past.passes, past.ko)
        answer = engine.solve(position, node_budget=200_000)
        assert answer.bounds.lo <= oracle_value(oracle, position) <= answer.bounds.hi


def oracle_value(oracle: Retrograde, position: GoPosition) -> int:
    """The value of a position without history when cycles draw, for the side to move."""
    black = oracle.floor(
        position.black, position.white, position.black_to_move, position.passes, position.ko
    )
    white = oracle.floor(
        position.white, position.black, not position.black_to_move, position.passes, position.ko
    )
    value = black if black > 0 else -white
    return value if position.black_to_move else -value


@pytest.mark.examples
@pytest.mark.parametrize("suicide", ["forbidden", "allowed"])
@pytest.mark.parametrize("size", ["1x7", "3x3", "4x5", "7x7"])
def test_kernels_equal_the_reference(size: str, suicide: str) -> None:
    game: Go = go(f"{size},ko=basic,suicide={suicide}")
    kernel = Prover(game.rows, game.cols, "basic", False, suicide == "allowed", 1)
    rng = random.Random(size)
    for _ in range(some(12, 40)):
        position = wander(game, rng, 60)
        assert kernel.area(position.black, position.white) == game.area_difference(position)
        empty = game.board.mask & ~(position.black | position.white)
        for point in game.board.points:
            if not empty >> point & 1 or point == position.ko:
                continue
            child = game.after(position, point)
            played = kernel.play_stone(position.own, position.opponent, point)
            if child is None:
                assert played is None
            else:
                assert played == (child.opponent, child.own, child.ko)
