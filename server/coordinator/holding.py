"""Answers that come late: whoever calls more often than allowed waits for each refusal.

A refusal costs as much as another call, and whoever ignores the pause in it calls again at once.
So the pause begins here: the call is kept, which takes a timer and no processor time, and a
caller that makes one call after the other makes few. What is left of the pause is told at the end,
so that nobody who keeps to pauses waits longer than without this.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Hashable

#: The longest that a call is held; clients of ours give up far later.
LONGEST_SECONDS = 2.0
#: Calls that are held at once: of one caller, and of all. What a held call has sent of its request
#: stays in memory, at most a stream's first window, 64 kB.
MOST_OF_ONE, MOST_OF_ALL = 16, 1000


class Holding:
    def __init__(self) -> None:
        self._held: Counter[Hashable] = Counter()
        self._all = 0

    async def hold(self, who: Hashable, seconds: float) -> float:
        """Wait for so long, if that is allowed; the seconds that it took, 0 when too many wait."""
        if self._all >= MOST_OF_ALL or self._held[who] >= MOST_OF_ONE:
            return 0.0
        self._held[who] += 1
        self._all += 1
        began = time.monotonic()
        try:
            await asyncio.sleep(min(seconds, LONGEST_SECONDS))
        finally:
            self._all -= 1
            self._held[who] -= 1
            if not self._held[who]:
                del self._held[who]
        return time.monotonic() - began
