"""The checker of Go: the plain rules, and a compiled solver for the leaves."""

from __future__ import annotations

from collections.abc import Sequence

from zermelo.checker.go import GoBoards, GoProver
from zermelo.checker.interface import Solver
from zermelo.checker.limits import MAX_SEARCH_PLIES, unsettled
from zermelo.checker.plain import PlainChecker
from zermelo.games import Key
from zermelo.games.go import Go, GoPosition

#: Entries of a solver's table, as a power of two: 24 MiB for each, and 48 more where not all
#: boards can be weighed.
_TABLE_BITS = 20
#: How many plies further proofs are looked for that need no ko rule: they are cheaper.
_LEAD = 10


class GoChecker(PlainChecker):
    def __init__(self, game: Go) -> None:
        super().__init__(game)
        self._go = game

    def solvers(self, number: int) -> Sequence[Solver]:
        boards = weigh_boards(self._go)
        return [CompiledGo(self._go, boards) for _ in range(number)]


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
            game.suicide == "allowed", game.komi, _TABLE_BITS, boards,
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
        for plies in range(MAX_SEARCH_PLIES):
            answer = self.within(position, bound, plies)
            if answer is not None or self._prover.stopped:
                return answer
        raise unsettled()

    def within(self, position: GoPosition, bound: int, plies: int) -> bool | None:
        """The answer, if one side is seen within `plies` plies to have a proof."""
        state = (position.black, position.white, position.black_to_move, position.passes,
                 position.ko, position.past)
        own, searched = position.black_to_move, max(0, plies - self._lead)
        if self._prover.proves(*state, own, bound, searched, plies):
            return True
        if self._prover.proves(*state, not own, 1 - bound, searched, plies):
            return False
        return None
