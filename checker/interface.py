"""What a checker can do: one for each game, over the plain rules where there is no other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

from zermelo.checker.certificate import Certificate
from zermelo.games import Key, Move, Score

#: Called now and then with the number of entries checked.
Tell = Callable[[int], None]
#: A canonical position: its key and what its history is.
Place = tuple[Key, bytes]


class Step(NamedTuple):
    move: Move
    #: The canonical position after the move.
    after: Place
    #: The score there for the side to move, if the game is over.
    score: Score | None


class Solver(Protocol):
    @property
    def nodes(self) -> int:
        """Positions looked at so far."""

    def stop(self) -> None:
        """Make the running question, and all further ones, return None."""

    def at_least(self, key: Key, bound: int, history: bytes) -> bool | None:
        """Whether the score of the position is at least `bound`."""


class Checker(Protocol):
    """The rules of one game as the checker knows them."""

    def check(self, certificate: Certificate, tell: Tell) -> None:
        """`RefusedError` for the first entry that does not follow from the others.

        Leaves are left to the solvers, and that the root is among the entries to `verify`.
        """

    def solvers(self, number: int) -> Sequence[Solver]:
        """Solvers that may work at the same time; where they can, they share what they find."""

    def steps(self, place: Place) -> list[Step]:
        """The legal moves of a canonical position and what each leads to."""
