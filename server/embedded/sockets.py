"""Where a server's socket is: in the cluster, or where its path is too long, in a folder of
its own that nobody else could have prepared."""

from __future__ import annotations

import os
import tempfile
from contextlib import suppress
from pathlib import Path

from zermelo.server.embedded.errors import EmbeddedError
from zermelo.server.embedded.files import is_private_folder
from zermelo.server.embedded.identity import Identity

#: The kernel takes 104 (macOS) or 108 bytes.
LONGEST_SOCKET_PATH = 100
SOCKET = ".s.PGSQL.5432"
#: As PostgreSQL is told that the socket is in the cluster: also right for a path with commas.
IN_CLUSTER = "."


class SocketFolder:
    """The folder of one cluster's socket."""

    def __init__(self, data_dir: Path, cluster: Path) -> None:
        self._cluster = cluster
        #: Tells the next run where the folder is, should this one not live to remove it.
        self._note = data_dir / "sockets"

    def prepare(self, identity: Identity, program: Path) -> str:
        """What to tell PostgreSQL; the folder exists, and `identity` alone can enter it."""
        if fits(self._cluster):
            return IN_CLUSTER
        noted = self._noted()
        if noted is not None and is_private_folder(noted, identity.uid):
            return str(noted)
        for base in _bases():
            if not fits(base / "zermelo-12345678") or not identity.reaches(program, base):
                continue
            with suppress(PermissionError):
                return str(self._make(base, identity))
        raise EmbeddedError(
            f"the path {self._cluster} is too long for a socket, and there is no shorter place "
            "for one; choose another --data-dir, or set TMPDIR"
        )

    def remove(self) -> None:
        noted = self._noted()
        if noted is not None:
            with suppress(OSError):
                noted.rmdir()
        self._note.unlink(missing_ok=True)

    def _make(self, base: Path, identity: Identity) -> Path:
        folder = Path(tempfile.mkdtemp(prefix="zermelo-", dir=base))
        if not identity.is_ours:
            os.chown(folder, identity.uid, identity.gid, follow_symlinks=False)
        if not is_private_folder(folder, identity.uid):
            raise EmbeddedError(f"somebody else changed {folder} while it was made")
        self._note.unlink(missing_ok=True)
        self._note.symlink_to(folder)
        return folder

    def _noted(self) -> Path | None:
        try:
            return self._note.readlink()
        except OSError:
            return None


def fits(folder: Path) -> bool:
    return len(os.fsencode(folder / SOCKET)) <= LONGEST_SOCKET_PATH


def _bases() -> list[Path]:
    """Folders to make the socket's folder in, the most private first."""
    bases = [Path(tempfile.gettempdir()), Path("/tmp"), Path("/var/tmp")]  # noqa: S108
    runtime = os.environ.get("XDG_RUNTIME_DIR")
    if runtime and is_private_folder(Path(runtime), os.geteuid()):
        bases.insert(0, Path(runtime))
    return bases
