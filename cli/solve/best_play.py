"""Best play to the end of the game, beyond where the tree ends."""

from __future__ import annotations

import threading
from typing import Any

from zermelo.engine import Status, open_engine
from zermelo.games import Game

HASH_MB = 16
LONGEST_SECONDS = 1.0


def play_on(game: Game[Any], line: list[str]) -> list[str]:
    """The line with the moves that the engine finds after it, if it finds them soon.

    A frontier position was one workunit, so solving it once more takes no longer.
    """
    position = game.initial()
    for name in line:
        position = game.play(position, game.find_move(position, name))
    engine = open_engine(game, hash_mb=HASH_MB)
    timer = threading.Timer(LONGEST_SECONDS, engine.abort)
    timer.start()
    try:
        answer = engine.solve(position)
    finally:
        timer.cancel()
        timer.join()
    return line + game.line_names(answer.line) if answer.status is Status.SOLVED else line
