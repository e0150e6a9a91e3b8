"""GTP: whole games and records, without a process."""

from __future__ import annotations

import pytest

from tests.support.go_positions import go
from tests.support.places import DATA
from zermelo.cli.gtp import GoSession
from zermelo.cli.gtp_session import GtpSession
from zermelo.games import open_game


def test_it_plays_a_whole_game_against_itself() -> None:
    session = GoSession(go("3x3"), hash_mb=8, node_budget=100_000)
    for turn in range(60):
        session.answer(f"genmove {'bw'[turn % 2]}")
        if session.game.is_final(session.position):
            break
    assert session.answer("final_score") == "= B+9\n\n"


def test_it_loads_sgf() -> None:
    session = GoSession(go("3x4"), hash_mb=8, node_budget=1000)
    path = DATA / "sgf" / "ko.sgf"
    assert session.answer(f"loadsgf {path}") == "=\n\n"
    assert session.answer("play b c2") == "? illegal move\n\n"
    assert session.answer("loadsgf nowhere.sgf") == "? cannot load file\n\n"


def session_of(spec: str, node_budget: int = 100_000) -> GtpSession:
    return GtpSession(open_game(spec), hash_mb=1, node_budget=node_budget)


@pytest.mark.parametrize(("spec", "value", "score"), [
    ("fox-and-hounds:4x4", "-1", "hounds+1"), ("kalah:2x2", "-2", "O+2"), ("mnk:3x3", "0", "0"),
    ("reversi:4x4", "-8", "O+8"), ("nim:1-2-3", "-1", "O+1"),
])
def test_every_game_plays_itself(spec: str, value: str, score: str) -> None:
    """Sides of any name; who moves again does so without the other's pass being asked for."""
    session = session_of(spec)
    assert session.answer("zermelo-value") == f"= {value}\n\n"
    assert session.answer("final_score") == "? the game is not over\n\n"
    while not session.game.is_final(session.position):
        response = session.answer(f"genmove {session.game.side_to_move(session.position)}")
        assert response is not None
        assert response.startswith("= ")
    assert session.answer("final_score") == f"= {score}\n\n"
    assert session.answer("genmove first") in (
        "? the game is over\n\n", f"? it is the turn of {session._other(session._sides()[0])}\n\n"
    )


def test_moves_and_positions_of_a_definition() -> None:
    session = session_of("dots-and-boxes:1x1")
    first, second, third, fourth = str(session.answer("zermelo-moves"))[2:].split()
    assert session.answer(f"1 play first {first}") == "=1\n\n"
    assert session.answer(f"play first {second}") == "? it is the turn of O\n\n"
    assert session.answer(f"play white {second}") == "=\n\n"
    assert session.answer(f"play X {second}") == "? illegal move\n\n"
    assert session.answer("undo") == "=\n\n"
    text = str(session.answer("zermelo-position"))[2:].strip()
    assert session.answer("clear_board") == "=\n\n"
    assert session.answer(f"zermelo-position {text}") == f"= {text}\n\n"
    for side, edge in (("second", second), ("first", third), ("second", fourth)):
        assert session.answer(f"play {side} {edge}") == "=\n\n"
    assert session.answer("play green a1") == "? invalid colour\n\n"
    assert session.answer("known_command boardsize") == "= false\n\n"
    assert str(session.answer("showboard")).startswith("= \n")
    assert session.answer("zermelo-game") == f"= {session.game.spec}\n\n"


def test_a_game_too_large_to_solve_is_played_all_the_same() -> None:
    session = session_of("breakthrough:8x8", node_budget=200)
    assert str(session.answer("genmove first")).startswith("= ")
    assert session.answer("zermelo-value") == "= -1..1\n\n"
