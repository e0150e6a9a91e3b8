"""What every engine can do, whether compiled for one game or portable for all.

An engine solves one position at a time. `solve` blocks, with the interpreter lock
released where the engine is compiled; `abort` and `progress` may be called from
other threads meanwhile. Its transposition table lives as long as the engine, so
that later questions profit from earlier ones.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, NamedTuple, Protocol

from zermelo import ZermeloError
from zermelo.games import KEY_BYTES, Bounds, Game, Key, Move

#: What every engine can do.
ALGORITHMS = ("minimax", "alphabeta", "negamax", "negascout", "mtdf")
#: With proof-number search, which the engine for definitions can do.
EVERY_ALGORITHM = (*ALGORITHMS, "pns")


class Status(Enum):
    """How a search ended."""

    SOLVED = "solved"  # the bounds answer what was asked
    EXHAUSTED = "exhausted"  # the node budget was reached first
    ABORTED = "aborted"  # somebody called `abort`


class Known(NamedTuple):
    """A position with what is proved about it."""

    position: Any
    bounds: Bounds


class Progress(NamedTuple):
    """A snapshot of a running search."""

    nodes: int
    bounds: Bounds
    #: Share of the current pass at the root that is done, 0 to 1.
    fraction: float


class Efforts(NamedTuple):
    """What proving either answer to a question probably takes: logarithms (base e) of nodes.

    The less likely an answer is, the greater the effort that proving it seems to take.
    """

    yes: float
    no: float


class Window(NamedTuple):
    """An open interval: the search tells scores strictly inside it apart.

    ``Window(t - 1, t)`` asks "is the score at least t?".
    """

    alpha: int
    beta: int

    @classmethod
    def question(cls, threshold: int) -> Window:
        return cls(threshold - 1, threshold)

    def settled_by(self, bounds: Bounds) -> bool:
        """Whether a score within `bounds` leaves nothing in this window to tell apart."""
        return bounds.exact or bounds.lo >= self.beta or bounds.hi <= self.alpha

    def next_question(self, guess: int, bounds: Bounds) -> Window:
        """MTD(f)'s next null window: as near to the guess as `bounds` leave something to ask."""
        threshold = min(guess, bounds.hi, self.beta)
        return Window.question(max(threshold, bounds.lo + 1, self.alpha + 1))

    def proved_by(self, score: int, limits: Bounds) -> Bounds:
        """What the score of a search within this window proves, be it fail-soft or fail-hard:

        score <= alpha:          the true score is at most this
        alpha < score < beta:    the true score
        score >= beta:           the true score is at least this
        """
        return Bounds(
            score if score > self.alpha else limits.lo, score if score < self.beta else limits.hi
        )


@dataclass(frozen=True, slots=True)
class SearchReport:
    """What a search found out. The bounds are proved, whatever the status."""

    status: Status
    bounds: Bounds
    move: Move | None
    line: tuple[Move, ...]
    nodes: int
    seconds: float
    #: Children and grandchildren settled by an unfinished search, to start again from.
    proved: Sequence[Known] = field(default=())


class Engine(Protocol):
    """What everybody may ask of an engine; `capabilities.py` lists what only some can do."""

    @property
    def game(self) -> Game[Any]:
        """The game this engine solves."""

    @property
    def algorithms(self) -> tuple[str, ...]:
        """Those of `EVERY_ALGORITHM` that `solve` takes."""

    def solve(
        self,
        position: Any,
        window: Window | None = None,
        *,
        algorithm: str = "mtdf",
        node_budget: int | None = None,
        known: Iterable[Known] = (),
    ) -> SearchReport:
        """Tell the score of `position` apart within `window` (default: exactly).

        `known` bounds are trusted and seed the table. Ends early, with the bounds
        proved so far, when `node_budget` nodes were visited or `abort` was called.
        """

    def abort(self) -> None:
        """Make the running `solve` return within 50 ms; without effect if none runs."""

    def progress(self) -> Progress:
        """Where the running search stands."""

    def guess(self, position: Any) -> int:
        """A quick estimate of the score: where to start asking. Proves nothing."""

    def efforts(self, position: Any, threshold: int) -> Efforts | None:
        """What it probably takes to prove or disprove that the score is at least `threshold`.

        None where the engine knows no more than how long the game will last. Proves nothing.
        """

    def checkpoint(self) -> bytes:
        """What the table knows, so that `restore` saves repeating the work."""

    def restore(self, checkpoint: bytes) -> None:
        """Put a checkpoint into the table; `CheckpointError` if it is damaged."""

    def clear(self) -> None:
        """Forget everything."""

    def expand(self, keys: bytes) -> Expansion:
        """The canonical children of many positions at once, all given by key."""


class Expansion(NamedTuple):
    """The children of a batch of positions, flattened in the order of their parents."""

    #: Keys of the canonical children, distinct within one parent, `KEY_BYTES` each.
    children: bytes
    #: How many children each parent has; 0 means that its game is over.
    counts: Sequence[int]

    def by_parent(self) -> list[list[Key]]:
        keys = [
            self.children[at : at + KEY_BYTES] for at in range(0, len(self.children), KEY_BYTES)
        ]
        result, at = [], 0
        for count in self.counts:
            result.append(keys[at : at + count])
            at += count
        return result


class EngineError(ZermeloError, ValueError):
    """An engine was asked for something impossible; the message says what."""

    exit_code = 2


class CheckpointError(EngineError):
    """A checkpoint is damaged, or of another game or version."""


def narrowed(known: Bounds, found: Bounds) -> Bounds:
    """Both bounds together. They contradict each other only if the table was told what is false:
    by a checkpoint whose digest is right, or as known."""
    if found.lo > known.hi or found.hi < known.lo:
        raise EngineError(
            f"the table contradicts itself: {known.lo}..{known.hi} and {found.lo}..{found.hi};"
            " what was restored into it is false"
        )
    return known & found
