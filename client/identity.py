"""Who this host is: a random key, made once and kept in the client's data directory."""

from __future__ import annotations

import fcntl
import os
import secrets
import time
from pathlib import Path

from zermelo.client.settings import ClientError

KEY_BYTES = 16
PATIENCE_SECONDS = 5.0


class Identity:
    """The host key, and the lock that keeps a second client from using the same one."""

    def __init__(self, data_dir: Path) -> None:
        folder = data_dir.expanduser() / "client"
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._lock = os.open(folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            _take(self._lock)
            self.host_key = _read_or_make(folder / "host-key")
        except BlockingIOError:
            raise ClientError(
                f"another client works in {folder}; stop it or choose another --data-dir"
            ) from None
        except OSError as error:
            raise ClientError(f"cannot use {folder}: {error.strerror}") from error

    def close(self) -> None:
        os.close(self._lock)


def _take(lock: int) -> None:
    """Take the lock; a client that is just stopping is given the time to do so."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while True:
        try:
            return fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)


def _read_or_make(path: Path) -> bytes:
    try:
        key = bytes.fromhex(path.read_text().strip())
    except FileNotFoundError:
        key = secrets.token_bytes(KEY_BYTES)
        new = path.with_suffix(".new")
        new.touch(mode=0o600)
        new.write_text(key.hex() + "\n")
        new.rename(path)
    except ValueError:
        key = b""
    if len(key) != KEY_BYTES:
        raise ClientError(f"{path} is damaged; delete it, and this host gets a new identity")
    return key
