"""Shared ways to make Go positions."""

from __future__ import annotations

import random

from zermelo.games import open_game
from zermelo.games.go import PASS, Go, GoPosition

RULES = [
    f"ko={ko}{cycle},suicide={suicide}"
    for ko, cycles in (("psk", [""]), ("ssk", [""]), ("basic", [",cycle=draw", ",cycle=passes"]))
    for cycle in cycles
    for suicide in ("forbidden", "allowed")
]


def go(spec: str) -> Go:
    game = open_game(f"go:{spec}")
    assert isinstance(game, Go)
    return game


def wander(game: Go, rng: random.Random, moves: int) -> GoPosition:
    """An unfinished position after at most `moves` random moves, few of them passes."""
    position = game.initial()
    for _ in range(moves):
        choices = game.moves(position)
        stones = [move for move in choices if move != PASS]
        move = rng.choice(stones if stones and rng.random() < 0.9 else choices)
        child = game.play(position, move)
        if game.is_final(child):
            break
        position = child
    return position
