"""Temporary files in memory: a test database of 330 small files is created ten times as fast."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import psutil

MEMORY = Path("/dev/shm")  # noqa: S108 - its whole purpose is to be used by everybody
#: What the temporary files of a run take at most, with room to spare.
NEEDED_BYTES = 4 << 30


def use_memory() -> None:
    """Let this process and all it starts keep temporary files in memory, where that can be done.

    A folder that the user chose by TMPDIR stays.
    """
    if "TMPDIR" not in os.environ and _suitable():
        os.environ["TMPDIR"] = str(MEMORY)
        tempfile.tempdir = None  # what was found out before


def _suitable() -> bool:
    if not MEMORY.is_dir() or not os.access(MEMORY, os.R_OK | os.W_OK | os.X_OK):
        return False
    room = os.statvfs(MEMORY)
    if room.f_flag & os.ST_NOEXEC:  # programs are started from temporary folders
        return False
    return min(room.f_bavail * room.f_frsize, psutil.virtual_memory().available) > NEEDED_BYTES
