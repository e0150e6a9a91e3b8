"""What a running PostgreSQL says about itself in the file postmaster.pid."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from urllib.parse import quote

from zermelo.server.embedded.passwords import ROLE, passfile_of


class Postmaster:
    """What a running server says about itself in postmaster.pid, one fact a line."""

    def __init__(self, cluster: Path, lines: list[str]) -> None:
        self.pid = int(lines[0])
        self.ready = len(lines) > 7 and lines[7].strip() == "ready"
        self._port, sockets = (lines[3], lines[4]) if len(lines) > 4 else ("", "")
        # Relative to the cluster, unless its path is too long for a socket.
        self._sockets = cluster / sockets
        self._passfile = passfile_of(cluster.parent)

    @property
    def url(self) -> str:
        host, passfile = quote(str(self._sockets), safe=""), quote(str(self._passfile), safe="")
        return f"postgresql://{ROLE}@/postgres?host={host}&port={self._port}&passfile={passfile}"


def read_postmaster(cluster: Path) -> Postmaster | None:
    try:
        return Postmaster(cluster, (cluster / "postmaster.pid").read_text().splitlines())
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
