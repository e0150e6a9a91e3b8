"""What a certificate proves, in words."""

from __future__ import annotations

from zermelo.checker import Header
from zermelo.games import open_game


def statement(header: Header) -> str:
    game = open_game(header.game)
    initial = game.format(game.initial()) == header.position
    about = "the initial position" if initial else f"the position {header.position}"
    if header.lo == header.hi:
        worth = f"exactly {header.lo:+d}"
    elif header.hi == game.max_score:
        worth = f"at least {header.lo:+d}"
    elif header.lo == -game.max_score:
        worth = f"at most {header.hi:+d}"
    else:
        worth = f"{header.lo:+d} to {header.hi:+d}"
    return f"{about} of {header.game} is worth {worth} to the side to move"
