"""The client's folder: everything it keeps, one client at a time, its owner's alone.

    config.toml   what the owner decided         host-key   who this host is
    token         of an account it opened        speeds     what was measured
    ca.pem        certificates to trust, a copy of those that `configure` was given
    registration  of one that is being opened    reported   what the server was told
    spool         results not yet acknowledged   searches/  checkpoints
    definitions/  texts of games, by digest
    logs/         what happened                  lock       held by the running client
    control       the socket for status, pause, resume and stop
"""

from __future__ import annotations

import errno
import fcntl
import os
import secrets
import time
from pathlib import Path

from zermelo.client.files import write_atomically
from zermelo.client.settings import ClientError

KEY_BYTES = 16
#: Beyond the time that a stop may take.
PATIENCE_SECONDS = 1.0


class FolderError(ClientError):
    """The client's folder cannot be used; the message says why and what to do."""


class ClientFolder:
    """The places in a client's folder; opening the folder takes its lock."""

    def __init__(self, data_dir: Path) -> None:
        self.path = data_dir.expanduser() / "client"
        self.config = self.path / "config.toml"
        self.spool = self.path / "spool"
        self.searches = self.path / "searches"
        self.definitions = self.path / "definitions"
        self.reported = self.path / "reported"
        self.speeds = self.path / "speeds"
        self.token = self.path / "token"
        self.trusted = self.path / "ca.pem"
        self.registration = self.path / "registration"
        self.logs = self.path / "logs"
        self.control = self.path / "control"
        self._host_key = self.path / "host-key"
        self._lock: int | None = None

    def find(self, file: Path | None) -> Path | None:
        """A file that the configuration names: a relative path means this folder."""
        return None if file is None else self.path / file.expanduser()

    def make(self) -> None:
        """Create what is missing, for the owner's eyes only."""
        try:
            for folder in (self.path, self.searches, self.definitions, self.logs):
                folder.mkdir(parents=True, exist_ok=True)
            self.path.chmod(0o700)
        except OSError as error:
            raise self._unusable(error) from error

    def open(self, patience: float = PATIENCE_SECONDS) -> bytes:
        """Take the folder for this process; the host key.

        A client that is just stopping is given the time to do so.
        """
        self.make()
        try:
            self._lock = os.open(self.path / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            _take(self._lock, patience)
            return self._read_or_make_key()
        except BlockingIOError:
            self.close()
            raise FolderError(
                f"another client works in {self.path}; stop it with `zermelo client stop`, "
                "or give this one its own --data-dir"
            ) from None
        except OSError as error:
            self.close()
            raise self._unusable(error) from error

    def close(self) -> None:
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def _read_or_make_key(self) -> bytes:
        try:
            key = bytes.fromhex(self._host_key.read_text().strip())
        except FileNotFoundError:
            key = secrets.token_bytes(KEY_BYTES)
            write_atomically(self._host_key, [f"{key.hex()}\n".encode()], durable=True)
        except ValueError:
            key = b""
        if len(key) != KEY_BYTES:
            raise FolderError(
                f"{self._host_key} is damaged; delete it, and this host gets a new identity"
            )
        return key

    def _unusable(self, error: OSError) -> FolderError:
        return FolderError(f"cannot use {self.path}: {why(error)}")


_ADVICE = {
    errno.EROFS: "the disk is read-only; choose another --data-dir",
    errno.ENOSPC: "the disk is full; make room or choose another --data-dir",
    errno.EDQUOT: "your share of the disk is used up; make room or choose another --data-dir",
    errno.EACCES: "you may not write there; choose another --data-dir",
    errno.EPERM: "you may not write there; choose another --data-dir",
    errno.EIO: "the disk does not work; choose another --data-dir",
    errno.EEXIST: "a file is in the way; choose another --data-dir",
    errno.ENOTDIR: "a file is in the way; choose another --data-dir",
}


def why(error: OSError) -> str:
    """What is wrong with the disk and what to do, in words."""
    return _ADVICE.get(error.errno or 0) or str(error.strerror or error)


def _take(lock: int, patience: float) -> None:
    deadline = time.monotonic() + patience
    while True:
        try:
            return fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)
