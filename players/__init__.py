"""Players of every kind for every game, opened by name."""

from zermelo.players.interface import Player, PlayerError
from zermelo.players.registry import KINDS, depth_of, known_players, open_player

__all__ = ["KINDS", "Player", "PlayerError", "depth_of", "known_players", "open_player"]
