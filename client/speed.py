"""How fast this host is, and how long its workunits take, from the latest results.

Speed is by processor time of each thread: what other programs take away does not make an engine
slower, and workunits that follow from it would be too small.
"""

from __future__ import annotations

import contextlib
import json
from pathlib import Path

from zermelo import __version__
from zermelo.client.files import write_atomically

#: The share of the past that every result leaves in the averages.
MEMORY = 0.9
#: A shorter search tells more about its overhead than about the engine.
TELLING_SECONDS = 0.01


class Speed:
    def __init__(self, threads: int = 1) -> None:
        """Of workers that search with so many threads."""
        self._threads = threads
        #: Of one thread, by processor time; 0 while nothing was measured.
        self.of_thread = 0
        #: Mean time that passes while a workunit is searched; None while none was finished.
        self.workunit_seconds: float | None = None
        self._nodes = self._seconds = 0.0

    @property
    def current(self) -> int:
        """Of one worker; 0 while nothing was measured."""
        return self.of_thread * self._threads

    def measured(self, speed: int) -> None:
        """A benchmark of one thread: counts until a search tells more."""
        if not self._seconds:
            self.of_thread = speed

    def finished(self, nodes: int, seconds: float, passed: float | None = None) -> None:
        """A search of so many nodes took this processor time of all its threads, while so much time
        passed."""
        passed = seconds if passed is None else passed
        before = passed if self.workunit_seconds is None else self.workunit_seconds
        self.workunit_seconds = before * MEMORY + passed * (1 - MEMORY)
        if seconds >= TELLING_SECONDS and nodes:
            self._nodes = self._nodes * MEMORY + nodes
            self._seconds = self._seconds * MEMORY + seconds
            self.of_thread = max(1, round(self._nodes / self._seconds))


class KnownSpeeds:
    """What a thread was measured to do on earlier days, by game; a new release measures again."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def get(self, game: str) -> int:
        """Nodes a second; 0 if this release has not played the game here."""
        return self._read().get(game, 0)

    def put(self, game: str, speed: int) -> None:
        speeds = {**self._read(), game: speed}
        text = json.dumps({"version": __version__, "speed": speeds})
        with contextlib.suppress(OSError):
            write_atomically(self._path, [text.encode()], durable=False)

    def _read(self) -> dict[str, int]:
        try:
            found = json.loads(self._path.read_bytes())
            if found["version"] != __version__:
                return {}
            return {str(game): int(speed) for game, speed in found["speed"].items()}
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return {}
