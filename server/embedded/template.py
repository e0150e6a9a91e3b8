"""A cluster that is kept aside, so that the next data directory gets a copy of it: initdb takes
most of a second, a copy a tenth.

It lies in the user's folder for caches, which nobody else may enter, and holds no data. Every copy
gets a password of its own. All copies have one system identifier, which matters to replicas alone.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from zermelo.server.embedded.files import is_private_folder
from zermelo.server.embedded.identity import Identity

#: What an interrupted run left is removed after so long.
LEFT_SECONDS = 3600.0


class Template:
    """The cluster that one build of PostgreSQL makes for one owner; there may be none yet."""

    def __init__(self, postgres: Path, owner: Identity, made_by: Sequence[str]) -> None:
        """Another build, another owner or made by another recipe means another cluster."""
        self._folder = _cache_folder()
        state = postgres.stat()
        what = (state.st_size, state.st_mtime_ns, owner.uid, owner.gid, *made_by)
        self._name = hashlib.blake2b(repr(what).encode(), digest_size=8).hexdigest()
        #: A copy of the first cluster, on its way to the disk.
        self._new: Path | None = None
        self._syncing: subprocess.Popen[bytes] | None = None

    def begin_copy(self, cluster: Path) -> subprocess.Popen[bytes] | None:
        """Begin to fill an empty folder with the cluster; None where there is none."""
        if self._folder is None or not is_private_folder(self._folder, os.geteuid()):
            return None
        kept = self._folder / self._name
        return _begin_copy(kept, cluster) if kept.is_dir() else None

    def keep(self, cluster: Path) -> None:
        """Begin to keep a copy of a cluster that was not started yet. It counts when `finish` finds
        it on the disk: one that a power cut left in part must never be copied."""
        if self._folder is None:
            return
        with suppress(OSError):
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            if not is_private_folder(self._folder, os.geteuid()):
                return
            self._tidy(self._folder)
            self._new = Path(tempfile.mkdtemp(prefix="new-", dir=self._folder))
            # Its log is nearly empty: kept as a hole, it costs no copy a write. Not every cp can.
            if _copied(cluster, self._new / self._name, "--sparse=always") or _copied(
                cluster, self._new / self._name
            ):
                self._syncing = _begin_sync(self._new)

    def finish(self) -> None:
        """Put the copy in place that `keep` began."""
        if self._new is None or self._folder is None:
            return
        if self._syncing is not None and self._syncing.wait() == 0:
            with suppress(OSError):  # another run was faster
                (self._new / self._name).rename(self._folder / self._name)
        shutil.rmtree(self._new, ignore_errors=True)
        self._new = self._syncing = None

    def _tidy(self, folder: Path) -> None:
        """Remove what former builds and interrupted runs left."""
        for entry in folder.iterdir():
            if entry.name != self._name and time.time() - entry.stat().st_mtime > LEFT_SECONDS:
                shutil.rmtree(entry, ignore_errors=True)


def _cache_folder() -> Path | None:
    base = os.environ.get("XDG_CACHE_HOME")
    if base:
        return Path(base) / "zermelo" / "clusters"
    with suppress(RuntimeError):  # neither HOME nor an account
        return Path.home() / ".cache" / "zermelo" / "clusters"
    return None


def _begin_sync(folder: Path) -> subprocess.Popen[bytes]:
    """Begin to write what lies there to the disk."""
    command = ["sync", "-f", str(folder)] if sys.platform == "linux" else ["sync"]
    return subprocess.Popen(command, stdin=subprocess.DEVNULL)  # noqa: S603


def _copied(source: Path, target: Path, *options: str) -> bool:
    copying = _begin_copy(source, target, *options)
    return copying is not None and copying.wait() == 0


def _begin_copy(source: Path, target: Path, *options: str) -> subprocess.Popen[bytes] | None:
    """Begin to copy a folder with owners and modes into another, which is made if need be; None
    where that cannot be done."""
    with suppress(OSError):
        target.mkdir(mode=0o700, exist_ok=True)
        return subprocess.Popen(  # noqa: S603
            ["cp", "-a", *options, f"{source}/.", str(target)],  # noqa: S607
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            process_group=0,
        )  # fmt: skip
    return None
