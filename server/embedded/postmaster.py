"""What a running PostgreSQL says about itself in the file postmaster.pid."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from urllib.parse import quote

ROLE = "zermelo"


class Postmaster:
    """What a running server says about itself in postmaster.pid, one fact a line."""

    def __init__(self, lines: list[str]) -> None:
        self.pid = int(lines[0])
        self.ready = len(lines) > 7 and lines[7].strip() == "ready"
        self._port, self._sockets = (lines[3], lines[4]) if len(lines) > 4 else ("", "")

    @property
    def url(self) -> str:
        host = quote(self._sockets, safe="")
        return f"postgresql://{ROLE}@/postgres?host={host}&port={self._port}"


def read_postmaster(cluster: Path) -> Postmaster | None:
    try:
        return Postmaster((cluster / "postmaster.pid").read_text().splitlines())
    except (OSError, ValueError, IndexError):
        return None


def is_postgres(pid: int) -> bool:
    """Whether this process exists and is a PostgreSQL, not one that reused its number."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    try:
        return b"postgres" in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return sys.platform != "linux"
