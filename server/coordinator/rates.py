"""How often somebody may call: a token bucket each, in memory, oldest forgotten first.

Each coordinator counts for itself; with several of them a caller may be that much faster,
which is what they are for.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass

MOST_BUCKETS = 50_000


@dataclass(frozen=True, slots=True)
class Rate:
    """How many calls a second in the long run, and how many at once (`burst`)."""

    per_second: float
    burst: float


@dataclass(slots=True)
class _Bucket:
    tokens: float
    filled_at: float


class RateLimiter:
    def __init__(self, rate: Rate, clock: Callable[[], float] = time.monotonic) -> None:
        self._rate, self._clock = rate, clock
        self._buckets: OrderedDict[Hashable, _Bucket] = OrderedDict()

    def wait_needed(self, who: Hashable) -> float:
        """Count a call: 0 if it may go on, else the seconds after which the next one may."""
        bucket = self._filled(who)
        if bucket.tokens >= 1:
            bucket.tokens -= 1
            return 0.0
        return (1 - bucket.tokens) / self._rate.per_second

    def charge(self, who: Hashable, cost: float, debt: float | None = None) -> None:
        """Count a call that went on as `cost` more of them: those that follow wait for it.

        The debt is at most `debt` calls, by default another burst.
        """
        if not cost:
            return
        bucket = self._filled(who)
        least = -(self._rate.burst if debt is None else debt)
        bucket.tokens = min(bucket.tokens, max(bucket.tokens - cost, least))

    def _filled(self, who: Hashable) -> _Bucket:
        now = self._clock()
        bucket = self._buckets.get(who)
        if bucket is None:
            bucket = self._buckets[who] = _Bucket(self._rate.burst, now)
            if len(self._buckets) > MOST_BUCKETS:
                self._buckets.popitem(last=False)
        else:
            self._buckets.move_to_end(who)
            filled = bucket.tokens + (now - bucket.filled_at) * self._rate.per_second
            bucket.tokens, bucket.filled_at = min(self._rate.burst, filled), now
        return bucket
