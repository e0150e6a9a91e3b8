"""Plain search over the reference rules with full history and no table: the yardstick."""

from __future__ import annotations

from typing import Any

from zermelo.games import Game


class TooLargeError(Exception):
    """The plain search would take too long here."""


def plain_value(game: Game[Any], position: Any, budget: int = 200_000) -> int:
    """The exact score, by alpha-beta that remembers nothing."""
    nodes = 0

    def search(at: Any, alpha: int, beta: int) -> int:
        nonlocal nodes
        nodes += 1
        if nodes > budget:
            raise TooLargeError
        moves = game.moves(at)
        if not moves:
            return game.score(at)
        best = -game.max_score - 1
        for move in reversed(moves):  # a pass first: it ends most games soonest
            best = max(best, -search(game.play(at, move), -beta, -max(alpha, best)))
            if best >= beta:
                break
        return best

    limit = game.max_score
    return search(position, -limit - 1, limit + 1)
