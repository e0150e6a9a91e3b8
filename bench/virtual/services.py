"""How much processor time the services take: their Python and their PostgreSQL connection."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from zermelo.server.database import Connection


class ServiceTime:
    """Processor seconds by service. Nothing else may compute in this process meanwhile."""

    def __init__(self, connection: Connection) -> None:
        # The first number is the time on a processor, in nanoseconds.
        self._backend = Path(f"/proc/{connection.info.backend_pid}/schedstat")
        self.seconds: Counter[str] = Counter()

    @property
    def total(self) -> float:
        return self.seconds.total()

    @contextmanager
    def of(self, service: str) -> Iterator[None]:
        """What is done inside is the work of this service."""
        started = self.read()
        try:
            yield
        finally:
            self.seconds[service] += self.read() - started

    def read(self) -> float:
        """Processor seconds of this process and the connection's, so far."""
        return time.process_time() + int(self._backend.read_text().split()[0]) / 1e9
