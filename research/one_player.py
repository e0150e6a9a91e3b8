"""One player alone: in how few moves a game can be won."""

from __future__ import annotations

from typing import Any

from zermelo import ZermeloError
from zermelo.engine import open_engine
from zermelo.games import Game

#: Positions that are looked at before the search is given up.
MOST_POSITIONS = 1_000_000
HASH_MB = 1


class TooManyPositionsError(ZermeloError):
    """The search was given up; the message says how far it came."""

    exit_code = 5


def fewest_moves(game: Game[Any], most: int = MOST_POSITIONS) -> int | None:
    """How few moves of the first player win; None if none do.

    All positions after one ply are looked at before those after two. `TooManyPositionsError`
    after `most` of them.
    """
    engine = open_engine(game, hash_mb=HASH_MB)
    level = {game.encode(game.canonical(game.initial()))}
    seen, plies = set(level), 0
    while level:
        keys = sorted(level)
        following: set[bytes] = set()
        for key, after in zip(keys, engine.expand(b"".join(keys)).by_parent(), strict=True):
            if not after and _is_won(game, key):
                return _moves(plies)
            following.update(after)
        level = following - seen
        seen |= level
        plies += 1
        if len(seen) > most:
            raise TooManyPositionsError(
                f"fewer than {_moves(plies)} moves are not enough; looking further takes more than"
                f" {most:,} positions"
            )
    return None


def _moves(plies: int) -> int:
    """The first player's share of the plies: the other only passes in between."""
    return (plies + 1) // 2


def _is_won(game: Game[Any], key: bytes) -> bool:
    position = game.decode(key)
    score = game.score(position)
    return score > 0 if position.turn == 0 else score < 0
