"""A stock of databases for tests: emptied after each, not dropped.

To make and to drop a database takes five times as long as to empty one, and a connection that
stays remembers the tables and the plans of its statements. A test sees no difference: all rows
are those of a new database, numbers begin anew, and nobody else is connected. What cannot be made
as it was, such as a changed schema, is dropped.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
from psycopg import sql
from psycopg.pq import TransactionStatus

from zermelo.server.database import Connection, connect_once

#: Dead rows stay until a database is dropped; before they are so many that they slow a test down.
MOST_BYTES = 4 << 20

_numbers = itertools.count(1)

#: Where definitions are: those of our own objects, which have the larger numbers.
_CATALOGUES = {
    "pg_class": "oid", "pg_attribute": "attrelid", "pg_proc": "oid", "pg_type": "oid",
    "pg_index": "indexrelid", "pg_constraint": "oid", "pg_trigger": "oid", "pg_enum": "oid",
    "pg_attrdef": "oid", "pg_namespace": "oid", "pg_extension": "oid", "pg_default_acl": "oid",
    "pg_publication": "oid", "pg_event_trigger": "oid", "pg_statistic": "starelid",
    "pg_statistic_ext": "oid",
}  # fmt: skip
_FIRST_OWN = 16384
#: How many definitions there are and when the last one changed, for each kind; and settings.
_COUNTED = (
    "SELECT '{0}', count(*), coalesce(max(xmin::text::bigint), 0) FROM {0} WHERE {1} >= {2}"
)
_DEFINITIONS = " UNION ALL ".join([
    *(_COUNTED.format(name, number, _FIRST_OWN) for name, number in _CATALOGUES.items()),
    "SELECT 'settings', count(*), 0 FROM pg_db_role_setting"
    " WHERE setdatabase = (SELECT oid FROM pg_database WHERE datname = current_database())",
])  # fmt: skip
_TABLES = (
    "SELECT relname, pg_total_relation_size(oid) FROM pg_class WHERE relkind = 'r'"
    " AND relnamespace = 'public'::regnamespace AND pg_relation_size(oid) > 0"
)
_SEQUENCES = "SELECT sequencename FROM pg_sequences ORDER BY 1"
_END_OTHERS = (
    "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity"
    " WHERE datname = current_database() AND pid <> pg_backend_pid()"
)
_FORGET_SESSION = (
    "RESET ALL", "RESET SESSION AUTHORIZATION", "SELECT pg_advisory_unlock_all()", "DISCARD TEMP",
)  # fmt: skip


class Database:
    """A database of one test, and the connection to it that the test asked for."""

    def __init__(self, url: str) -> None:
        self.url = url
        self._connection: Connection | None = None

    @property
    def connected(self) -> bool:
        return self._connection is not None

    def connect(self) -> Connection:
        if self._connection is None:
            self._connection = connect_once(self.url)
        return self._connection

    def disconnect(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def forget_session(self) -> None:
        """Leave nothing of what a test did with its connection, or close it."""
        connection = self._connection
        if connection is None:
            return
        if (
            connection.info.transaction_status is TransactionStatus.IDLE
            and connection.autocommit
            and connection.row_factory is psycopg.rows.tuple_row
            and not connection.execute("SELECT pg_listening_channels()").fetchall()
        ):
            for statement in _FORGET_SESSION:
                connection.execute(statement)
        else:
            self.disconnect()


class Stock:
    """The databases of one process of a run that have the schema and nothing else."""

    def __init__(self, server: str, template: str) -> None:
        self._server, self._template = server, template
        self._free: list[Database] = []
        with psycopg.connect(url_of(server, template), autocommit=True) as connection:
            self._definitions = _rows(connection, _DEFINITIONS)
            self._sequences = [
                (name, *_rows(connection, sql.SQL("SELECT last_value, is_called FROM {}").format(
                    sql.Identifier(name)
                ))[0])
                for (name,) in _rows(connection, _SEQUENCES)
            ]  # fmt: skip
            self._first_rows = {
                name: _rows(connection, sql.SQL("SELECT * FROM {}").format(sql.Identifier(name)))
                for name, _ in _rows(connection, _TABLES)
            }

    def close(self) -> None:
        for database in self._free:
            database.disconnect()

    @contextmanager
    def lend(self, *, connected: bool) -> Iterator[Database]:
        """A database for one test; `connected` if the test wants a connection, too."""
        database = self._take(connected)
        yield database
        if self._empty(database):
            self._free.append(database)
        else:
            database.disconnect()
            drop_database(self._server, database.url)

    def _take(self, connected: bool) -> Database:
        """One whose connection the test does not want is no use to it: it would be seen."""
        for database in self._free:
            if database.connected == connected:
                self._free.remove(database)
                return database
        return Database(create_database(self._server, self._template))

    def _empty(self, database: Database) -> bool:
        """Whether the database is again as it was when it was new."""
        try:
            database.forget_session()
            kept = database.connected
            connection = database.connect()
            connection.execute(_END_OTHERS)
            if _rows(connection, _DEFINITIONS) != self._definitions:
                return False
            tables = dict(_rows(connection, _TABLES))
            if sum(tables.values()) > MOST_BYTES:
                return False
            with connection.transaction():
                # Rows go in any order, whatever refers to them.
                connection.execute("SET LOCAL session_replication_role = replica")
                for name in {*tables, *self._first_rows}:
                    self._restore(connection, name)
                for name, last, called in self._sequences:
                    connection.execute("SELECT setval(%s, %s, %s)", (name, last, called))
            if not kept:
                database.disconnect()
        except psycopg.Error:  # one that the test took away, or whose sessions do not end
            return False
        return True

    def _restore(self, connection: Connection, table: str) -> None:
        name = sql.Identifier(table)
        connection.execute(sql.SQL("DELETE FROM {}").format(name))
        for row in self._first_rows.get(table, []):
            values = sql.SQL(", ").join(sql.Placeholder() * len(row))
            connection.execute(
                sql.SQL("INSERT INTO {} OVERRIDING SYSTEM VALUE VALUES ({})").format(name, values),
                row,
            )


def create_database(server: str, template: str) -> str:
    """The URL of a copy of a database to which nobody is connected."""
    name = f"test_{next(_numbers)}"
    with psycopg.connect(server, autocommit=True) as admin:
        admin.execute(
            # Half the time of a copy whose pages are logged, and no test relies on that log.
            sql.SQL("CREATE DATABASE {} TEMPLATE {} STRATEGY FILE_COPY").format(
                sql.Identifier(name), sql.Identifier(template)
            )
        )
    return url_of(server, name)


def drop_database(server: str, url: str) -> None:
    """Drop a database and whoever is connected to it."""
    with psycopg.connect(server, autocommit=True) as admin:
        admin.execute(
            sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name_of(url)))
        )


def name_of(url: str) -> str:
    """The name of a database of which this is the URL."""
    return url.partition("?")[0].rpartition("/")[2]


def url_of(server: str, database: str) -> str:
    return server.replace("/postgres?", f"/{database}?")


def _rows(connection: Connection, query: Any) -> list[Any]:
    return connection.execute(query).fetchall()
