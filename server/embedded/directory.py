"""The data directory and its lock."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

from zermelo.server.embedded.errors import DataDirectoryInUseError, EmbeddedError


def default_data_dir() -> Path:
    """Where data goes unless the user says otherwise."""
    if os.geteuid() == 0:
        # The home of root is closed to the account that PostgreSQL runs under.
        return Path("/var/lib/zermelo")
    base = os.environ.get("XDG_DATA_HOME")
    return (Path(base) if base else Path.home() / ".local" / "share") / "zermelo"


class DataDirectory:
    """A data directory and its lock. The lock ends with the process that took it."""

    def __init__(self, path: Path) -> None:
        self.path = path.expanduser().resolve()
        self._lock: int | None = None

    def lock(self) -> None:
        """Take the directory for this run, creating it when it is new."""
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            lock = os.open(self.path / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        except OSError as error:
            raise EmbeddedError(
                f"cannot use data directory {self.path}: {error.strerror}"
            ) from error
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.pread(lock, 20, 0).decode("ascii", "replace").strip() or "unknown"
            os.close(lock)
            raise DataDirectoryInUseError(
                f"data directory {self.path} is in use by another run (process {holder}); "
                "wait for it, stop it, or choose another --data-dir"
            ) from None
        os.ftruncate(lock, 0)
        os.pwrite(lock, f"{os.getpid()}\n".encode(), 0)
        self._lock = lock
        # A forked child must not keep the lock when this process dies.
        os.register_at_fork(after_in_child=self.unlock)

    def unlock(self) -> None:
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None
