"""GTP: whole games and records, without a process."""

from __future__ import annotations

from tests.support.go_positions import go
from tests.support.places import DATA
from zermelo.cli.gtp import GtpSession


def test_it_plays_a_whole_game_against_itself() -> None:
    session = GtpSession(go("3x3"), hash_mb=8, node_budget=100_000)
    for turn in range(60):
        session.answer(f"genmove {'bw'[turn % 2]}")
        if session.game.is_final(session.position):
            break
    assert session.answer("final_score") == "= B+9\n\n"


def test_it_loads_sgf() -> None:
    session = GtpSession(go("3x4"), hash_mb=8, node_budget=1000)
    path = DATA / "sgf" / "ko.sgf"
    assert session.answer(f"loadsgf {path}") == "=\n\n"
    assert session.answer("play b c2") == "? illegal move\n\n"
    assert session.answer("loadsgf nowhere.sgf") == "? cannot load file\n\n"
