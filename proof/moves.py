"""From one canonical position to the next: which move it was."""

from __future__ import annotations

from typing import Any

from zermelo.checker.definition.game import CheckedDefinition
from zermelo.checker.interface import Place, Step
from zermelo.checker.registry import open_checker
from zermelo.games import Game, Move

__all__ = ["MoveFinder", "Place", "Step"]


def as_checked(game: Game[Any]) -> Game[Any]:
    """The game as the checker reads it: definitions it makes from the text."""
    text = game.definition_text
    return game if text is None else CheckedDefinition(text, game.spec, game.symmetry_names())


class MoveFinder:
    """The moves of positions that are told by key and history, as the checker knows them."""

    def __init__(self, game: Game[Any]) -> None:
        self.game = game
        #: The rules that the certificate will be checked by.
        self.checked = as_checked(game)
        self.steps = open_checker(self.checked).steps

    def find(self, place: Place, after: Place) -> Move:
        """A move that leads from one canonical position to another."""
        for step in self.steps(place):
            if step.after == after:
                return step.move
        raise ValueError(f"no move leads from {place[0].hex()} to {after[0].hex()}")
