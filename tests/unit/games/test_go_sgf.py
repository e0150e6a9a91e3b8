"""SGF records: set-up, moves, history, and what is wrong with them."""

from __future__ import annotations

import pytest

from tests.support.go_positions import go
from tests.support.places import DATA
from zermelo.games import GameError
from zermelo.games.go_sgf import read_sgf

FILES = DATA / "sgf"


def test_a_game_with_its_history() -> None:
    game = go("5x5")
    position = read_sgf(game, (FILES / "opening.sgf").read_bytes())
    assert game.format(position).startswith("...........XO...XOO..X... X")
    assert len(position.past) == 5


def test_a_rectangular_board_with_set_up_stones() -> None:
    game = go("3x4")
    position = read_sgf(game, (FILES / "ko.sgf").read_bytes())
    assert game.format(position).startswith(".XO.XO.O.XO. X")
    assert "c2" not in [game.move_name(move) for move in game.moves(position)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("hello", "not an SGF game"),
        ("(;GM[1]SZ[5];B[aa])", "the SGF board is 5, not 3x3"),
        ("(;GM[3]SZ[3])", "game type 3"),
        ("(;SZ[3];B[aa];W[aa])", "move 2 of White: illegal move a3: there is a stone already"),
        ("(;SZ[3];B[aa];B[bb])", "move 2: it is not Black's turn"),
        ("(;SZ[3];B[dd])", "move 1 of Black: 'dd' is no point"),
        ("(;SZ[3];B[];W[];B[aa])", "move 3 of Black: illegal move: the game is over"),
        ("(;SZ[3]AB[ba][ab]AW[aa]PL[B])", "a3 has no liberty"),
        ("(;SZ[3]AB[aa]AW[aa])", "names a3 twice"),
        ("(;SZ[3]AB[aa]PL[X])", "wrong side to move 'X'"),
        ("(;SZ[3];B[aa];AW[bb])", "set-up stones after move 1"),
        ("(;SZ[3]AB[ba][ab]PL[W];W[aa])", "move 1 of White: illegal move a3: it is suicide"),
    ],
)
def test_bad_records(text: str, message: str) -> None:
    with pytest.raises(GameError, match=message):
        read_sgf(go("3x3"), text.encode())


def test_an_illegal_recapture_is_named_by_its_number() -> None:
    record = (FILES / "ko.sgf").read_bytes().rstrip().removesuffix(b")") + b";B[cb])"
    with pytest.raises(GameError, match="move 2 of Black: illegal move c2: it recreates"):
        read_sgf(go("3x4"), record)
