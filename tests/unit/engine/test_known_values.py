"""Values of whole games, as published or computed by others."""

from __future__ import annotations

import pytest

from tests.support.machine import MakeEngine
from tests.support.oracle import play_out, reversi, whole_tree
from zermelo.engine import ALGORITHMS, Status, Window
from zermelo.engine.portable import PortableEngine
from zermelo.games import Bounds

#: For the side that moves first.
VALUES = {
    "reversi:4x4": -8,
    "reversi:4x4,scoring=wof": -10,
    "reversi:4x5": 16,
    "reversi:4x6": 16,
}


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("algorithm", ["negascout", "mtdf"])
@pytest.mark.parametrize("spec", VALUES)
def test_value_and_line(spec: str, algorithm: str, threads: int, make_engine: MakeEngine) -> None:
    game, value = reversi(spec), VALUES[spec]
    engine = make_engine(game, threads=threads)
    for _ in range(2):  # from nothing, and from a full table
        answer = engine.solve(game.initial(), algorithm=algorithm)
        assert answer.status is Status.SOLVED
        assert answer.bounds == Bounds(value, value)
        assert play_out(game, game.initial(), answer.line) == value
        assert answer.move == answer.line[0]
        # Every move of the line is best: the opponent gets no more anywhere along it.
        position, expected = game.initial(), value
        for move in answer.line:
            position, expected = game.play(position, move), -expected
            below = engine.solve(position, Window(expected - 1, expected + 1))
            assert below.bounds == Bounds(expected, expected)


@pytest.mark.parametrize("algorithm", ["minimax", "alphabeta", "negamax"])
@pytest.mark.parametrize("spec", ["reversi:4x4", "reversi:4x4,scoring=wof"])
def test_textbook_value_and_line(spec: str, algorithm: str, make_engine: MakeEngine) -> None:
    game, value = reversi(spec), VALUES[spec]
    answer = make_engine(game).solve(game.initial(), algorithm=algorithm)
    assert answer.bounds == Bounds(value, value)
    assert play_out(game, game.initial(), answer.line) == value


@pytest.mark.slow
def test_the_reference_agrees() -> None:
    tree = whole_tree()
    for spec in ("reversi:4x4", "reversi:4x4,scoring=wof"):
        game = reversi(spec)
        assert tree.value(game, game.initial()) == VALUES[spec]


@pytest.mark.parametrize(("spec", "turned"), [
    ("reversi:4x5", "reversi:5x4"),
    ("reversi:4x6", "reversi:6x4"),
    ("reversi:4x5,start=parallel", "reversi:4x5,start=parallel"),
    ("reversi:4x6,scoring=wof", "reversi:6x4,scoring=wof"),
])
def test_a_board_turned_by_a_quarter_is_the_same_game(
    spec: str, turned: str, make_engine: MakeEngine
) -> None:
    values = []
    for name in (spec, turned):
        game = reversi(name)
        for algorithm in ("negascout", "mtdf"):
            values.append(make_engine(game).solve(game.initial(), algorithm=algorithm).bounds)
    assert len(set(values)) == 1
    assert values[0].exact


def test_the_first_moves_together_give_the_value(make_engine: MakeEngine) -> None:
    for spec, value in VALUES.items():
        game = reversi(spec)
        engine = make_engine(game)
        children = [game.play(game.initial(), move) for move in game.moves(game.initial())]
        assert max(-engine.solve(child).bounds.lo for child in children) == value
        if game.rows == game.cols:  # the four first moves are one up to symmetry
            assert len({engine.solve(child).bounds for child in children}) == 1


@pytest.mark.slow
def test_portable_engine_from_six_plies_on() -> None:
    tree = whole_tree()
    for spec in ("reversi:4x4", "reversi:4x4,scoring=wof"):
        game = reversi(spec)
        position = game.initial()
        for _ in range(6):
            position = game.play(position, game.moves(position)[0])
        for algorithm in ALGORITHMS:
            answer = PortableEngine(game).solve(position, algorithm=algorithm)
            assert answer.bounds.lo == answer.bounds.hi == tree.value(game, position)
