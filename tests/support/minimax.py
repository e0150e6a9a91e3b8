"""Plain minimax over the reference rules: shares nothing with engines or planner."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from zermelo.games import Game

#: Values that take plain minimax minutes, computed by it once.
KNOWN_VALUES = {"reversi:4x4": -8, "reversi:4x5": 16, "reversi:5x4": 16}


@lru_cache(maxsize=4)
def _values(game: Game[Any]) -> dict[tuple[bytes, bytes], int]:
    """What is known about a game by now: tests ask about many positions of the same one."""
    return {}


def minimax(game: Game[Any], position: Any) -> int:
    values = _values(game)

    def value(position: Any) -> int:
        key = game.encode(position), game.history(position)
        if key not in values:
            moves = game.moves(position)
            values[key] = best_of(position, moves) if moves else game.score(position)
        return values[key]

    def best_of(position: Any, moves: Sequence[Any]) -> int:
        best = -game.max_score
        for move in moves:
            best = max(best, -value(game.play(position, move)))
            if best == game.max_score:
                break  # there is nothing better
        return best

    return value(position)
