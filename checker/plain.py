"""The checker of every game that has no other: over the plain rules, history and all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from zermelo.checker.certificate import Certificate
from zermelo.checker.interface import Place, Solver, Step, Tell
from zermelo.checker.solver import PlainSolver
from zermelo.checker.structure import PlainStructure
from zermelo.games import Game


class PlainChecker:
    """What a game's own checker does not do better it leaves to this one."""

    def __init__(self, game: Game[Any]) -> None:
        self._game = game

    def check(self, certificate: Certificate, tell: Tell) -> None:
        PlainStructure(certificate, self._game).check(tell)

    def solvers(self, number: int) -> Sequence[Solver]:
        return [PlainSolver(self._game) for _ in range(number)]

    def steps(self, place: Place) -> list[Step]:
        game = self._game
        position = game.decode(*place)
        found = []
        for move in game.moves(position):
            after = game.canonical(game.play(position, move))
            score = game.score(after) if game.is_final(after) else None
            found.append(Step(move, (game.encode(after), game.history(after)), score))
        return found
