"""Searching leaves again, on the plain rules of any game."""

from __future__ import annotations

from typing import Any

from zermelo.checker.limits import MAX_SEARCH_PLIES, SOLVER_BYTES, unsettled
from zermelo.games import Game, Key

#: What Python needs for one statement besides its history.
_STATEMENT_BYTES = 400


class _StoppedError(Exception):
    pass


class PlainSolver:
    """Looks for a proof on the reference rules, a ply deeper each time.

    Where the past matters, games can go on for very long, but proofs are short: one side
    plays what it needs and ends the game. So both sides look for one in turns, and what
    is remembered is kept apart by history.
    """

    def __init__(self, game: Game[Any]) -> None:
        self._game = game
        #: How many plies a search for a proof of the statement has gone; -1: it holds.
        self._searched: dict[tuple[Key, bytes, bool, int], int] = {}
        self._remembered_bytes = 0
        self._stopped = False
        self.nodes = 0

    def stop(self) -> None:
        self._stopped = True

    def at_least(self, key: Key, bound: int, history: bytes) -> bool | None:
        position = self._game.decode(key, history)
        try:
            for plies in range(1, MAX_SEARCH_PLIES):
                if self._holds(position, True, bound, plies):
                    return True
                if self._holds(position, False, bound - 1, plies):
                    return False
        except _StoppedError:
            return None
        raise unsettled()

    def _holds(self, position: Any, at_least: bool, bound: int, plies: int) -> bool:
        """Whether the score is seen to be at least, or at most, the bound.

        True:     a proof
        False:    not seen within `plies`; with more it may be
        """
        if self._stopped:
            raise _StoppedError
        self.nodes += 1
        game = self._game
        if game.is_final(position):
            score = game.score(position)
            return score >= bound if at_least else score <= bound
        if not plies:
            return False
        canonical = game.canonical(position)
        statement = game.encode(canonical), game.history(canonical), at_least, bound
        searched = self._searched.get(statement, 0)
        if searched < 0 or searched >= plies:
            return searched < 0
        children = [game.play(position, move) for move in game.moves(position)]
        children.sort(key=game.evaluate, reverse=not at_least)
        enough = any if at_least else all
        holds = enough(self._holds(child, not at_least, -bound, plies - 1) for child in children)
        self._remember(statement, -1 if holds else plies)
        return holds

    def _remember(self, statement: tuple[Key, bytes, bool, int], plies: int) -> None:
        if statement not in self._searched:
            self._remembered_bytes += _STATEMENT_BYTES + len(statement[1])
        if self._remembered_bytes > SOLVER_BYTES:
            # What was forgotten is searched again.
            self._searched.clear()
            self._remembered_bytes = _STATEMENT_BYTES + len(statement[1])
        self._searched[statement] = plies
