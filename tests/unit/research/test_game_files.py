"""Games to take away: what is written is read again."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from zermelo.cli.suite import load_suite
from zermelo.games import GameError, open_game
from zermelo.research.game_files import FORMATS, formats_of
from zermelo.research.games_played import PlayedGame

MOVES = ["b1", "a1", "a2", "c1", "d4", "a3", "d1", "b4", "a4", "c4"]


def a_game() -> PlayedGame:
    game = open_game("reversi:4x4")
    at = game.initial()
    for name in MOVES:
        at = game.play(at, game.find_move(at, name))
    return PlayedGame(
        7, game.spec, None, "Änna", "minimax:3,matrix", MOVES, game.format(at), -8,
        datetime(2026, 1, 2, tzinfo=UTC), 61.4, "Änna", "minimax:3,matrix", "phone", 3,
    )  # fmt: skip


def test_text_tells_all_that_is_stored() -> None:
    told = FORMATS["text"].write(a_game())
    for line in ("first: Änna", "machine: minimax:3,matrix", "depth: 3", "device: phone",
                 "winner: minimax:3,matrix", "score: -8", "seconds: 61",
                 "started: 2026-01-02T00:00:00+00:00", f"moves: {' '.join(MOVES)}"):  # fmt: skip
        assert f"{line}\n" in told


def test_obf_is_a_suite_of_the_game(tmp_path: Path) -> None:
    file = tmp_path / "game.obf"
    file.write_text(FORMATS["obf"].write(a_game()))
    suite = load_suite(str(file))
    assert suite.game == open_game("reversi:4x4")
    assert len(suite.positions) == len(MOVES) + 1
    assert [listed.score for listed in suite.positions] == [None] * len(MOVES) + [-8]


def test_each_game_has_the_formats_that_fit() -> None:
    assert formats_of(open_game("reversi:4x4")) == ["text", "sgf", "obf"]
    assert formats_of(open_game("go:3x3")) == ["text", "sgf"]
    assert formats_of(open_game("nim:1")) == ["text"]
    game = PlayedGame(
        1, open_game("nim:1").spec, None, "a", "b", ["1>0"], "0", 1, datetime.now(UTC), 1.0
    )
    for form in ("sgf", "obf"):
        with pytest.raises(GameError):
            FORMATS[form].write(game)
