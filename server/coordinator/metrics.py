"""What a coordinator tells Prometheus about its calls."""

from __future__ import annotations

from functools import cache

from prometheus_client import CollectorRegistry, Counter, Histogram

#: A heartbeat takes a millisecond; RequestWork may wait for work up to a minute.
_SECONDS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60)


class CoordinatorMetrics:
    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._seconds = Histogram(
            "zermelo_call_seconds", "How long served calls took", ["rpc"],
            buckets=_SECONDS, registry=self.registry,
        )  # fmt: skip
        self._seconds_of = cache(self._seconds.labels)
        self._refused = Counter(
            "zermelo_calls_refused", "Calls that got a status instead of a reply",
            ["rpc", "reason"], registry=self.registry,
        )  # fmt: skip
        self._leases = Counter(
            "zermelo_leases", "Leases handed out", registry=self.registry
        )
        self._results = Counter(
            "zermelo_results", "Results taken in", ["receipt"], registry=self.registry
        )

    def served(self, rpc: str, seconds: float) -> None:
        self._seconds_of(rpc).observe(seconds)

    def refused(self, rpc: str, reason: str) -> None:
        self._refused.labels(rpc, reason).inc()

    def leased(self, count: int) -> None:
        self._leases.inc(count)

    def received(self, receipts: list[str]) -> None:
        for receipt in set(receipts):
            self._results.labels(receipt).inc(receipts.count(receipt))
