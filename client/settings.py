"""What the owner of a client decides."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from zermelo import ZermeloError


class ClientError(ZermeloError):
    """The client cannot go on; the message says why and what to do."""

    exit_code = 6


@dataclass(frozen=True, slots=True)
class ClientSettings:
    #: The coordinator, as HOST:PORT.
    server: str
    data_dir: Path
    workers: int
    #: Each worker's share of the table.
    hash_mb: int = 64
    #: Stop after so many results; None to go on for ever.
    max_workunits: int | None = None
    host_name: str = ""
    #: How much the workers give way to everything else on the computer, 0 to 19.
    nice: int = 10


def usable_cores() -> int:
    """The cores this process may use, which can be fewer than the computer has."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
