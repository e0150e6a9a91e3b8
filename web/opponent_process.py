"""Chooses moves for pages, in a process of its own: one line of JSON asks, one answers.

A request names the game, the player and the position. ``python -m
zermelo.web.opponent_process`` answers until its input ends.
"""

from __future__ import annotations

import json
import os
import sys
from functools import lru_cache
from typing import Any

from zermelo import ZermeloError
from zermelo.games import Game, open_game
from zermelo.players import Player, open_player

NICENESS = 10
#: Players that stay open: each may have a table of 64 MB.
MOST_OPEN = 2


def main() -> None:
    os.nice(NICENESS)
    for line in sys.stdin:
        try:
            reply = {"move": choose(**json.loads(line))}
        except ZermeloError as error:
            reply = {"error": str(error)}
        sys.stdout.write(json.dumps(reply) + "\n")
        sys.stdout.flush()


def choose(spec: str, player: str, key: str, history: str) -> str:
    """The name of the move that the player makes in a position, told by its key and history."""
    game, opened = _open(spec, player)
    position = game.decode(bytes.fromhex(key), bytes.fromhex(history))
    return game.move_name(opened.choose(position))


@lru_cache(maxsize=MOST_OPEN)
def _open(spec: str, player: str) -> tuple[Game[Any], Player]:
    game = open_game(spec)
    return game, open_player(player, game)


if __name__ == "__main__":
    main()
