"""A database that goes away while somebody asks: one sentence, no error of psycopg."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from click.testing import CliRunner

import zermelo
from zermelo.cli import zermelo as command
from zermelo.research.queries import Campaigns, Queries
from zermelo.research.tree_queries import TreeQueries
from zermelo.server.campaigns import create_campaign
from zermelo.server.database import Connection, DatabaseError

SPEC = "reversi:4x4"


def end_readers(connection: Connection) -> None:
    """What a shutdown of PostgreSQL does to everybody else."""
    ended = connection.execute(
        "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity"
        " WHERE datname = current_database() AND pid <> pg_backend_pid()"
    ).fetchall()
    assert ended == [(True,)]


@pytest.mark.parametrize("ask", [
    Queries.standing, Queries.position, Queries.line, Queries.levels, Queries.workunits,
    lambda queries: queries.worth(queries.start),
    lambda queries: queries.proved_move(queries.start),
])  # fmt: skip
def test_of_a_campaign(
    connection: Connection, database: str, ask: Callable[[Any], object]
) -> None:
    create_campaign(connection, SPEC)
    with zermelo.open(database) as opened:
        queries = opened.campaign(SPEC)
        assert isinstance(queries, TreeQueries)
        ask(queries)
        end_readers(connection)
        for _ in range(2):  # it was lost, and it stays lost
            with pytest.raises(DatabaseError, match=r"^the database went away: .*ask again"):
                ask(queries)


@pytest.mark.parametrize("ask", [
    Campaigns.campaigns, Campaigns.standings, lambda opened: opened.campaign(SPEC),
])  # fmt: skip
def test_of_all_campaigns(
    connection: Connection, database: str, ask: Callable[[Any], object]
) -> None:
    create_campaign(connection, SPEC)
    with zermelo.open(database) as opened:
        ask(opened)
        end_readers(connection)
        with pytest.raises(DatabaseError, match="the database went away"):
            ask(opened)


def test_of_a_command(
    connection: Connection, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    create_campaign(connection, SPEC)

    def summary(reader: Connection, name: str) -> None:
        end_readers(connection)
        reader.execute("SELECT 1")

    monkeypatch.setattr("zermelo.cli.campaign.campaign_summary", summary)
    done = CliRunner().invoke(command, ["campaign", "show", SPEC, "--database", database])
    assert isinstance(done.exception, DatabaseError)
    assert "\n" not in str(done.exception)
