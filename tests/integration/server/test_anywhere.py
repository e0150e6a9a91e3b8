"""The embedded PostgreSQL runs for every user, wherever the programs and the data lie.

What only root can arrange (other users, closed folders of root, missing accounts) runs where
root runs the tests.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import psycopg
import pytest

from tests.support.databases import copy_folder
from tests.support.effort import REPEATED, first_of, long
from tests.support.strangers import (
    ADA,
    BOB,
    NOBODY,
    finish,
    postgres_in,
    start,
)
from zermelo.server.embedded import DataDirectory, EmbeddedError, embedded_database
from zermelo.server.embedded.passwords import ITERATIONS, ROLE

root_only = pytest.mark.skipif(os.geteuid() != 0, reason="needs to be several users")

#: Creates or opens a database, writes into it, and tells who PostgreSQL's process is.
USE_DATABASE = """
import os, sys
from pathlib import Path
import psycopg
from zermelo.server.embedded import default_data_dir, embedded_database
data_dir = Path(sys.argv[1]) if len(sys.argv) > 1 else default_data_dir()
with embedded_database(data_dir, create=True) as url, psycopg.connect(url) as connection:
    connection.execute("CREATE TABLE IF NOT EXISTS runs (run int)")
    connection.execute("INSERT INTO runs VALUES (1)")
    runs = connection.execute("SELECT count(*) FROM runs").fetchone()[0]
    connection.commit()
    pid = (data_dir / "postgres" / "postmaster.pid").read_text().split()[0]
    print(runs, os.stat(f"/proc/{pid}").st_uid, data_dir)
"""


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder that everybody can enter and write, with a path that has spaces."""
    with tempfile.TemporaryDirectory(prefix="zermelo test ", ignore_cleanup_errors=True) as name:
        Path(name).chmod(0o777)
        yield Path(name)


@pytest.fixture
def closed(folder: Path) -> Path:
    """A folder that only we can enter."""
    path = folder / "closed to others"
    path.mkdir(mode=0o700)
    return path


def use(*arguments: str, **surroundings: object) -> tuple[int, int, str]:
    """How often this database was used, the user of its process, and where it is."""
    process = start(["-c", USE_DATABASE, *arguments], **surroundings)  # type: ignore[arg-type]
    runs, user, data_dir = finish(process).strip().split(" ", 2)
    return int(runs), int(user), data_dir


# -- root ---------------------------------------------------------------------------------


@root_only
def test_root_in_an_open_place_uses_an_account(folder: Path) -> None:
    data = folder / "data"
    runs, user, _ = use(str(data), PYTHONPATH=postgres_in(folder, 0o755))
    assert (runs, user != 0) == (1, True)
    assert (data / "postgres").stat().st_uid == user


@root_only
def test_root_below_a_closed_folder(closed: Path) -> None:
    data = closed / "data"
    path = postgres_in(closed, 0o700)
    assert use(str(data), PYTHONPATH=path)[:2] == (1, 0)
    assert (data / "postgres").stat().st_uid == 0
    assert use(str(data), PYTHONPATH=path)[:2] == (2, 0)


@root_only
def test_root_below_a_closed_folder_without_namespaces(closed: Path) -> None:
    data = closed / "data"
    path = postgres_in(closed, 0o700)
    runs, user, _ = use(str(data), PYTHONPATH=path, namespaces=False)
    assert (runs, user != 0) == (1, True)
    assert use(str(data), PYTHONPATH=path, namespaces=False)[:2] == (2, user)
    # Nobody lost a right, and nobody got one that was not needed.
    assert stat.S_IMODE(closed.stat().st_mode) == 0o700
    # Where namespaces are allowed again, the cluster keeps its owner.
    assert use(str(data), PYTHONPATH=path)[:2] == (3, user)


@long
@root_only
def test_roots_cluster_is_handed_over_where_namespaces_became_forbidden(closed: Path) -> None:
    data = closed / "data"
    assert use(str(data))[:2] == (1, 0)
    runs, user, _ = use(str(data), namespaces=False)
    assert (runs, user != 0) == (2, True)


@root_only
@pytest.mark.parametrize(("accounts", "namespaces"), [
    ("root", True), ("root", False),
    *(pytest.param("root nobody", namespaces, marks=REPEATED) for namespaces in (True, False)),
])
def test_a_machine_without_accounts(closed: Path, accounts: str, namespaces: bool) -> None:
    passwd = closed / "passwd"
    numbers = {"root": 0, "nobody": NOBODY}
    passwd.write_text(
        "".join(f"{name}:x:{numbers[name]}:{numbers[name]}::/:\n" for name in accounts.split())
    )
    process = start(["-c", USE_DATABASE, str(closed / "data")], passwd=passwd,
                    namespaces=namespaces, HOME=None)  # fmt: skip
    output, errors = process.communicate(timeout=60)
    if accounts == "root":
        # initdb wants a name for whoever runs it; the message has to say what can be done.
        assert process.returncode == 1
        assert "EmbeddedError" in errors
        assert "--database" in errors
        return
    assert process.returncode == 0, errors
    assert output.split()[:2] == ["1", "0" if namespaces else str(NOBODY)]


# -- ordinary users -----------------------------------------------------------------------


@root_only
@pytest.mark.parametrize("namespaces", [True, False])
def test_an_ordinary_user_in_a_closed_home(folder: Path, namespaces: bool) -> None:
    home = folder / "home of nobody"
    home.mkdir(mode=0o700)
    os.chown(home, NOBODY, NOBODY)
    runs, user, data_dir = use(user=NOBODY, HOME=str(home), XDG_DATA_HOME=None,
                               namespaces=namespaces)
    assert (runs, user) == (1, NOBODY)
    assert data_dir == str(home / ".local/share/zermelo")


@root_only
def test_two_users_and_root_at_the_same_time(folder: Path) -> None:
    processes = []
    for user in (ADA, BOB, 0):
        home = folder / str(user)
        home.mkdir(mode=0o700)
        os.chown(home, user, user)
        # A long path: their sockets all go to the same folder for temporary files.
        data = home / ("long" * 25)
        processes.append(start(["-c", USE_DATABASE, str(data)], user=user))
    outputs = [finish(process).split()[:2] for process in processes]
    assert outputs == [["1", str(ADA)], ["1", str(BOB)], ["1", "0"]]


@root_only
def test_a_user_without_a_home_and_without_a_name() -> None:
    place = f"/var/tmp/zermelo-{ADA}"  # noqa: S108
    shutil.rmtree(place, ignore_errors=True)
    try:
        runs, user, data_dir = use(user=ADA, HOME=None, XDG_DATA_HOME=None, XDG_RUNTIME_DIR=None)
        assert (runs, user, data_dir) == (1, ADA, place)
        assert use(user=ADA, HOME="/", XDG_DATA_HOME=None)[::2] == (2, data_dir)
    finally:
        shutil.rmtree(place, ignore_errors=True)


@root_only
@pytest.mark.parametrize("user", first_of([0, ADA]))
def test_a_read_only_source_tree(folder: Path, user: int) -> None:
    home = folder / "home"
    home.mkdir(mode=0o700)
    os.chown(home, user, user)
    written = start(["-c", "import os, zermelo; open(zermelo.__file__, 'a')"], read_only=True)
    assert "Read-only file system" in written.communicate(timeout=60)[1]
    solved = start(
        ["-c", "from zermelo.cli import main; main()", "solve", "reversi:4x4", "--json",
         "--data-dir", str(home / "data")],
        user=user, read_only=True, HOME=str(home),
    )  # fmt: skip
    assert '"value": -8' in finish(solved)


def test_home_may_be_unset(folder: Path) -> None:
    assert use(str(folder / "data"), HOME=None, XDG_RUNTIME_DIR=None)[0] == 1


def test_a_folder_that_somebody_else_prepared_is_refused(folder: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("needs to be several users")
    shared = folder / "shared"
    shared.mkdir()
    shared.chmod(0o1777)
    prepared = shared / "data"
    prepared.mkdir(mode=0o777)
    prepared.chmod(0o777)
    os.chown(prepared, BOB, BOB)
    process = start(["-c", USE_DATABASE, str(prepared)], user=ADA)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 1
    assert f"belongs to another user ({BOB})" in errors
    with pytest.raises(EmbeddedError, match="belongs to another user"):
        DataDirectory(prepared).lock()


# -- who may connect ----------------------------------------------------------------------


@pytest.fixture
def long_path(folder: Path, used_cluster: Path) -> Path:
    """A data directory with a path that is too long for a socket."""
    data = folder / ("a-long-name-" * 10)
    data.mkdir()
    copy_folder(used_cluster, data)
    return data


def socket_folder(url: str) -> Path:
    return Path(parse_qs(urlsplit(url).query)["host"][0])


def test_a_prepared_socket_folder_is_not_used(long_path: Path) -> None:
    """The attack: the folder for a long path's socket had a name that could be computed."""
    data = long_path
    digest = hashlib.blake2b(str(data / "postgres").encode(), digest_size=8).hexdigest()
    prepared = Path(tempfile.gettempdir()) / f"zermelo-{digest}"
    prepared.mkdir(mode=0o777)
    try:
        with embedded_database(data) as url:
            assert socket_folder(url) != prepared
            assert not list(prepared.iterdir())
            found = socket_folder(url).lstat()
            assert stat.S_IMODE(found.st_mode) == 0o700
    finally:
        prepared.rmdir()


def test_a_replaced_socket_folder_is_not_used(folder: Path, long_path: Path) -> None:
    """The folder of a run that was killed may have been replaced by a link meanwhile."""
    data = long_path
    with embedded_database(data) as url:
        first = socket_folder(url)
    assert not first.exists()
    elsewhere = folder / "elsewhere"
    elsewhere.mkdir(mode=0o700)
    first.symlink_to(elsewhere)
    (data / "sockets").symlink_to(first)
    try:
        with embedded_database(data) as url:
            assert socket_folder(url) != first
        assert not list(elsewhere.iterdir())
    finally:
        first.unlink()


@long
def test_the_socket_folder_of_a_killed_run_is_used_again(long_path: Path) -> None:
    data = long_path
    process = subprocess.Popen(
        [sys.executable, "-c", USE_DATABASE.replace("    print", "    import time\n    print(url,"
         " flush=True); time.sleep(60)\n    print"), str(data)], stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stdout is not None
    first = socket_folder(process.stdout.readline().strip())
    process.kill()
    process.communicate()
    with embedded_database(data) as url:
        assert socket_folder(url) == first
    assert not first.exists()


def test_nobody_connects_without_the_password(folder: Path) -> None:
    data = folder / "data"
    with embedded_database(data, create=True) as url:
        without = url.partition("&passfile=")[0] + "&passfile=/dev/null"
        with pytest.raises(psycopg.OperationalError, match="no password"):
            psycopg.connect(without)
        with pytest.raises(psycopg.OperationalError, match="password authentication failed"):
            psycopg.connect(without, password="guessed")  # noqa: S106
        with psycopg.connect(url) as connection:
            rules = connection.execute("SELECT DISTINCT auth_method FROM pg_hba_file_rules")
            assert rules.fetchall() == [("scram-sha-256",)]
            # Ours has too many random bits to be guessed; what a person chooses may be short.
            connection.execute("CREATE ROLE rita PASSWORD 'short'")
            hashed = connection.execute(
                "SELECT rolname, split_part(split_part(rolpassword, '$', 2), ':', 1)"
                " FROM pg_authid WHERE rolpassword IS NOT NULL ORDER BY rolname"
            )
            assert hashed.fetchall() == [("rita", "4096"), (ROLE, str(ITERATIONS))]
    passfile = data / "postgres.password"
    assert stat.S_IMODE(passfile.stat().st_mode) == 0o600
    password = passfile.read_text().strip().rpartition(":")[2]
    assert len(password) >= 32
    assert password not in url
    assert password not in (data / "postgres.log").read_text()


@long
def test_a_lost_password_is_replaced(folder: Path) -> None:
    data = folder / "data"
    assert use(str(data))[0] == 1
    (data / "postgres.password").unlink()
    assert use(str(data))[0] == 2


@long
def test_a_cluster_that_trusted_everybody_is_secured(folder: Path) -> None:
    """As version 0.1.0 made them: for root, owned by another account."""
    data = folder / "data"
    cluster = data / "postgres"
    cluster.mkdir(parents=True, mode=0o700)
    data.chmod(0o755)
    owner = NOBODY if os.geteuid() == 0 else os.geteuid()
    os.chown(cluster, owner, os.getegid())
    old = {"user": owner} if os.geteuid() == 0 else {}
    site = Path(postgres_in(folder, 0o755).split(os.pathsep)[0])
    programs = next(site.glob("*/pginstall18/bin"))
    subprocess.run(
        [programs / "initdb", "--no-sync", "--auth=trust", "--username=zermelo", "-D", cluster],
        check=True, stdout=subprocess.DEVNULL, cwd="/", **old,
    )  # fmt: skip
    subprocess.run(
        [programs / "postgres", "--single", "-D", cluster, "postgres"], cwd="/", check=True,
        input=b"CREATE TABLE kept AS SELECT 1913 AS year;\n", stdout=subprocess.DEVNULL, **old,
    )  # fmt: skip
    for _ in range(2):
        with embedded_database(data) as url, psycopg.connect(url) as connection:
            assert connection.execute("SELECT year FROM kept").fetchone() == (1913,)
            with pytest.raises(psycopg.OperationalError, match="no password"):
                psycopg.connect(url.partition("&passfile=")[0] + "&passfile=/dev/null")
        assert cluster.stat().st_uid == owner
