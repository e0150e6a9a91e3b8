"""Real databases: one embedded PostgreSQL for each process of a run, a database for each test."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest
from psycopg import sql

from tests.support.once import once
from tests.support.stock import Database, Stock, create_database, drop_database
from zermelo.server.database import Connection, ensure_schema
from zermelo.server.embedded import EmbeddedPostgres, running

TEMPLATE = "zermelo_template"
#: What a database that lives for seconds does without; real ones keep it all.
THROWAWAY = ("fsync", "full_page_writes", "autovacuum")


@pytest.fixture(scope="session")
def used_cluster(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data directory as a first run leaves it: to create one takes a second of a processor."""

    def make(folder: Path) -> None:
        with open_folder() as place:
            with running(EmbeddedPostgres(place)) as url:
                ensure_schema(url)
            copy_folder(place, folder)

    return once(tmp_path_factory, "cluster", make)


@pytest.fixture(scope="session")
def postgres(used_cluster: Path) -> Iterator[str]:
    """The URL of a server with a template database."""
    with open_folder() as folder:
        copy_folder(used_cluster, folder)
        with running(EmbeddedPostgres(folder)) as url:
            with psycopg.connect(url, autocommit=True) as connection:
                for setting in THROWAWAY:
                    connection.execute(
                        sql.SQL("ALTER SYSTEM SET {} = off").format(sql.Identifier(setting))
                    )
                connection.execute("SELECT pg_reload_conf()")
                connection.execute(
                    sql.SQL("CREATE DATABASE {} TEMPLATE {}").format(
                        sql.Identifier(TEMPLATE), sql.Identifier(connection.info.dbname)
                    )
                )
            yield url


@pytest.fixture
def empty_database(postgres: str) -> Iterator[str]:
    """The URL of a new database without a schema."""
    with new_database(postgres, "template0") as url:
        yield url


@pytest.fixture(scope="session")
def stock(postgres: str) -> Iterator[Stock]:
    stock = Stock(postgres, TEMPLATE)
    yield stock
    stock.close()


@pytest.fixture
def own_database(stock: Stock, request: pytest.FixtureRequest) -> Iterator[Database]:
    with stock.lend(connected="connection" in request.fixturenames) as database:
        yield database


@pytest.fixture
def database(own_database: Database) -> str:
    """The URL of a database with the schema and nothing else."""
    return own_database.url


@pytest.fixture
def connection(own_database: Database) -> Connection:
    return own_database.connect()


@pytest.fixture
def open_path() -> Iterator[Path]:
    """A folder in which the embedded PostgreSQL can live also where root runs the tests."""
    with open_folder() as folder:
        yield folder


@pytest.fixture
def used_path(open_path: Path, used_cluster: Path) -> Path:
    """A data directory of an earlier run, with the schema, for tests of what comes later."""
    copy_folder(used_cluster, open_path)
    return open_path


def copy_folder(source: Path, target: Path) -> None:
    """All that is in a folder, with its owners and rights."""
    subprocess.run(["cp", "-a", f"{source}/.", target], check=True)
    target.chmod(0o755)


@contextmanager
def open_folder() -> Iterator[Path]:
    """Root's PostgreSQL runs under another account, which must be able to reach its files.

    Not below pytest's own folder: whoever starts pytest meanwhile closes that for others.
    """
    with tempfile.TemporaryDirectory(prefix="zermelo-test-", ignore_cleanup_errors=True) as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


@contextmanager
def new_database(server: str, template: str = TEMPLATE) -> Iterator[str]:
    """The URL of a copy of a database to which nobody is connected."""
    url = create_database(server, template)
    yield url
    drop_database(server, url)
