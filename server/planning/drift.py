"""How far the estimate of a test has moved: evidence of how far it will.

What a test costs, the nodes spent on it and those that seem to remain, should stay the same
while it is worked on. Where it does not, the estimate is as doubtful as it was fickle.
"""

from __future__ import annotations

import math

#: What the tests before weigh, in estimates of this one.
_FORMER = 5.0


class Drift:
    def __init__(self) -> None:
        self._test: int | None = None
        self._spent_before = 0.0
        self._former = self._error = 0.0
        #: Of ln(cost): how many, their sum, and the sum of their squares.
        self._count, self._sum, self._squares = 0, 0.0, 0.0

    def error(self, test: int | None, spent: float, remaining: float) -> float:
        """How far ln(cost) was from what it is now, on average.

        `spent` counts the nodes of all tests.
        """
        if test != self._test or not self._count:
            self._test, self._spent_before = test, spent
            self._former = self._error
            self._count, self._sum, self._squares = 0, 0.0, 0.0
        cost = math.log(max(1.0, spent - self._spent_before + remaining))
        self._count += 1
        self._sum += cost
        self._squares += cost * cost
        moved = self._squares - 2 * cost * self._sum + self._count * cost * cost
        former = _FORMER * self._former**2
        self._error = math.sqrt(max(0.0, moved + former) / (self._count + _FORMER))
        return self._error
