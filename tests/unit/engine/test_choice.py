"""Which engine a game gets, and what cannot be asked for."""

from __future__ import annotations

import pytest

from tests.support.oracle import reversi
from zermelo.cext.cpu import instruction_sets
from zermelo.engine import EngineError, open_engine
from zermelo.engine.dispatch import compiled
from zermelo.engine.portable import PortableEngine
from zermelo.engine.reversi import ReversiEngine
from zermelo.games import GameError, game_names, open_game


def test_reversi_has_a_compiled_engine() -> None:
    engine = open_engine(reversi("reversi:6x6"), threads=2, hash_mb=1)
    assert isinstance(engine, ReversiEngine)
    assert engine.game == open_game("reversi:6x6")
    assert engine.threads == 2


def test_every_game_has_an_engine() -> None:
    assert "reversi" in game_names()
    for spec in ("reversi:4x4", "reversi:8x8,scoring=wof", "reversi:5x7,start=parallel"):
        game = open_game(spec)
        assert open_engine(game, hash_mb=1).game == game


@pytest.mark.parametrize("threads", [0, -1])
def test_no_threads(threads: int) -> None:
    with pytest.raises(EngineError, match=f"{threads} threads; at least 1"):
        open_engine(reversi("reversi:4x4"), threads=threads)


@pytest.mark.parametrize("megabytes", [0, -1, 1 << 40, 1 << 70])
def test_impossible_tables(megabytes: int) -> None:
    with pytest.raises(EngineError, match=str(megabytes)) as caught:
        open_engine(reversi("reversi:4x4"), hash_mb=megabytes)
    assert caught.value.exit_code == 2


def test_the_best_instruction_set_is_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ZERMELO_INSTRUCTIONS", raising=False)
    assert instruction_sets()[-1] == "plain"
    assert instruction_sets()[0] == compiled("reversi").INSTRUCTIONS
    for name in instruction_sets():
        monkeypatch.setenv("ZERMELO_INSTRUCTIONS", name)
        assert name == compiled("reversi").INSTRUCTIONS


def test_unknown_instruction_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ZERMELO_INSTRUCTIONS", "abacus")
    with pytest.raises(EngineError, match=r"'abacus'.*plain"):
        open_engine(reversi("reversi:4x4"))


@pytest.mark.parametrize("name", ["compiled", "portable"])
def test_keys_that_are_no_positions_are_not_expanded(name: str) -> None:
    game = reversi("reversi:4x4")
    engine = open_engine(game, hash_mb=1) if name == "compiled" else PortableEngine(game)
    good = game.encode(game.initial())
    for keys in (b"x", good + b"x", b"\xff" * 16, good + bytes(8) + b"\xf0" * 8):
        with pytest.raises(GameError):
            engine.expand(keys)
    assert engine.expand(good + good).counts == [1, 1]
