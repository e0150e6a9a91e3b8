"""A transposition table for several engines at once, also in different processes.

Entries are written without locks and verify themselves, so that an engine that dies in the
middle of writing harms nobody. Those of different games tell each other apart.
"""

from __future__ import annotations

import hashlib
import mmap
import os
import tempfile
import time
from typing import Any

from zermelo.games import Game

#: What nobody has touched for so long gives way to whatever comes.
AGE_SECONDS = 300


class SharedTable:
    """Memory behind a file descriptor, which other processes may inherit and open."""

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor
        self.memory = memoryview(mmap.mmap(descriptor, 0)).cast("Q")

    @classmethod
    def create(cls, megabytes: int) -> SharedTable:
        if hasattr(os, "memfd_create"):
            descriptor = os.memfd_create("zermelo-table")
        else:
            with tempfile.TemporaryFile() as file:
                descriptor = os.dup(file.fileno())
        os.ftruncate(descriptor, megabytes << 20)
        return cls(descriptor)

    def close(self) -> None:
        """Let go of the descriptor; engines that have the memory keep it."""
        os.close(self.descriptor)

    def salt(self, game: Game[Any]) -> int:
        """What marks the entries of a game."""
        return int.from_bytes(hashlib.blake2b(game.spec.encode(), digest_size=8).digest(), "big")

    def age(self) -> int:
        """The same for all engines on this machine, as their searches begin at any time."""
        return int(time.monotonic() / AGE_SECONDS)
