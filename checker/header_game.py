"""The rules that a certificate is checked by: of a definition those of the text in the header."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from zermelo.checker.certificate import Header
from zermelo.checker.definition.game import CheckedDefinition
from zermelo.games import Game, GameError, open_game


def game_of(header: Header) -> Game[Any]:
    """`GameError` if there is no such game, or its text is not the one that is named."""
    if header.definition:
        return _definition(header.definition, header.game, header.symmetries)
    game = open_game(header.game)
    if game.is_definition:
        raise GameError(f"{game.short_spec} is a definition, whose text must be in the header")
    return game


@lru_cache(maxsize=4)
def _definition(text: str, spec: str, symmetries: str) -> CheckedDefinition:
    return CheckedDefinition(text, spec, tuple(symmetries.split(" ")))
