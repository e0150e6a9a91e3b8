"""From one canonical position to the next: which move it was."""

from __future__ import annotations

from typing import Any, NamedTuple

from zermelo.checker.reversi import ReversiRules
from zermelo.games import Game, Key, Move, Score
from zermelo.games.reversi import Reversi

#: A canonical position: its key and what its history is.
Place = tuple[Key, bytes]


class Step(NamedTuple):
    move: Move
    #: The canonical position after the move.
    after: Place
    #: The score there for the side to move, if the game is over.
    score: Score | None


class MoveFinder:
    """The moves of positions that are told by key and history."""

    def __init__(self, game: Game[Any]) -> None:
        self.game = game
        self._compiled: ReversiRules | None = None
        if isinstance(game, Reversi):
            self._compiled = ReversiRules(game.rows, game.cols, game.scoring == "wof")

    def steps(self, place: Place) -> list[Step]:
        key, history = place
        if self._compiled is not None:
            return [
                Step(move, (self._compiled.canonical(after), b""), score)
                for move, after, score in self._compiled.steps(key)
            ]
        game = self.game
        position = game.decode(key, history)
        found = []
        for move in game.moves(position):
            after = game.canonical(game.play(position, move))
            score = game.score(after) if game.is_final(after) else None
            found.append(Step(move, (game.encode(after), game.history(after)), score))
        return found

    def find(self, place: Place, after: Place) -> Move:
        """A move that leads from one canonical position to another."""
        for step in self.steps(place):
            if step.after == after:
                return step.move
        raise ValueError(f"no move leads from {place[0].hex()} to {after[0].hex()}")
