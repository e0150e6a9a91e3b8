"""Players that look ahead by their own means, or not at all."""

from __future__ import annotations

import random
from typing import Any

from zermelo.games import Game, Move
from zermelo.players.evaluations import Evaluation
from zermelo.players.interface import PlayerError


class RandomPlayer:
    def __init__(self, game: Game[Any], seed: int | None = None) -> None:
        self.name = "random"
        self._game = game
        self._random = random.Random(seed)  # noqa: S311

    def choose(self, position: Any) -> Move:
        return self._random.choice(self._game.moves(position))

    def begin(self) -> None:
        pass


class LookingPlayer:
    """Minimax with alpha-beta `plies` ahead, and an evaluation believed there."""

    def __init__(self, game: Game[Any], plies: int, evaluate: Evaluation, name: str) -> None:
        self.name = name
        self._game, self._plies, self._evaluate = game, plies, evaluate

    def choose(self, position: Any) -> Move:
        game = self._game
        limit: float = game.max_score + 1
        best, chosen = -limit, None
        for move in game.moves(position):
            score = -self._look(game.play(position, move), self._plies - 1, -limit, -best)
            if chosen is None or score > best:
                best, chosen = score, move
        if chosen is None:
            raise PlayerError("the game is over")
        return chosen

    def begin(self) -> None:
        pass

    def _look(self, position: Any, plies: int, alpha: float, beta: float) -> float:
        game = self._game
        moves = game.moves(position)
        if not moves:
            return game.score(position)
        if not plies:
            return self._evaluate(position)
        for move in moves:
            alpha = max(alpha, -self._look(game.play(position, move), plies - 1, -beta, -alpha))
            if alpha >= beta:
                break
        return alpha
