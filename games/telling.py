"""What people who play are told besides the rules: forced passes, pieces, sides."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from zermelo.games.interface import PASS_NAME, Game


def must_pass(game: Game[Any], position: Any) -> bool:
    """Whether a pass is the only legal move."""
    moves = game.moves(position)
    return len(moves) == 1 and game.move_name(moves[0]) == PASS_NAME


def count_pieces(game: Game[Any], position: Any) -> tuple[int, int]:
    """The pieces of the first and of the second side on the board."""
    pieces = [point.piece for point in game.picture(position).points if point.piece is not None]
    return sum(piece.side == 0 for piece in pieces), sum(piece.side == 1 for piece in pieces)


@lru_cache(maxsize=64)
def side_signs(game: Game[Any]) -> tuple[str, str]:
    """How both sides are written, the one that moves first at the start of the game first."""
    start = game.initial()
    return game.side_to_move(start), game.side_to_move(game.play(start, game.moves(start)[0]))
