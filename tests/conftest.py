"""Real parts for tests: one embedded PostgreSQL per run, one cloned database per test."""

from __future__ import annotations

import itertools
import os
import signal
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest
from hypothesis import HealthCheck, settings
from psycopg import sql

from zermelo.server.database import Connection, connect_once, ensure_schema
from zermelo.server.embedded import EmbeddedPostgres, running

pytest_plugins = ["tests.support.coordinator", "tests.support.engines"]

TEMPLATE = "zermelo_template"
_numbers = itertools.count(1)

# A slow machine is no mistake, examples may share a folder or a database, and what must
# pass before a change lands tries the same examples each time.
settings.register_profile(
    "patient",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
    derandomize="CI" in os.environ,
)
settings.load_profile("patient")

# What a shell starts in the background is deaf to Ctrl-C, and so would be all we start.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The chaos takes its minutes mostly waiting: first, so that the others run beside it."""
    items.sort(key=lambda item: "chaos" not in item.path.parts)


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """The URL of a server with a template database."""
    with open_folder() as folder, running(EmbeddedPostgres(folder)) as url:
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("ALTER SYSTEM SET fsync = off")
            connection.execute("SELECT pg_reload_conf()")
            connection.execute(
                sql.SQL("CREATE DATABASE {}").format(sql.Identifier(TEMPLATE))
            )
        ensure_schema(_url_of(url, TEMPLATE))
        yield url


@pytest.fixture
def empty_database(postgres: str) -> Iterator[str]:
    """The URL of a new database without a schema."""
    yield from _new_database(postgres, "template0")


@pytest.fixture
def database(postgres: str) -> Iterator[str]:
    """The URL of a new database with the schema."""
    yield from _new_database(postgres, TEMPLATE)


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


def _new_database(server: str, template: str) -> Iterator[str]:
    name = f"test_{next(_numbers)}"
    with psycopg.connect(server, autocommit=True) as admin:
        admin.execute(
            # Without a log of each page: a third of the time, and here no crash is to be survived.
            sql.SQL("CREATE DATABASE {} TEMPLATE {} STRATEGY FILE_COPY").format(
                sql.Identifier(name), sql.Identifier(template)
            )
        )
        yield _url_of(server, name)
        admin.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))


def _url_of(server: str, database: str) -> str:
    return server.replace("/postgres?", f"/{database}?")
