"""How fast this host is, and how long its workunits take, from the latest results."""

from __future__ import annotations

#: The share of the past that every result leaves in the averages.
MEMORY = 0.9


class Speed:
    def __init__(self) -> None:
        self._nodes = 0.0
        self._seconds = 0.0
        self._workunits = 0.0

    @property
    def nodes_per_second(self) -> int:
        """Of one worker; 0 while nothing was measured."""
        return round(self._nodes / self._seconds) if self._seconds else 0

    @property
    def workunit_seconds(self) -> float | None:
        """Mean time of a workunit; None while none was finished."""
        return self._seconds / self._workunits if self._workunits else None

    def measured(self, nodes_per_second: int) -> None:
        """A benchmark before any work: counts until results say more."""
        if not self._workunits:
            self._nodes, self._seconds = float(nodes_per_second), 1.0

    def finished(self, nodes: int, seconds: float) -> None:
        if not self._workunits:
            # A benchmark must not outweigh the results.
            self._nodes, self._seconds = self._nodes * 1e-3, self._seconds * 1e-3
        self._nodes = self._nodes * MEMORY + nodes
        self._seconds = self._seconds * MEMORY + seconds
        self._workunits = self._workunits * MEMORY + 1
