"""The data directory and its lock."""

from __future__ import annotations

import fcntl
import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from zermelo.server.embedded.errors import DataDirectoryInUseError, EmbeddedError

#: Root's data: a place for services, not for a person.
SYSTEM_DATA = Path("/var/lib/zermelo")


def default_data_dir() -> Path:
    """Where data goes unless the user says otherwise: the first place that can be written."""
    for place in _places():
        if _can_write(place):
            return place
    # A user without a home, as in many containers. `DataDirectory` sees whose folder it is.
    return Path("/var/tmp") / f"zermelo-{os.geteuid()}"  # noqa: S108


def _places() -> Iterator[Path]:
    if os.geteuid() == 0:
        yield SYSTEM_DATA
    base = os.environ.get("XDG_DATA_HOME")
    if base:
        yield Path(base) / "zermelo"
        return
    with suppress(RuntimeError):  # neither HOME nor an account
        yield Path.home() / ".local" / "share" / "zermelo"


def _can_write(place: Path) -> bool:
    """Whether the folder is there for us to write, or can be made."""
    existing = next(folder for folder in (place, *place.parents) if folder.exists())
    return existing.is_dir() and os.access(existing, os.W_OK | os.X_OK)


class DataDirectory:
    """A data directory and its lock. The lock ends with the process that took it."""

    def __init__(self, path: Path) -> None:
        self.path = path.expanduser().resolve()
        self._lock: int | None = None

    def lock(self) -> None:
        """Take the directory for this run, creating it when it is new."""
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            self._check_owner()
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

    def _check_owner(self) -> None:
        """Where everybody may make folders, somebody else may have made this one."""
        owner = self.path.lstat().st_uid
        if self.path.parent.stat().st_mode & stat.S_ISVTX and owner not in (0, os.geteuid()):
            raise EmbeddedError(
                f"data directory {self.path} belongs to another user ({owner}); "
                "choose another --data-dir"
            )

    def unlock(self) -> None:
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None
