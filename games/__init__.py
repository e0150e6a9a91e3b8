"""Games: the interface, the registry, and readable reference rules."""

from zermelo.games.go import Go
from zermelo.games.interface import KEY_BYTES, Bounds, Game, GameError, Key, Move, Score
from zermelo.games.registry import game_names, open_game, register
from zermelo.games.reversi import Reversi

register(Go.name, Go.from_spec)
register(Reversi.name, Reversi.from_spec)

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
