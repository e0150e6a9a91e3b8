"""The embedded PostgreSQL: one owner, many readers, no harm from any death."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from tests.support.coordinator import wait_until
from tests.support.databases import copy_folder, open_folder
from zermelo.server.embedded import (
    DataDirectory,
    DataDirectoryInUseError,
    DiskFullError,
    EmbeddedDatabase,
    EmbeddedError,
    EmbeddedPostgres,
    embedded_database,
    running,
)


@pytest.fixture(scope="module")
def cluster(used_cluster: Path) -> Iterator[Path]:
    with open_folder() as folder:
        copy_folder(used_cluster, folder)
        with running(EmbeddedPostgres(folder)) as url, psycopg.connect(url) as connection:
            connection.execute("CREATE TABLE kept AS SELECT 1913 AS year")
        yield folder


def year(url: str) -> int:
    with psycopg.connect(url) as connection:
        row = connection.execute("SELECT year FROM kept").fetchone()
    assert row is not None
    return int(row[0])


def test_data_survives_and_fsync_is_on(cluster: Path) -> None:
    with embedded_database(cluster) as url:
        assert year(url) == 1913
        with psycopg.connect(url) as connection:
            for setting in ("fsync", "synchronous_commit", "full_page_writes"):
                assert connection.execute(f"SHOW {setting}").fetchone() == ("on",)


def test_a_reader_joins_the_owner(cluster: Path) -> None:
    with embedded_database(cluster) as owner, embedded_database(cluster) as reader:
        assert owner == reader
    assert not (cluster / "postgres" / "postmaster.pid").exists()


def test_one_run_at_a_time(cluster: Path) -> None:
    first, second = DataDirectory(cluster), DataDirectory(cluster)
    first.lock()
    with pytest.raises(DataDirectoryInUseError, match=f"process {os.getpid()}"):
        second.lock()
    first.unlock()
    second.lock()
    second.unlock()


def test_it_ends_with_its_parent_and_starts_again(cluster: Path) -> None:
    program = (
        "import sys, time; from pathlib import Path\n"
        "from zermelo.server.embedded import embedded_database\n"
        "with embedded_database(Path(sys.argv[1])) as url:\n"
        "    print(url, flush=True); time.sleep(60)\n"
    )
    parent = subprocess.Popen(
        [sys.executable, "-c", program, str(cluster)], stdout=subprocess.PIPE, text=True
    )
    assert parent.stdout is not None
    assert parent.stdout.readline().startswith("postgresql:")
    parent.kill()
    parent.communicate()
    with embedded_database(cluster) as url:
        assert year(url) == 1913


def test_a_stop_without_patience_loses_nothing(cluster: Path) -> None:
    postgres = EmbeddedPostgres(cluster)
    postgres.begin()
    with psycopg.connect(postgres.wait_ready()) as connection:
        connection.execute("UPDATE kept SET year = 1912")
    postgres.stop(within=0.0)
    assert not postgres.running
    with embedded_database(cluster) as url:
        assert year(url) == 1912
        with psycopg.connect(url) as connection:  # as the other tests expect it
            connection.execute("UPDATE kept SET year = 1913")


@pytest.mark.parametrize("durable", [True, False])
def test_it_recovers_from_kill_9(cluster: Path, durable: bool) -> None:
    """Also where commits do not wait for the disk: the kernel has them."""
    postgres = EmbeddedPostgres(cluster, durable=durable)
    with running(postgres) as url:
        with psycopg.connect(url) as connection:
            assert connection.execute("SHOW fsync").fetchone() == ("on" if durable else "off",)
            assert connection.execute("SHOW full_page_writes").fetchone() == ("on",)
            connection.execute("UPDATE kept SET year = 1911")
        assert postgres.pid is not None
        os.kill(postgres.pid, signal.SIGKILL)
        wait_until(lambda: not postgres.running)

        def back() -> bool:
            postgres.keep_alive()
            try:
                return year(postgres.wait_ready()) == 1911
            except (EmbeddedError, psycopg.OperationalError):
                time.sleep(0.1)
                return False

        wait_until(back)
        with psycopg.connect(postgres.wait_ready()) as connection:  # as the other tests expect it
            connection.execute("UPDATE kept SET year = 1913")


def test_a_directory_without_a_database(tmp_path: Path) -> None:
    with pytest.raises(EmbeddedError, match="no database in"), embedded_database(tmp_path):
        pass


def test_another_version_of_postgres(open_path: Path, cluster: Path) -> None:
    (open_path / "postgres").mkdir()
    (open_path / "postgres" / "PG_VERSION").write_text("12\n")
    with pytest.raises(EmbeddedError, match="made by PostgreSQL 12"), embedded_database(open_path):
        pass


def test_an_interrupted_creation_is_begun_afresh(cluster: Path, open_path: Path) -> None:
    unfinished = open_path / "postgres.new"
    unfinished.mkdir()
    (unfinished / "PG_VERSION").write_text("18\n")
    with embedded_database(open_path, create=True) as url, psycopg.connect(url) as connection:
        assert connection.execute("SELECT 1").fetchone() == (1,)


#: A run that begins anew and is killed: as it puts the old cluster aside, right after that, or when
#: the new one is there and the deleting begins.
KILLED = """
import os, pathlib, sys
from zermelo.server.embedded import EmbeddedPostgres

def die(*_):
    os.kill(os.getpid(), 9)

postgres = EmbeddedPostgres(pathlib.Path(sys.argv[1]), durable=False)
if sys.argv[2] == "renaming":
    pathlib.Path.rename = die
postgres.discard()
if sys.argv[2] == "renamed":
    die()
postgres.begin()
postgres.wait_ready()
postgres.keep_alive()
die()
"""


@pytest.mark.parametrize("moment", ["renaming", "renamed", "deleting"])
def test_a_cluster_is_put_aside_whoever_dies_meanwhile(
    cluster: Path, open_path: Path, moment: str
) -> None:
    copy_folder(cluster, open_path)
    killed = subprocess.run(
        [sys.executable, "-c", KILLED, str(open_path), moment], capture_output=True, check=False
    )
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    left = {path.name for path in open_path.glob("postgres.old-*")}
    assert ("postgres" in os.listdir(open_path)) == (moment != "renamed")
    if moment != "deleting":  # else that may be over by now
        assert len(left) == 1
    postgres = EmbeddedPostgres(open_path, durable=False)
    postgres.discard()
    aside = {path.name for path in open_path.glob("postgres.old-*")}
    assert moment == "deleting" or aside >= left
    assert not (open_path / "postgres").exists()
    with running(postgres) as url, psycopg.connect(url) as connection:
        assert connection.execute("SELECT to_regclass('kept')").fetchone() == (None,)
    assert [*open_path.glob("postgres.old-*")] == []


def test_where_the_disk_is_nearly_full_the_old_cluster_is_deleted_first(
    cluster: Path, open_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy_folder(cluster, open_path)
    real = shutil.disk_usage
    monkeypatch.setattr(
        shutil, "disk_usage", lambda path: real(path)._replace(free=500 * 2**20)
    )
    EmbeddedPostgres(open_path).discard()
    assert [*open_path.glob("postgres*/PG_VERSION")] == []


def test_a_directory_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with (
        pytest.raises(EmbeddedError, match="cannot use data directory"),
        embedded_database(tmp_path / "file" / "data", create=True),
    ):
        pass


def test_a_full_disk_is_noticed_in_time(cluster: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = shutil.disk_usage

    def nearly_full(path: Path) -> tuple[int, int, int]:
        return real(path)._replace(free=5 * 2**20)

    with EmbeddedDatabase(cluster) as database:
        database.keep_alive()
        monkeypatch.setattr(shutil, "disk_usage", nearly_full)
        with pytest.raises(DiskFullError, match="only 5 MB are free"):
            database.keep_alive()
    with pytest.raises(DiskFullError), embedded_database(cluster):
        pass
    monkeypatch.undo()
    with embedded_database(cluster) as url:
        assert year(url) == 1913
