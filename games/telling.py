"""What people who play are told besides the rules: forced passes, pieces, sides."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from zermelo.games.interface import PASS_NAME, Game, Move
from zermelo.games.picture import Picture


def must_pass(game: Game[Any], position: Any) -> bool:
    """Whether a pass is the only legal move."""
    return is_forced_pass(game, game.moves(position))


def is_forced_pass(game: Game[Any], moves: Sequence[Move]) -> bool:
    """The same for the legal moves of a position."""
    return len(moves) == 1 and game.move_name(moves[0]) == PASS_NAME


def count_pieces(picture: Picture) -> tuple[int, int]:
    """The pieces of the first and of the second side on the board."""
    pieces = [point.piece for point in picture.points if point.piece is not None]
    return sum(piece.side == 0 for piece in pieces), sum(piece.side == 1 for piece in pieces)


@lru_cache(maxsize=64)
def side_signs(game: Game[Any]) -> tuple[str, str]:
    """How both sides are written, the one that moves first at the start of the game first."""
    start = game.initial()
    return game.side_to_move(start), game.side_to_move(game.play(start, game.moves(start)[0]))
