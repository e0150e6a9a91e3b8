"""The checker's compiled reversi against the reference rules and a plain search."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.minimax import minimax
from zermelo.checker.go_checker import CompiledGo, weigh_boards
from zermelo.checker.reversi import ReversiRules, ReversiSolver, ReversiTable
from zermelo.checker.solver import PlainSolver
from zermelo.games import GameError, open_game
from zermelo.games.go import Go
from zermelo.games.reversi import Reversi, ReversiPosition

SIDES = st.integers(4, 8)


def rules_of(game: Reversi) -> ReversiRules:
    return ReversiRules(game.rows, game.cols, game.scoring == "wof")


def open_reversi(rows: int, cols: int, scoring: str = "raw") -> Reversi:
    game = open_game(f"reversi:{rows}x{cols},scoring={scoring}")
    assert isinstance(game, Reversi)
    return game


def random_position(game: Reversi, seed: int, empties: int = 0) -> ReversiPosition:
    """A position of a random game, with at most `empties` empty squares where that is told."""
    choose = random.Random(seed)
    position = game.initial()
    length = choose.randrange(game.max_score)
    while moves := game.moves(position):
        if game.plies_left(position) <= empties if empties else not length:
            break
        length -= 1
        position = game.play(position, choose.choice(moves))
    return position


@given(SIDES, SIDES, st.sampled_from(["raw", "wof"]), st.integers(0, 2**32))
@settings(max_examples=150)
def test_moves_and_scores(rows: int, cols: int, scoring: str, seed: int) -> None:
    game = open_reversi(rows, cols, scoring)
    position = random_position(game, seed)
    rules = rules_of(game)
    key = game.encode(position)
    expected = []
    for move in game.moves(position):
        after = game.play(position, move)
        score = game.score(after) if game.is_final(after) else None
        expected.append((move, game.encode(after), score))
    assert rules.steps(key) == expected
    assert rules.canonical(key) == game.encode(game.canonical(position))


@given(st.integers(0, 2**64 - 1), st.integers(0, 2**64 - 1), SIDES, SIDES)
@settings(max_examples=150)
def test_any_discs(own: int, opponent: int, rows: int, cols: int) -> None:
    """Positions no game reaches, and keys that are no position."""
    game = open_reversi(rows, cols)
    rules = rules_of(game)
    key = own.to_bytes(8, "big") + opponent.to_bytes(8, "big")
    with pytest.raises(GameError):
        game.decode(b"\xff" * 16)
    with pytest.raises(ValueError, match="no position"):
        rules.steps(b"\xff" * 16)
    opponent &= ~own
    position = ReversiPosition(own & game.mask, opponent & game.mask)
    key = game.encode(position)
    steps = {move: after for move, after, _ in rules.steps(key)}
    assert steps == {
        move: game.encode(game.play(position, move)) for move in game.moves(position)
    }


@given(SIDES, SIDES, st.sampled_from(["raw", "wof"]), st.integers(0, 2**32), st.integers(-9, 9))
@settings(max_examples=60)
def test_the_solver_agrees_with_minimax(
    rows: int, cols: int, scoring: str, seed: int, near: int
) -> None:
    game = open_reversi(rows, cols, scoring)
    position = random_position(game, seed, empties=6)
    value = minimax(game, position)
    key = game.encode(position)
    solver = ReversiSolver(rows, cols, scoring == "wof", ReversiTable(10))
    assert solver.at_least(key, value) is True
    assert solver.at_least(key, value + 1) is False
    assert solver.at_least(key, value + near) is (near <= 0)
    assert solver.nodes > 0


@given(st.integers(0, 2**32))
@settings(max_examples=15)
def test_deep_searches_agree_with_their_own_bounds(seed: int) -> None:
    """With tables, look-ahead and all: exactly one threshold divides yes from no."""
    game = open_reversi(6, 6)
    position = random_position(game, seed, empties=13)
    key = game.encode(position)
    small = ReversiSolver(6, 6, False, ReversiTable(4))
    large = ReversiSolver(6, 6, False, ReversiTable(18))
    answers = [large.at_least(key, bound) for bound in range(-36, 37, 4)]
    assert answers == sorted(answers, reverse=True)
    assert answers == [small.at_least(key, bound) for bound in range(-36, 37, 4)]


@given(st.integers(0, 2**32), st.integers(-4, 4))
@settings(max_examples=25)
def test_the_plain_solver_agrees_with_minimax(seed: int, near: int) -> None:
    game = open_reversi(4, 4)
    position = random_position(game, seed, empties=5)
    value = minimax(game, position)
    assert PlainSolver(game).at_least(game.encode(position), value + near, b"") is (near <= 0)


def test_a_stopped_solver_gives_no_answer() -> None:
    game = open_reversi(8, 8)
    key = game.encode(game.initial())
    solver = ReversiSolver(8, 8, False, ReversiTable(10))
    solver.stop()
    assert solver.at_least(key, 0) is None
    plain = PlainSolver(game)
    plain.stop()
    assert plain.at_least(key, 0, b"") is None


# -- Go -----------------------------------------------------------------------------------------

GO_GAMES = [
    "go:1x3", "go:1x4", "go:2x2", "go:2x2,ko=ssk", "go:1x4,ko=basic", "go:2x2,ko=basic",
    "go:2x2,ko=basic,cycle=passes", "go:2x2,suicide=allowed", "go:1x5,suicide=allowed,ko=ssk",
    "go:2x2,komi=1",
]  # fmt: skip


def middle_of(game: Go, seed: int, most: int) -> tuple[bytes, bytes]:
    """A position in the middle of a game, with all that was on the board before."""
    choose = random.Random(seed)
    position = game.initial()
    for _ in range(choose.randrange(4, most)):
        moves = game.moves(position)
        if not moves:
            break
        position = game.play(position, choose.choice(moves))
    position = game.canonical(position)
    return game.encode(position), game.history(position)


@pytest.mark.slow
@given(st.sampled_from(GO_GAMES), st.integers(0, 2**32), st.integers(-4, 4), st.booleans())
@settings(max_examples=120)
def test_go_agrees_with_the_plain_solver(spec: str, seed: int, bound: int, weighs: bool) -> None:
    """Whether all boards are weighed, as on small boards, or searched, as on large ones."""
    game = open_game(spec)
    assert isinstance(game, Go)
    key, history = middle_of(game, seed, 14)
    expected = PlainSolver(game).at_least(key, bound, history)
    solver = CompiledGo(game, weigh_boards(game) if weighs else None)
    assert solver.at_least(key, bound, history) is expected


LARGER_GO_GAMES = [
    "go:2x3", "go:2x3,ko=ssk", "go:2x3,ko=basic", "go:1x6,ko=basic", "go:2x3,suicide=allowed",
    "go:3x3,ko=basic,komi=2",
]  # fmt: skip


@pytest.mark.slow
@given(st.sampled_from(LARGER_GO_GAMES), st.integers(0, 2**32), st.integers(-9, 9))
@settings(max_examples=60)
def test_weighing_agrees_with_searching(spec: str, seed: int, bound: int) -> None:
    """Two ways to the same answer, on positions late in games, where boards come back."""
    game = open_game(spec)
    assert isinstance(game, Go)
    key, history = middle_of(game, seed, 30)
    weighing = CompiledGo(game, weigh_boards(game))
    answer = weighing.at_least(key, bound, history)
    position = game.decode(key, history)
    if not game.is_final(position):
        found = [CompiledGo(game, None).within(position, bound, plies) for plies in range(7)]
        assert set(found) <= {answer, None}


def test_go_stops() -> None:
    game = open_game("go:7x7")
    assert isinstance(game, Go)
    solver = CompiledGo(game, weigh_boards(game))
    solver.stop()
    assert solver.at_least(game.encode(game.initial()), 9, b"") is None
