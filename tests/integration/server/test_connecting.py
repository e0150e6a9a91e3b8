"""Connections to a database that goes away while they are made."""

from __future__ import annotations

import threading

import psycopg
import pytest

from zermelo.server import database as databases
from zermelo.server.database import Connection, connect, connect_once


def test_a_database_that_goes_away_at_the_first_statement_is_waited_for(
    database: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    real, ended = databases.check_schema, []

    def check(connection: Connection) -> None:
        if not ended:
            ended.append(connection.info.backend_pid)
            with connect_once(database) as other:
                other.execute("SELECT pg_terminate_backend(%s, 5000)", (ended[0],))
        real(connection)

    monkeypatch.setattr(databases, "check_schema", check)
    with connect(database, threading.Event()) as connection:
        assert connection.execute("SELECT pg_backend_pid()").fetchone() != (ended[0],)
    assert "the database is away" in caplog.text
    assert "the database is back" in caplog.text


def test_a_schema_that_cannot_be_used_is_not_waited_for(
    database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = []

    def refuse(connection: Connection) -> None:
        opened.append(connection)
        raise databases.DatabaseError("the database is empty; run `zermelo db init`")

    monkeypatch.setattr(databases, "check_schema", refuse)
    with pytest.raises(databases.DatabaseError, match="db init"):
        connect(database, threading.Event())
    assert [connection.info.status for connection in opened] == [psycopg.pq.ConnStatus.BAD]
