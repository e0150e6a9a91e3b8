"""Choosing the engine for a game: compiled where there is one, portable otherwise."""

from __future__ import annotations

from typing import Any

from zermelo.engine.interface import Engine, EngineError
from zermelo.engine.portable import PortableEngine
from zermelo.games import Game
from zermelo.games.go import Go


def open_engine(game: Game[Any], *, threads: int = 1, hash_mb: int = 64) -> Engine:
    """The fastest engine for `game` on this machine."""
    if threads < 1:
        raise EngineError(f"{threads} threads; at least 1 is needed")
    if hash_mb < 1:
        raise EngineError(f"a table of {hash_mb} MB; at least 1 is needed")
    if isinstance(game, Go):
        from zermelo.engine.go import GoEngine

        return GoEngine(game, hash_mb=hash_mb)
    return PortableEngine(game)
