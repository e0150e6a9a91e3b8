"""The search for the whole board: every yes against searches that know nothing of it."""

from __future__ import annotations

import random

import pytest

from tests.go.positions import go, wander
from zermelo.cext.go_retrograde import Retrograde
from zermelo.engine import Window
from zermelo.engine.conquest import Conquest
from zermelo.engine.go import GoEngine
from zermelo.games import Bounds
from zermelo.games.go import GoPosition

NODES = 20_000


@pytest.mark.parametrize(("rows", "cols"), [(2, 2), (2, 3), (2, 4), (3, 3)])
def test_every_yes_on_every_board_is_confirmed_by_all_positions(rows: int, cols: int) -> None:
    """Without history the value under basic ko is known for every board."""
    game = go(f"{rows}x{cols},ko=basic")
    oracle = Retrograde(rows, cols)
    conquest = Conquest(game, hash_mb=4)
    won = 0
    for black, white in oracle.all_boards():
        for black_to_move in (True, False):
            position = GoPosition(black, white, black_to_move)
            if conquest.ask(position, True, NODES)[0]:
                won += 1
                assert oracle.floor(black, white, black_to_move) == rows * cols
            if conquest.ask(position, False, NODES)[0]:
                assert oracle.floor(white, black, not black_to_move) == rows * cols
    assert won or rows * cols < 8  # nobody can own a smaller board for good


def test_a_sample_of_3x4_is_confirmed_by_all_positions() -> None:
    oracle = Retrograde(3, 4)
    conquest = Conquest(go("3x4,ko=basic"), hash_mb=4)
    boards = random.Random(12).sample(oracle.all_boards(), 1500)
    won = [
        (black, white)
        for black, white in boards
        if conquest.ask(GoPosition(black, white, True), True, 2000)[0]
    ]
    assert won
    for black, white in won:
        assert oracle.floor(black, white, True) == 12


@pytest.mark.parametrize("ko", ["psk", "ssk"])
def test_a_yes_under_a_history_is_confirmed_by_a_search_that_shares_nothing(ko: str) -> None:
    game = go(f"3x3,ko={ko}")
    rng = random.Random(ko)
    conquest = Conquest(game, hash_mb=4)
    alone = GoEngine(game, hash_mb=32, share=False, life=False)
    won = confirmed = 0
    while won < 12:
        position = wander(game, rng, rng.randint(2, 24))
        for by_black in (True, False):
            if position.passes or not conquest.ask(position, by_black, NODES)[0]:
                continue
            won += 1
            bounds = alone.solve(position, node_limit=60_000).bounds
            score = 9 if by_black == position.black_to_move else -9
            assert bounds.lo <= score <= bounds.hi
            confirmed += bounds.exact
    assert confirmed


def test_known_whole_boards_and_who_finds_them() -> None:
    for size in ("2x4", "2x5", "3x3"):
        game = go(size)
        position, whole = game.initial(), game.max_score
        assert Conquest(game, hash_mb=4).ask(position, True, NODES)[0]
        for engine in (GoEngine(game), GoEngine(game, conquest=False)):
            assert engine.solve(position, Window.question(whole)).bounds == Bounds(whole, whole)


def test_asked_in_small_steps_it_goes_on_where_it_was() -> None:
    game = go("2x5")
    conquest = Conquest(game, hash_mb=4)
    at_once = Conquest(game, hash_mb=4).ask(game.initial(), True, NODES)
    assert at_once[0]
    won, spent = False, 0
    while not won:
        won, nodes = conquest.ask(game.initial(), True, 100)
        spent += nodes
        assert nodes <= 150
    assert spent <= 3 * at_once[1]
    assert conquest.knows(game.initial(), True)


def test_what_was_found_without_a_history_is_not_trusted_under_one() -> None:
    """A proof may create boards that were there before."""
    game = go("3x3")
    conquest = Conquest(game, hash_mb=4)
    assert conquest.ask(game.initial(), True, NODES)[0]
    position = game.initial()
    for name in ("b2", "a2", "b1"):
        position = game.play(position, game.find_move(position, name))
    fresh = GoPosition(position.black, position.white, position.black_to_move)
    assert position.past
    assert conquest.ask(fresh, True, NODES)[0]
    assert conquest.knows(fresh, True)
    assert conquest.knows(position, True) is None
    assert conquest.ask(position, True, NODES)[0]
    assert conquest.knows(position, True)


@pytest.mark.parametrize("spec", ["1x5", "3x3,suicide=allowed", "5x6"])
def test_where_it_is_not_asked(spec: str) -> None:
    assert not Conquest.suits(go(spec))


def test_it_is_given_up_where_the_other_side_lives() -> None:
    game = go("3x3")
    for side in "XO":
        conquest = Conquest(game, hash_mb=4)
        won, nodes = conquest.ask(game.parse(f"...OOO... {side}"), True, NODES)
        assert not won
        assert nodes < 1000
        assert conquest.over
