"""What some engines can do beyond solving.

An engine has a capability if it has its methods; nobody asks for the engine's class::

    if isinstance(engine, CountsLines):
        return engine.count_lines(position, plies)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple, Protocol, runtime_checkable

from zermelo.engine.interface import Efforts
from zermelo.games import Key, Move, Score


@runtime_checkable
class CountsLines(Protocol):
    """Perft at the engine's speed."""

    def count_lines(self, position: Any, plies: int) -> int:
        """The lines of play of `plies` moves; a game that ends earlier counts as one."""


@runtime_checkable
class HasPasses(Protocol):
    """Passes that prove nothing may come before a search, to find good moves for it."""

    #: Also before a single question. What they find is in no checkpoint: a search that goes on from
    #: one repeats them.
    passes_for_questions: bool


@runtime_checkable
class Sharpens(Protocol):
    """Answers to questions may tell more than was asked, where that is cheap."""

    #: Whether to spend a little more on a bound that games usually end with: an even one on a board
    #: of even size. Another host may come to the plain answer; both are compatible.
    sharpens_answers: bool


@runtime_checkable
class AppraisesMany(Protocol):
    """Guesses and efforts for many positions in one call, without the GIL."""

    def guess_all(self, positions: Sequence[Any]) -> list[int]:
        """A guess for each position. It may be rougher than `Engine.guess`: who asks for many has
        their efforts besides."""

    def efforts_all(self, questions: Sequence[tuple[Any, int]]) -> list[Efforts] | None:
        """The efforts for each position and threshold; None where the engine knows none."""


class Secured(NamedTuple):
    """The score of a canonical position is at least, or at most, the bound."""

    key: Key
    at_least: bool
    bound: int
    #: At least: the move that secures it.
    move: Move | None


@runtime_checkable
class WritesStrategies(Protocol):
    """Proofs to the end of every game, without a question for each position."""

    def strategies(self, statements: Iterable[Secured]) -> Iterator[Secured]:
        """The statements, which hold, and all that they rest on: one move where a bound is
        secured, every reply where it is not. Positions where the game is over are left out."""


@runtime_checkable
class Switchable(Protocol):
    """Techniques that can be left out, to see what each is worth; none changes a value."""

    def techniques(self) -> tuple[str, ...]:
        """What can be switched off here; what needs weights, only where there are some."""

    def switched_algorithms(self) -> tuple[str, ...]:
        """The algorithms that use the techniques."""

    def switch(self, **techniques: bool) -> None:
        """Switch techniques off that are named false, and all others on."""


class Run(NamedTuple):
    """One search for the exact score of one position; no score if it met the node budget."""

    score: Score | None
    nodes: int
    seconds: float


@runtime_checkable
class Textbook(Protocol):
    """The algorithms as textbooks print them, with move orderings to choose from."""

    def orderings(self, algorithm: str) -> Iterable[tuple[str, ...]]:
        """The move orderings worth comparing; each is a tuple of features, best first."""

    def search_by_textbook(
        self, position: Any, algorithm: str, orders: tuple[str, ...], node_budget: int
    ) -> Run:
        """Search for the exact score with nothing but this algorithm and this ordering."""
