"""Best play to the end of the game, beyond where the tree ends."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

from zermelo.engine import Engine, EngineError, Status, open_engine
from zermelo.games import Game, Move

HASH_MB = 16
LONGEST_SECONDS = 1.0


def play_on(
    game: Game[Any], position: Any, *, threads: int = 1, seconds: float = LONGEST_SECONDS
) -> Sequence[Move]:
    """The engine's best line from a position whose exact score is proved.

    A frontier position was one workunit, so solving it once more takes no longer. Nothing
    comes back if the search does not end within so many seconds. `threads` are used by engines
    that can.
    """
    if game.is_final(position):
        return ()
    engine = _open(game, threads)
    timer = threading.Timer(seconds, engine.abort)
    timer.start()
    try:
        found = engine.solve(position)
    finally:
        timer.cancel()
        timer.join()
    return found.line if found.status is Status.SOLVED else ()


def _open(game: Game[Any], threads: int) -> Engine:
    try:
        return open_engine(game, threads=threads, hash_mb=HASH_MB)
    except EngineError:  # it searches with one
        return open_engine(game, hash_mb=HASH_MB)
