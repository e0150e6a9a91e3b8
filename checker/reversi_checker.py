"""The checker of reversi: compiled rules, one table for all solvers."""

from __future__ import annotations

from collections.abc import Sequence

from zermelo.checker.certificate import Certificate
from zermelo.checker.columns import narrow_moves
from zermelo.checker.interface import Place, Solver, Step, Tell
from zermelo.checker.refusals import Fault, RefusedError, refusal
from zermelo.checker.reversi import ReversiRules, ReversiSolver, ReversiTable
from zermelo.games import Key
from zermelo.games.reversi import Reversi

#: Entries of the table that all solvers share, as a power of two: 48 MiB.
_TABLE_BITS = 21


class ReversiChecker:
    def __init__(self, game: Reversi) -> None:
        self._game = game
        self._rules = ReversiRules(game.rows, game.cols, game.scoring == "wof")

    def check(self, certificate: Certificate, tell: Tell) -> None:
        if any(certificate.histories):
            at = next(at for at, history in enumerate(certificate.histories) if history)
            raise RefusedError(refusal(certificate, self._game, at, Fault.NO_POSITION))
        found = self._rules.first_fault(
            certificate.keys, certificate.flags, certificate.bounds,
            narrow_moves(certificate.moves),
        )
        if found is not None:
            at, fault, key = found
            raise RefusedError(refusal(certificate, self._game, at, Fault(fault), key))
        tell(len(certificate))

    def solvers(self, number: int) -> Sequence[Solver]:
        table = ReversiTable(_TABLE_BITS)
        return [CompiledReversi(self._game, table) for _ in range(number)]

    def steps(self, place: Place) -> list[Step]:
        key, _ = place
        return [
            Step(move, (self._rules.canonical(after), b""), score)
            for move, after, score in self._rules.steps(key)
        ]


class CompiledReversi:
    def __init__(self, game: Reversi, table: ReversiTable) -> None:
        self._solver = ReversiSolver(game.rows, game.cols, game.scoring == "wof", table)
        self.stop = self._solver.stop

    @property
    def nodes(self) -> int:
        return self._solver.nodes

    def at_least(self, key: Key, bound: int, history: bytes) -> bool | None:
        return self._solver.at_least(key, bound)
