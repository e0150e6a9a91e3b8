"""Choosing the engine for a game: the registered one, portable where there is none."""

from __future__ import annotations

import os
from typing import Any

from zermelo.engine.interface import Engine, EngineError
from zermelo.engine.portable import PortableEngine
from zermelo.engine.registry import engines
from zermelo.engine.shared_table import SharedTable
from zermelo.games import Game


def open_engine(
    game: Game[Any], *, threads: int = 1, hash_mb: int = 64, shared: SharedTable | None = None
) -> Engine:
    """The fastest engine for `game` on this machine, on a shared table where it can use one."""
    if threads < 1:
        raise EngineError(f"{threads} threads; at least 1 is needed")
    memory_mb = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") >> 20
    if not 1 <= hash_mb < memory_mb:
        raise EngineError(f"a table of {hash_mb} MB; this machine allows 1 to {memory_mb - 1}")
    factory = engines.find(game.family)
    if factory is None:
        return PortableEngine(game)
    return factory(game, threads=threads, hash_mb=hash_mb, shared=shared)
