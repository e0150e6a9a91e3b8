"""Players of every kind for every game, opened by name."""

from zermelo.players.interface import Player, PlayerError
from zermelo.players.look_ahead import LookAhead
from zermelo.players.registry import KINDS, depth_of, known_players, look_ahead, open_player

__all__ = [
    "KINDS",
    "LookAhead",
    "Player",
    "PlayerError",
    "depth_of",
    "known_players",
    "look_ahead",
    "open_player",
]
