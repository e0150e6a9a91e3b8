"""Real databases: one embedded PostgreSQL for each process of a run, a clone for each test."""

from __future__ import annotations

import itertools
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest
from psycopg import sql

from zermelo.server.database import Connection, connect_once, ensure_schema
from zermelo.server.embedded import EmbeddedPostgres, running

TEMPLATE = "zermelo_template"
#: What a database that lives for seconds does without; real ones keep it all.
THROWAWAY = ("fsync", "full_page_writes", "autovacuum")
_numbers = itertools.count(1)


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """The URL of a server with a template database."""
    with open_folder() as folder, running(EmbeddedPostgres(folder)) as url:
        with psycopg.connect(url, autocommit=True) as connection:
            for setting in THROWAWAY:
                connection.execute(
                    sql.SQL("ALTER SYSTEM SET {} = off").format(sql.Identifier(setting))
                )
            connection.execute("SELECT pg_reload_conf()")
            connection.execute(
                sql.SQL("CREATE DATABASE {}").format(sql.Identifier(TEMPLATE))
            )
        ensure_schema(_url_of(url, TEMPLATE))
        yield url


@pytest.fixture
def empty_database(postgres: str) -> Iterator[str]:
    """The URL of a new database without a schema."""
    with new_database(postgres, "template0") as url:
        yield url


@pytest.fixture
def database(postgres: str) -> Iterator[str]:
    """The URL of a new database with the schema."""
    with new_database(postgres) as url:
        yield url


@pytest.fixture
def connection(database: str) -> Iterator[Connection]:
    with connect_once(database) as connection:
        yield connection


@pytest.fixture
def open_path() -> Iterator[Path]:
    """A folder in which the embedded PostgreSQL can live also where root runs the tests."""
    with open_folder() as folder:
        yield folder


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
    name = f"test_{next(_numbers)}"
    with psycopg.connect(server, autocommit=True) as admin:
        admin.execute(
            # Half the time of a copy whose pages are logged, and no test relies on that log.
            sql.SQL("CREATE DATABASE {} TEMPLATE {} STRATEGY FILE_COPY").format(
                sql.Identifier(name), sql.Identifier(template)
            )
        )
        yield _url_of(server, name)
        admin.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))


def name_of(url: str) -> str:
    """The name of a database of which this is the URL."""
    return url.partition("?")[0].rpartition("/")[2]


def _url_of(server: str, database: str) -> str:
    return server.replace("/postgres?", f"/{database}?")
