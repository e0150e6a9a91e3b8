"""What a campaign wants to know about its root, and which test comes next until it does."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from zermelo.games import Bounds


class Goal(StrEnum):
    SCORE = "score"
    OUTCOME = "outcome"

    def reached(self, bounds: Bounds) -> bool:
        """Whether nothing is left to ask about a root with these bounds."""
        if self is Goal.SCORE:
            return bounds.exact
        return bounds.lo > 0 or bounds.hi < 0 or (bounds.lo == 0 == bounds.hi)

    def threshold(self, bounds: Bounds, guess: int) -> int:
        """The next test for a root whose score the goal still leaves open."""
        if self is Goal.OUTCOME:
            bounds = bounds & Bounds(-1, 1)
            guess = 1 if guess > 0 else 0
        return max(bounds.lo + 1, min(bounds.hi, guess))


def next_guess(bounds: Bounds, reached: bool, parity: int) -> int:
    """What to test after a test whose threshold was reached, or was not, and left these bounds.

    Most games end with every point of the board owned, so nearly all scores are odd or all are
    even, as `parity` is: those are the usual ones. A yes to a usual score and a no to the one above
    it leave nothing between them to ask. So the next yes is hoped for at a usual score and the
    next no just above one, and no test is spent on telling apart what is hardly ever apart.
    """
    if reached:
        return bounds.lo + 1 + (bounds.lo - parity) % 2
    return bounds.hi - (bounds.hi - parity) % 2


class Aim(Protocol):
    """What a campaign wants to know about its root."""

    def reached(self, bounds: Bounds) -> bool: ...

    def threshold(self, bounds: Bounds, guess: int) -> int: ...


@dataclass(frozen=True, slots=True)
class ClaimAim:
    """Somebody claims that the score lies within these bounds: is that so?"""

    claim: Bounds

    def reached(self, bounds: Bounds) -> bool:
        return self.holds(bounds) is not None

    def holds(self, bounds: Bounds) -> bool | None:
        """Whether the claim is right; None while that is open."""
        if bounds.hi < self.claim.lo or bounds.lo > self.claim.hi:
            return False
        inside = self.claim.lo <= bounds.lo and bounds.hi <= self.claim.hi
        return True if inside else None

    def threshold(self, bounds: Bounds, guess: int) -> int:
        return self.claim.lo if bounds.lo < self.claim.lo else self.claim.hi + 1
