"""What a certificate proves, in words."""

from __future__ import annotations

from zermelo.checker import Header
from zermelo.checker.header_game import game_of
from zermelo.figures import signed, span


def statement(header: Header) -> str:
    game = game_of(header)
    initial = game.format(game.initial()) == header.position
    about = "the initial position" if initial else f"the position {header.position}"
    if header.lo == header.hi:
        worth = f"exactly {signed(header.lo)}"
    elif header.hi == game.max_score:
        worth = f"at least {signed(header.lo)}"
    elif header.lo == -game.max_score:
        worth = f"at most {signed(header.hi)}"
    else:
        worth = span(header.lo, header.hi)
    return f"{about} of {header.game} is worth {worth} to the side to move"
