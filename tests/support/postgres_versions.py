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
    with open_folder() as folder:
        cluster, log = folder / "cluster", folder / "log"
        identity = choose_identity(place / "postgres", folder, cluster)
        cluster.mkdir(mode=0o700)
        os.chown(cluster, identity.uid, identity.gid)
        with open(log, "wb") as output:

            def start(program: str, *arguments: str) -> subprocess.Popen[bytes]:
                return identity.popen(
                    [str(place / program), "-D", str(cluster), *arguments], cwd=cluster,
                    stdin=subprocess.DEVNULL, output=output, signal_number=signal.SIGINT,
                )  # fmt: skip

            made = start("initdb", "--no-sync", "--auth=trust", "--username=tester").wait()
            assert made == 0, log.read_text()
            server = start("postgres", "-k", str(cluster), "-c", "listen_addresses=", "-F")
            try:
                url = f"postgresql://tester@/postgres?host={cluster}"
                _wait_for(url, log)
                yield url
            finally:
                server.send_signal(signal.SIGINT)
                server.wait()


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
