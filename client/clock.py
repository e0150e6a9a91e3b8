"""Noticing that the clock was set, or that the computer slept."""

from __future__ import annotations

import logging
import time

log = logging.getLogger(__name__)

WORTH_NOTICING_SECONDS = 10.0


class ClockWatch:
    """All deadlines are on the monotonic clock, which nobody sets; but it stops in sleep."""

    def __init__(self) -> None:
        self._difference = time.time() - time.monotonic()

    def jumped(self) -> float:
        """By how many seconds the clock has jumped since the last call; mostly 0."""
        difference = time.time() - time.monotonic()
        jump, self._difference = difference - self._difference, difference
        if abs(jump) < WORTH_NOTICING_SECONDS:
            return 0.0
        if jump > 0:
            log.warning(
                "the clock jumped ahead by %.0f s: it was set, or the computer slept; "
                "asking the server which leases still stand", jump,
            )  # fmt: skip
        else:
            log.warning(
                "the clock was set back by %.0f s; leases do not depend on it", -jump
            )  # fmt: skip
        return jump
