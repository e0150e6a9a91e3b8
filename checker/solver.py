"""Searching leaves again: the compiled solver for reversi, a plain one for every game."""

from __future__ import annotations

from itertools import count
from typing import Any, Protocol

from zermelo.checker.go import GoBoards, GoProver
from zermelo.checker.reversi import ReversiSolver, ReversiTable
from zermelo.games import Game, Key, open_game
from zermelo.games.go import Go, GoPosition
from zermelo.games.reversi import Reversi

#: Entries of the solvers' tables, as powers of two: 48 MiB for all that search reversi; for
#: each that searches Go 24 MiB, and 48 more where not all boards can be weighed.
_REVERSI_BITS, _GO_BITS = 21, 20
#: How many plies further proofs are looked for that need no ko rule: they are cheaper.
_LEAD = 10


class Solver(Protocol):
    @property
    def nodes(self) -> int:
        """Positions looked at so far."""

    def stop(self) -> None:
        """Make the running question, and all further ones, return None."""

    def at_least(self, key: Key, bound: int, history: bytes) -> bool | None:
        """Whether the score of the position is at least `bound`."""


def open_solvers(spec: str, number: int) -> list[Solver]:
    """Solvers that may work at the same time; where they can, they share what they find."""
    game = open_game(spec)
    if isinstance(game, Reversi):
        table = ReversiTable(_REVERSI_BITS)
        return [CompiledReversi(game, table) for _ in range(number)]
    if isinstance(game, Go):
        boards = weigh_boards(game)
        return [CompiledGo(game, boards) for _ in range(number)]
    return [PlainSolver(game) for _ in range(number)]


class CompiledReversi:
    def __init__(self, game: Reversi, table: ReversiTable) -> None:
        self._solver = ReversiSolver(game.rows, game.cols, game.scoring == "wof", table)
        self.stop = self._solver.stop

    @property
    def nodes(self) -> int:
        return self._solver.nodes

    def at_least(self, key: Key, bound: int, history: bytes) -> bool | None:
        return self._solver.at_least(key, bound)


def weigh_boards(game: Go) -> GoBoards | None:
    """All boards of a game, if they are few enough to be weighed."""
    if not GoBoards.weighs(game.rows, game.cols, _counts_passes(game)):
        return None
    return GoBoards(game.rows, game.cols, game.ko, game.suicide == "allowed", game.komi)


def _counts_passes(game: Go) -> bool:
    return game.ko == "basic" and game.cycle == "passes"


class CompiledGo:
    """Both sides look for a proof in turns, a ply deeper each time."""

    def __init__(self, game: Go, boards: GoBoards | None) -> None:
        self._game = game
        self._prover = GoProver(
            game.rows, game.cols, game.ko, _counts_passes(game),
            game.suicide == "allowed", game.komi, _GO_BITS, boards,
        )
        self.stop = self._prover.stop
        self._lead = _LEAD if boards is None and game.ko != "basic" else 0

    @property
    def nodes(self) -> int:
        return self._prover.nodes

    def at_least(self, key: Key, bound: int, history: bytes) -> bool | None:
        position = self._game.decode(key, history)
        if self._game.is_final(position):
            return self._game.score(position) >= bound
        answer = None
        for plies in count():
            answer = self.within(position, bound, plies)
            if answer is not None or self._prover.stopped:
                break
        return answer

    def within(self, position: GoPosition, bound: int, plies: int) -> bool | None:
        """The answer, if one side is seen within so many plies to have a proof."""
        state = (position.black, position.white, position.black_to_move, position.passes,
                 position.ko, position.past)
        own, searched = position.black_to_move, max(0, plies - self._lead)
        if self._prover.proves(*state, own, bound, searched, plies):
            return True
        if self._prover.proves(*state, not own, 1 - bound, searched, plies):
            return False
        return None


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
        self._stopped = False
        self.nodes = 0

    def stop(self) -> None:
        self._stopped = True

    def at_least(self, key: Key, bound: int, history: bytes) -> bool | None:
        position = self._game.decode(key, history)
        try:
            for plies in count(1):
                if self._holds(position, True, bound, plies):
                    return True
                if self._holds(position, False, bound - 1, plies):
                    return False
        except _StoppedError:
            pass
        return None

    def _holds(self, position: Any, at_least: bool, bound: int, plies: int) -> bool:
        """Whether it is seen within so many plies that the score is at least, or at most,
        the bound; not that it is not."""
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
        self._searched[statement] = -1 if holds else plies
        return holds
