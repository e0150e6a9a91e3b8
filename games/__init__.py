"""Games: the interface, the registry, and readable reference rules."""

from zermelo.games.interface import KEY_BYTES, Bounds, Game, GameError, Key, Move, Score
from zermelo.games.registry import game_names, open_game

__all__ = [
    "KEY_BYTES",
    "Bounds",
    "Game",
    "GameError",
    "Key",
    "Move",
    "Score",
    "game_names",
    "open_game",
]
