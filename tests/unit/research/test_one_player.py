"""In how few moves one player wins."""

from __future__ import annotations

import pytest

from tests.support.definitions import play_text
from zermelo.games import open_game
from zermelo.games.definition.game import DefinedGame
from zermelo.research.one_player import TooManyPositionsError, fewest_moves

#: A stone may step or leap to the end of its path, or back; only the last cell wins.
STONE = """\
zermelo = 1
game = "stone"
[board]
path = "7"
[regions]
goal = "col == 7"
far = "col == 4"
[pieces]
stone = { of = "neutral", signs = "o" }
rock = { of = "neutral", signs = "#" }
[players]
solo = true
[start]
stone = ["1"]
rock = ["3"]
[[move]]
step = "stone"
along = "w e"
[[move]]
hop = "stone"
over = "rock"
along = "w e"
[[end]]
if = "any(stone & goal)"
is = "first"
[limit]
plies = 20
is = "win"
"""


@pytest.mark.parametrize(("spec", "moves"), [
    ("frogs:1x1", 3), ("frogs:2x2", 8), ("frogs:3x3", 15), ("frogs:4x2", 14),  # nm + n + m
])
def test_frogs(spec: str, moves: int) -> None:
    game = open_game(spec)
    assert isinstance(game, DefinedGame)
    assert fewest_moves(game) == moves


def test_the_shortest_of_many_ways() -> None:
    """One step, the leap, three steps; there and back would win, too."""
    assert fewest_moves(play_text(STONE)) == 5
    assert fewest_moves(play_text(STONE.replace('rock = ["3"]', 'rock = ["2"]'))) == 5


def test_what_cannot_be_solved() -> None:
    """Two rocks in a row cannot be leapt over, and the limit is a win of the other side."""
    assert fewest_moves(play_text(STONE.replace('["3"]', '["3", "4"]'))) is None
    assert fewest_moves(play_text(STONE.replace("plies = 20", "plies = 4"))) is None
    assert fewest_moves(play_text(STONE.replace("plies = 20", "plies = 5"))) == 5


def test_a_search_that_takes_too_long() -> None:
    with pytest.raises(TooManyPositionsError, match="fewer than 2 moves"):
        fewest_moves(play_text(STONE), most=5)
