"""PostgreSQL servers of other versions than the embedded one, where they are installed."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg

from tests.support.databases import open_folder
from zermelo.server.embedded.identity import choose_identity
from zermelo.server.embedded.programs import programs

START_SECONDS = 60.0


def installed_servers() -> dict[str, Path]:
    """The folders with the programs of other versions, by version.

    Those of the distribution, those that the wheel has besides, and those named by
    ZERMELO_TEST_POSTGRES, a list of folders separated by colons.
    """
    named = filter(None, os.environ.get("ZERMELO_TEST_POSTGRES", "").split(":"))
    places = [
        *map(Path, named),
        *Path("/usr/lib/postgresql").glob("*/bin"),
        *programs().parent.parent.glob("pginstall*/bin"),
    ]
    found: dict[str, Path] = {}
    for place in places:
        if place != programs() and (place / "initdb").exists():
            said = subprocess.run(
                [place / "postgres", "--version"], capture_output=True, text=True, check=True
            ).stdout
            found.setdefault(said.split()[2].partition(".")[0], place)
    return found


@contextmanager
def running_server(place: Path) -> Iterator[str]:
    """The URL of a new server of another version."""
    with open_folder() as folder, _Cluster(place, folder / "cluster").running() as url:
        yield url


@contextmanager
def running_with_replica() -> Iterator[tuple[str, str]]:
    """The URLs of a server and of a replica that follows it by streaming."""
    with open_folder() as folder:
        first = _Cluster(programs(), folder / "first")
        with first.running() as url:
            replica = _Cluster(programs(), folder / "replica")
            # -R writes down whom to follow.
            replica.make("pg_basebackup", "-R", "--checkpoint=fast", "-h", str(first.socket),
                         "-U", "tester")  # fmt: skip
            with replica.running(created=True) as replica_url:
                yield url, replica_url


class _Cluster:
    """A data directory of a PostgreSQL whose programs are in `place`."""

    def __init__(self, place: Path, path: Path) -> None:
        self.path, self._place, self._log = path, place, path.with_suffix(".log")
        self._identity = choose_identity(place / "postgres", path.parent, path)
        #: Not in the directory itself, which is copied for a replica.
        self.socket = path.with_suffix(".socket")
        for folder in (path, self.socket):
            folder.mkdir(mode=0o700)
            os.chown(folder, self._identity.uid, self._identity.gid)

    def make(self, program: str, *arguments: str) -> None:
        """Fill the directory."""
        made = self._start(program, *arguments).wait()
        assert made == 0, self._log.read_text()

    @contextmanager
    def running(self, *, created: bool = False) -> Iterator[str]:
        if not created:
            self.make("initdb", "--no-sync", "--auth=trust", "--username=tester")
        server = self._start("postgres", "-k", str(self.socket), "-c", "listen_addresses=", "-F")
        try:
            url = f"postgresql://tester@/postgres?host={self.socket}"
            _wait_for(url, self._log)
            yield url
        finally:
            server.send_signal(signal.SIGINT)
            server.wait()

    def _start(self, program: str, *arguments: str) -> subprocess.Popen[bytes]:
        with self._log.open("ab") as output:
            return self._identity.popen(
                [str(self._place / program), "-D", str(self.path), *arguments], cwd=self.path,
                stdin=subprocess.DEVNULL, output=output, signal_number=signal.SIGINT,
            )  # fmt: skip


def _wait_for(url: str, log: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    while True:
        try:
            psycopg.connect(url).close()
        except psycopg.OperationalError:
            assert time.monotonic() < deadline, log.read_text()
            time.sleep(0.05)
        else:
            return
