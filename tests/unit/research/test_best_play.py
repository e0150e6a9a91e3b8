"""The engine's line beyond the tree: to the end of the game, whatever engine a game has."""

from __future__ import annotations

import pytest

from tests.support.minimax import minimax
from zermelo.games import open_game
from zermelo.research.best_play import play_on


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("spec", ["reversi:4x4", "go:1x3", "mnk:3x3,k=3"])
def test_the_line_ends_with_the_value_also_where_one_thread_is_all(
    spec: str, threads: int
) -> None:
    game = open_game(spec)
    position = game.initial()
    value = minimax(game, position)
    for move in play_on(game, position, threads=threads, seconds=20.0):
        position, value = game.play(position, move), -value
    assert game.is_final(position)
    assert game.score(position) == value


def test_there_is_no_line_from_the_end_or_without_time() -> None:
    game = open_game("nim:1")
    (move,) = game.moves(game.initial())
    assert play_on(game, game.play(game.initial(), move)) == ()
    large = open_game("reversi:8x8")
    assert play_on(large, large.initial(), seconds=0.01) == ()
