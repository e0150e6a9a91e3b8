"""Preferences that change while the client runs: their file is read again when it was written."""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path

from zermelo.client.preferences import Preferences
from zermelo.client.settings import ClientError

log = logging.getLogger(__name__)

#: Gives the preferences as the file and the command line have them now.
Read = Callable[[], Preferences]


class Reloading:
    def __init__(self, path: Path, read: Read | None) -> None:
        """Without `read` nothing ever changes: somebody else decides."""
        self._path, self._read = path, read
        self._seen = self._state()

    def changed(self, before: Preferences) -> Preferences | None:
        """The preferences if their file was written since the last look and says others."""
        if self._read is None or self._state() == self._seen:
            return None
        self._seen = self._state()
        try:
            found = self._read()
        except ClientError as error:
            log.warning("%s; going on as before", error)
            return None
        return found if found != before else None

    def _state(self) -> tuple[int, int, int] | None:
        try:
            found = self._path.stat()
        except OSError:
            return None
        return found.st_mtime_ns, found.st_ino, found.st_size
