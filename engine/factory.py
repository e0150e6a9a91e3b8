"""Choosing the engine for a game: compiled where there is one, portable otherwise."""

from __future__ import annotations

import os
from typing import Any

from zermelo.engine.go import GoEngine
from zermelo.engine.interface import Engine, EngineError
from zermelo.engine.portable import PortableEngine
from zermelo.engine.reversi import ReversiEngine
from zermelo.engine.shared_table import SharedTable
from zermelo.games import Game
from zermelo.games.go import Go
from zermelo.games.reversi import Reversi


def open_engine(
    game: Game[Any], *, threads: int = 1, hash_mb: int = 64, shared: SharedTable | None = None
) -> Engine:
    """The fastest engine for `game` on this machine, on a shared table where it can use one."""
    if threads < 1:
        raise EngineError(f"{threads} threads; at least 1 is needed")
    memory_mb = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") >> 20
    if not 1 <= hash_mb < memory_mb:
        raise EngineError(f"a table of {hash_mb} MB; this machine allows 1 to {memory_mb - 1}")
    if isinstance(game, Reversi):
        return ReversiEngine(game, threads=threads, hash_mb=hash_mb, shared=shared)
    if isinstance(game, Go):
        if threads > 1:
            raise EngineError(
                f"{threads} threads: the Go engine searches with one; `zermelo solve"
                f" {game.short_spec}` uses all cores"
            )
        return GoEngine(game, hash_mb=hash_mb)
    return PortableEngine(game)
