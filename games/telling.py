"""What people who play are told besides the rules: forced passes, pieces, why a game is over."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from zermelo.games.interface import Game
from zermelo.games.reversi import Reversi

PASS = "pass"  # noqa: S105 - no password


def must_pass(game: Game[Any], position: Any) -> bool:
    """Whether a pass is the only legal move."""
    moves = game.moves(position)
    return len(moves) == 1 and game.move_name(moves[0]) == PASS


def count_pieces(game: Game[Any], position: Any) -> tuple[int, int]:
    """The pieces of the first and of the second side on the board."""
    pieces = [point.piece for point in game.picture(position).points if point.piece is not None]
    return sum(piece.side == 0 for piece in pieces), sum(piece.side == 1 for piece in pieces)


@lru_cache(maxsize=64)
def side_signs(game: Game[Any]) -> tuple[str, str]:
    """How both sides are written, the one that moves first at the start of the game first."""
    start = game.initial()
    return game.side_to_move(start), game.side_to_move(game.play(start, game.moves(start)[0]))


def why_over(game: Game[Any], final: Any, moves: Sequence[str]) -> str:
    """Why a game with these moves is over in its final position."""
    if isinstance(game, Reversi):
        full = sum(count_pieces(game, final)) == game.max_score
        return "The board is full." if full else "Neither side can move."
    if list(moves[-2:]) == [PASS, PASS]:
        return "Both sides passed."
    return "The rules end the game here."
