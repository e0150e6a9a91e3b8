"""Games of Go and reversi as SGF."""

from __future__ import annotations

import random

import pytest
from sgfmill import sgf_grammar

from zermelo.games import GameError, open_game
from zermelo.games.go import Go
from zermelo.games.go_sgf import read_sgf
from zermelo.games.sgf import write_sgf


def random_line(spec: str, plies: int) -> tuple[list[int], str]:
    """Moves of a random game, and the position after them."""
    game, choose, made = open_game(spec), random.Random(3), []
    at = game.initial()
    while len(made) < plies and (moves := game.moves(at)):
        made.append(choose.choice(moves))
        at = game.play(at, made[-1])
    return made, game.format(at)


def test_go_is_read_back() -> None:
    game = open_game("go:3x4")
    assert isinstance(game, Go)
    made, end = random_line("go:3x4", 14)
    text = write_sgf(game, game.initial(), made, "a]b\\", "w", -3)
    assert game.format(read_sgf(game, text.encode())) == end
    assert "PB[a\\]b\\\\]" in text
    assert "RE[W+3]" in text


def test_go_from_a_position_is_read_back() -> None:
    game = open_game("go:3x3")
    assert isinstance(game, Go)
    start = game.parse("X--/-O-/--- O")
    move = game.moves(start)[0]
    text = write_sgf(game, start, [move], "first", "second", 2)
    assert game.format(read_sgf(game, text.encode())) == game.format(game.play(start, move))
    assert "PW[first]" in text
    assert "RE[W+2]" in text


def test_reversi_has_its_number_its_start_and_its_moves() -> None:
    game = open_game("reversi:8x8")
    made = [game.find_move(game.initial(), "e6")]
    text = write_sgf(game, game.initial(), made, "A", "B", 12)
    root, *nodes = sgf_grammar.main_sequence_iter(sgf_grammar.parse_sgf_game(text.encode()))
    assert (root["GM"], root["SZ"], root["RE"]) == ([b"2"], [b"8"], [b"B+12"])
    assert (sorted(root["AB"]), sorted(root["AW"])) == ([b"de", b"ed"], [b"dd", b"ee"])
    assert nodes == [{"B": [b"ef"]}]


def test_other_games_have_no_sgf() -> None:
    game = open_game("nim:1")
    with pytest.raises(GameError, match="go and reversi"):
        write_sgf(game, game.initial(), [], "a", "b", 1)
