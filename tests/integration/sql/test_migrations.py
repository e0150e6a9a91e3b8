"""Old databases full of rows reach the present schema: nothing is lost, and the solve goes on."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from psycopg import sql

from tests.support.databases import new_database
from tests.support.effort import REPEATED, long
from tests.support.harness import Solve
from tests.support.minimax import KNOWN_VALUES
from zermelo.games import Bounds
from zermelo.server.campaigns import create_campaign, find_campaign
from zermelo.server.check import check_database
from zermelo.server.database import Connection, connect_once, migrate_schema
from zermelo.server.trust import accounts
from zermelo.server.trust.accounts import Role
from zermelo.server.trust.audit import record
from zermelo.sql import migrations

SPEC = "reversi:4x4"
VALUE = KNOWN_VALUES[SPEC]
#: Before this version answers were not compared.
COMPARING = 2
LATEST = migrations()[-1].version

Columns = dict[str, list[str]]

#: Tables and columns that a migration renamed: what they are called today.
RENAMED_TABLES = {"claims": "evidence"}
RENAMED_COLUMNS = {
    ("hosts", "instance"): "host_key_digest", ("hosts", "slots"): "workers",
    ("campaigns", "node_limit"): "node_budget", ("workunits", "budget"): "node_budget",
    ("leases", "budget"): "node_budget",
}  # fmt: skip


def half_solved(connection: Connection, replication: str) -> None:
    """A campaign in the midst of its work, with all kinds of rows."""
    campaign = create_campaign(connection, SPEC, replication=replication, node_budget=40)
    solve = Solve(connection, campaign, clients=3, users=True)
    for step in range(500):
        solve.step()
        if step > 12 and connection.execute("SELECT FROM evidence").fetchone():
            break
    accounts.open_account(connection, "otto", Role.OPERATOR, team="engines", actor="test")
    record(connection, "otto", "look", "everything", "and found it good")


def columns(connection: Connection) -> Columns:
    """The columns of every table but the list of migrations."""
    found: Columns = {}
    for table, column in connection.execute(
        "SELECT table_name, column_name FROM information_schema.columns"
        " JOIN information_schema.tables USING (table_schema, table_name)"
        " WHERE table_schema = 'public' AND table_name <> 'schema_migrations'"
        " AND table_type = 'BASE TABLE' ORDER BY table_name, ordinal_position"
    ):
        found.setdefault(table, []).append(column)
    return found


def as_of_today(former: Columns) -> Columns:
    """The same tables and columns by their present names, in the same order."""
    return {
        RENAMED_TABLES.get(table, table): [RENAMED_COLUMNS.get((table, name), name)
                                           for name in names]
        for table, names in former.items()
    }  # fmt: skip


def build(connection: Connection, version: int) -> None:
    """The database as a program of that version made it."""
    for migration in migrations()[:version]:
        connection.execute(migration.script)
        connection.execute(
            "INSERT INTO schema_migrations (version, name) VALUES (%s, %s)",
            (migration.version, migration.name),
        )


def copy_rows(source: Connection, target: Connection, wanted: Columns) -> None:
    """Fill tables with what the source has in these columns; identities count on from there."""
    today = as_of_today(wanted).items()
    with target.transaction():
        target.execute("SET LOCAL session_replication_role = 'replica'")  # in any order
        tables = sql.SQL(", ").join(map(sql.Identifier, wanted))
        target.execute(sql.SQL("TRUNCATE {}").format(tables))
        for (table, names), (source_table, source_names) in zip(wanted.items(), today, strict=True):
            fields = sql.SQL(", ").join(map(sql.Identifier, names))
            reading = sql.SQL("COPY {} ({}) TO STDOUT").format(
                sql.Identifier(source_table), sql.SQL(", ").join(map(sql.Identifier, source_names))
            )
            writing = sql.SQL("COPY {} ({}) FROM STDIN").format(sql.Identifier(table), fields)
            with source.cursor().copy(reading) as rows, target.cursor().copy(writing) as written:
                for data in rows:
                    written.write(data)
        for table, column in target.execute(
            "SELECT table_name, column_name FROM information_schema.columns"
            " WHERE table_schema = 'public' AND is_identity = 'YES'"
        ).fetchall():
            target.execute(
                sql.SQL("SELECT setval(pg_get_serial_sequence({}, {}), (SELECT greatest(1, max({}))"
                        " FROM {}))").format(table, column, *map(sql.Identifier, (column, table)))
            )


def rows(connection: Connection, wanted: Columns) -> dict[str, list[Any]]:
    found = {}
    for table, names in wanted.items():
        fields = sql.SQL(", ").join(map(sql.Identifier, names))
        reading = sql.SQL("SELECT {} FROM {}").format(fields, sql.Identifier(table))
        found[table] = sorted(map(repr, connection.execute(reading)))
    return found


@contextmanager
def somebody_reads(url: str, tables: Iterable[str]) -> Iterator[None]:
    """A service in the middle of a transaction, which ends only after a migration began."""
    with connect_once(url) as reader:
        reader.execute("BEGIN")
        for table in tables:
            reader.execute(sql.SQL("SELECT FROM {}").format(sql.Identifier(table)))
        end = threading.Timer(0.1, lambda: reader.execute("COMMIT"))
        end.start()
        yield
        end.join()


@pytest.fixture(scope="module")
def source(postgres: str, request: pytest.FixtureRequest) -> Iterator[Connection]:
    """A half-solved database, which the tests only read."""
    with new_database(postgres) as url, connect_once(url) as connection:
        half_solved(connection, request.param)
        yield connection


@pytest.mark.parametrize(("source", "version"), [
    pytest.param(
        "adaptive" if version >= COMPARING else "none", version,
        # The first that compared answers and the oldest stand for the others.
        marks=long if version in (1, COMPARING) else REPEATED,
    )
    for version in range(1, LATEST + 1)
], indirect=["source"])
def test_a_database_of_every_version_migrates_with_its_rows(
    source: Connection, empty_database: str, version: int
) -> None:
    present = columns(source)
    with connect_once(empty_database) as old:
        build(old, version)
        made = columns(old)
        kept = as_of_today(made)
        assert all(set(names) <= set(present[table]) for table, names in kept.items()), (
            "a migration takes columns away: say here what becomes of them"
        )
        copy_rows(source, old, made)
        before = {RENAMED_TABLES.get(table, table): found
                  for table, found in rows(old, made).items()}  # fmt: skip
        filled = ("nodes", "workunits", "leases", "results", "evidence")
        assert all(before[table] for table in filled)

        with somebody_reads(empty_database, [*made]):
            applied = migrate_schema(old)
        assert applied == [migration.name for migration in migrations()[version:]]
        assert rows(old, kept) == before
        assert columns(old) == present
        assert check_database(old) == []
        old.execute("UPDATE campaigns SET node_budget = 1000")  # larger workunits: soon over
        campaign = find_campaign(old, SPEC)
        assert Solve(old, campaign, clients=3, users=True).run() == Bounds(VALUE, VALUE)
        assert check_database(old) == []
