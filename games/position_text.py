"""What the texts of positions of several games have in common."""

from __future__ import annotations

from zermelo.games.interface import GameError


def black_to_move(side: str, text: str, black_signs: str, white_signs: str) -> bool:
    """Whether the last word of a position's text names Black; `GameError` if it names nobody."""
    if len(side) != 1 or side not in black_signs + white_signs:
        raise GameError(
            f"no side to move at the end of position {shorten(text)!r}; write X or O there"
        )
    return side in black_signs


def shorten(text: str, width: int = 40) -> str:
    """Text for an error message, of at most `width` characters."""
    return text if len(text) <= width else text[: width - 3] + "..."
