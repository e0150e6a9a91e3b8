"""The schema, the migrations, and the refusal of databases that fit neither."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest

from zermelo.server import database
from zermelo.server.database import (
    Connection,
    DatabaseError,
    check_schema,
    connect_once,
    ensure_schema,
    init_schema,
    migrate_schema,
)
from zermelo.sql import migrations, oldest_served

COLUMNS = """
    SELECT table_name, ordinal_position, column_name, udt_name, is_nullable, column_default,
           is_identity
    FROM information_schema.columns WHERE table_schema = 'public' ORDER BY 1, 2
"""
INDEXES = "SELECT indexdef FROM pg_indexes WHERE schemaname = 'public' ORDER BY 1"
CONSTRAINTS = """
    SELECT conrelid::regclass::text, conname, pg_get_constraintdef(oid) FROM pg_constraint
    WHERE connamespace = 'public'::regnamespace ORDER BY 1, 2
"""
ENUMS = """
    SELECT typname, array_agg(enumlabel ORDER BY enumsortorder) FROM pg_enum
    JOIN pg_type ON pg_type.oid = enumtypid GROUP BY 1 ORDER BY 1
"""
STORAGE = """
    SELECT relname, reloptions FROM pg_class
    WHERE relnamespace = 'public'::regnamespace ORDER BY 1
"""

FUNCTIONS = """
    SELECT pg_get_functiondef(oid) FROM pg_proc
    WHERE pronamespace = 'public'::regnamespace ORDER BY 1
"""
TRIGGERS = "SELECT pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal ORDER BY 1"
VIEWS = "SELECT viewname, definition FROM pg_views WHERE schemaname = 'public' ORDER BY 1"


def catalogue(connection: Connection) -> list[list[Any]]:
    queries = [COLUMNS, INDEXES, CONSTRAINTS, ENUMS, STORAGE, FUNCTIONS, TRIGGERS, VIEWS]
    return [connection.execute(text.encode()).fetchall() for text in queries]


def test_migrations_lead_to_the_schema(empty_database: str, connection: Connection) -> None:
    with connect_once(empty_database) as migrated:
        applied = migrate_schema(migrated)
        assert applied == [migration.name for migration in migrations()]
        assert catalogue(migrated) == catalogue(connection)


def test_versions_have_no_gap() -> None:
    assert [m.version for m in migrations()] == list(range(1, len(migrations()) + 1))


def test_creating_twice_changes_nothing(empty_database: str) -> None:
    ensure_schema(empty_database)
    ensure_schema(empty_database)
    with connect_once(empty_database) as connection:
        assert not init_schema(connection)
        assert migrate_schema(connection) == []


def test_an_empty_database_is_refused(empty_database: str) -> None:
    with connect_once(empty_database) as connection, pytest.raises(DatabaseError, match="db init"):
        check_schema(connection)


def test_a_newer_database_is_refused(connection: Connection) -> None:
    connection.execute("INSERT INTO schema_migrations (version, name) VALUES (9999, 'future')")
    with pytest.raises(DatabaseError, match="newer"):
        check_schema(connection)


def test_a_newer_database_serves_whom_every_migration_since_then_serves(
    connection: Connection,
) -> None:
    latest = migrations()[-1].version
    add = "INSERT INTO schema_migrations (version, name, serves) VALUES (%s, 'future', %s)"
    connection.execute(add, (latest + 1, latest))
    check_schema(connection)
    connection.execute(add, (latest + 2, latest + 2))
    connection.execute(add, (latest + 3, latest + 1))
    with pytest.raises(DatabaseError, match="newer"):
        check_schema(connection)


def test_a_database_that_cannot_hold_every_name_is_refused(postgres: str) -> None:
    with psycopg.connect(postgres, autocommit=True) as server:
        server.execute(
            "CREATE DATABASE ascii TEMPLATE template0 ENCODING 'SQL_ASCII' LOCALE 'C'"
        )
        with pytest.raises(DatabaseError, match="SQL_ASCII"):
            connect_once(postgres.replace("/postgres?", "/ascii?"))
        server.execute("DROP DATABASE ascii")


def test_a_migration_says_whom_it_serves() -> None:
    assert oldest_served(21, b"-- Serves programs from version 18 on.\n\nALTER ...") == 18
    assert oldest_served(21, b"-- Another column.\nALTER ...") == 21
    assert all(migration.serves <= migration.version for migration in migrations())


def test_a_migration_does_not_wait_for_ever(
    empty_database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "LONGEST_WAIT_MS", 20)
    monkeypatch.setattr(database, "MOST_TURNS", 2)
    with connect_once(empty_database) as connection, connect_once(empty_database) as other:
        connection.execute(migrations()[0].script)
        connection.execute("INSERT INTO schema_migrations (version, name) VALUES (1, 'first')")
        with other.transaction():
            other.execute("SELECT FROM campaigns")
            with pytest.raises(DatabaseError, match="keeps it busy"):
                migrate_schema(connection)
        assert migrate_schema(connection)
        check_schema(connection)


def test_an_unreachable_database_is_one_clear_line() -> None:
    with pytest.raises(DatabaseError, match="cannot reach the database") as caught:
        connect_once("postgresql://localhost:1/nowhere")
    assert "\n" not in str(caught.value)
    assert isinstance(caught.value.__cause__, psycopg.Error)
