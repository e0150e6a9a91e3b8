"""Waiting for something to read, and for being told to stop, at once."""

from __future__ import annotations

import os
import select
import threading
from typing import Protocol

#: How often it is looked whether to stop where that is told by an event without a file.
LOOK_SECONDS = 0.2


class StopEvent(threading.Event):
    """Once it is set, its file can be read."""

    def __init__(self) -> None:
        super().__init__()
        self._reader, self._writer = os.pipe()

    def fileno(self) -> int:
        return self._reader

    def set(self) -> None:
        super().set()
        os.write(self._writer, b"\0")


class Readable(Protocol):
    def fileno(self) -> int: ...


def wait_to_read(file: Readable, stop: threading.Event, seconds: float) -> bool:
    """Whether there is something to read, after so many seconds, as soon as there is, or soon after
    `stop` was set: at once if it is a `StopEvent`."""
    # Not `select`, which knows no file whose number is beyond 1023.
    waited = select.poll()
    waited.register(file.fileno(), select.POLLIN)
    if isinstance(stop, StopEvent):
        waited.register(stop.fileno(), select.POLLIN)
    else:
        seconds = min(seconds, LOOK_SECONDS)
    ready = waited.poll(seconds * 1000)
    return any(number == file.fileno() for number, _ in ready)
