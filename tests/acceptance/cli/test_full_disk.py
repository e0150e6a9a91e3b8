"""A disk that fills up under PostgreSQL: the services wait for room, and nothing is lost."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import LiteralString

import psycopg
import pytest

from tests.support.coordinator import wait_until
from tests.support.served import Splitter, served
from zermelo.server.campaigns import create_campaign
from zermelo.server.check import check_database
from zermelo.server.database import connect_once, ensure_schema
from zermelo.server.embedded import EmbeddedError, EmbeddedPostgres, running

MEGABYTES = 320


@contextmanager
def small_disk() -> Iterator[Path]:
    """A folder on a file system of its own that holds little."""
    with tempfile.TemporaryDirectory(prefix="zermelo-test-") as folder:
        mounted = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", f"size={MEGABYTES}m,mode=755", "tmpfs", folder],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        if mounted.returncode:
            pytest.skip(f"no file system of our own: {mounted.stderr.strip()}")
        try:
            yield Path(folder)
        finally:
            subprocess.run(["umount", "--lazy", folder], check=True)


def fill(file: Path, leave: int) -> None:
    """Take all the room but this number of megabytes."""
    free = shutil.disk_usage(file.parent).free // 2**20
    with file.open("wb", buffering=0) as stream:
        for _ in range(free - leave):
            stream.write(bytes(1 << 20))


#: Statements that fill files of tables, which is an error, and the log, which ends PostgreSQL.
FILLING = (
    "INSERT INTO ballast SELECT repeat(md5(n::text), 30) FROM generate_series(1, 5000) AS n",
    "SELECT pg_logical_emit_message(false, '', repeat('x', 4000000))",
)


def write_much(url: str, statement: LiteralString) -> None:
    """Write until PostgreSQL cannot."""
    with suppress(psycopg.OperationalError), psycopg.connect(url, autocommit=True) as connection:
        connection.execute("CREATE UNLOGGED TABLE IF NOT EXISTS ballast (line text)")
        while True:
            connection.execute(statement)


def is_back(postgres: EmbeddedPostgres) -> bool:
    """Start PostgreSQL again if the full disk ended it."""
    try:
        postgres.keep_alive()
        psycopg.connect(postgres.wait_ready()).close()
    except (EmbeddedError, psycopg.OperationalError):
        time.sleep(0.1)
        return False
    return True


@pytest.mark.long
@pytest.mark.skipif(os.geteuid() != 0, reason="a file system of our own needs root")
def test_services_wait_for_room_and_go_on(tmp_path: Path) -> None:
    with small_disk() as folder, running(postgres := EmbeddedPostgres(folder)) as url:
        ensure_schema(url)
        with connect_once(url) as connection:
            create_campaign(connection, "reversi:8x8", replication="none", target_seconds=0.01)
        with (
            served(tmp_path / "log", "--database", url) as services,
            Splitter(services.address) as client,
        ):
            wait_until(lambda: len(client.acknowledged) > 20)
            for statement in FILLING:
                before = services.said().count("database")
                ballast = folder / "ballast"
                # Room in the log for now: the tables are to be what is full first.
                with psycopg.connect(url, autocommit=True) as room:
                    room.execute("SELECT pg_switch_wal()")
                wrote = len(client.acknowledged)
                wait_until(lambda: len(client.acknowledged) > wrote)  # noqa: B023
                fill(ballast, leave=8)
                write_much(url, statement)
                wait_until(lambda: services.said().count("database") > before)  # noqa: B023
                assert services.process.poll() is None, services.said()
                if statement is FILLING[-1]:  # ends PostgreSQL until there is room
                    wait_until(lambda: client.refused)
                ballast.unlink()
                wait_until(lambda: is_back(postgres))
                with psycopg.connect(postgres.wait_ready(), autocommit=True) as room:
                    room.execute("DROP TABLE IF EXISTS ballast")
                done = len(client.acknowledged)
                wait_until(lambda: len(client.acknowledged) > done + 20)  # noqa: B023
        with connect_once(postgres.wait_ready()) as connection:
            stored = {row[0] for row in connection.execute("SELECT lease FROM results")}
            assert set(client.acknowledged) <= stored
            assert check_database(connection) == []
    said = services.said()
    assert "No space left on device; trying" in said, said
    assert len(said.splitlines()) < 100, said  # some for each trouble, however long it lasts
