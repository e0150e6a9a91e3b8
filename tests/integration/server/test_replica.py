"""Pages and researchers read a streaming replica; everything else uses the database itself."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import psycopg
import pytest

import zermelo
from tests.support.campaigns import solve
from tests.support.coordinator import running_coordinator, wait_until
from tests.support.postgres_versions import running_with_replica
from tests.support.web import visiting
from zermelo.server.campaigns import create_campaign
from zermelo.server.database import Connection, connect_once, ensure_schema, serve
from zermelo.server.trust import accounts
from zermelo.server.trust.accounts import Role

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def both() -> Iterator[tuple[str, str]]:
    """A database with a solved campaign, and its replica."""
    with running_with_replica() as urls:
        ensure_schema(urls[0])
        with connect_once(urls[0]) as connection:
            solve(connection, "reversi:4x4", node_budget=60)
        wait_until(lambda: followed(*urls))
        yield urls


def followed(url: str, replica: str) -> bool:
    with connect_once(url) as there, connect_once(replica) as here:
        wanted = there.execute("SELECT pg_current_wal_lsn()").fetchone()
        row = here.execute("SELECT pg_last_wal_replay_lsn() >= %s", wanted).fetchone()
        return bool(row and row[0])


def test_a_replica_cannot_be_written(both: tuple[str, str]) -> None:
    with connect_once(both[1]) as replica, pytest.raises(psycopg.errors.ReadOnlySqlTransaction):
        replica.execute("DELETE FROM campaigns")


def test_the_pages_read_the_replica(both: tuple[str, str]) -> None:
    """Every page of the campaign, with the database itself out of reach."""
    pages = ("/", "/campaigns/reversi:4x4", "/campaigns/reversi:4x4/tree", "/solved", "/volunteers",
             "/claims", "/games")
    with visiting("postgresql://127.0.0.1:9/away", read_database=both[1]) as visitor:
        for page in pages:
            assert visitor.get(page).status_code == 200, page


def test_researchers_read_the_replica(both: tuple[str, str]) -> None:
    url, replica = both
    with connect_once(url) as connection:
        token = accounts.open_account(connection, "rita", Role.RESEARCHER, actor="test")

    def campaigns(address: str) -> list[str]:
        with zermelo.open(server=address, token=token) as there:
            return sorted(there.campaigns())

    with running_coordinator(url, require_token=True, read_database=replica) as address:
        assert campaigns(address) == ["reversi:4x4"]
        # What the replica has not heard of yet researchers do not see.
        with connect_once(replica) as here:
            here.execute("SELECT pg_wal_replay_pause()")
        with connect_once(url) as connection:
            create_campaign(connection, "go:2x2")
        assert campaigns(address) == ["reversi:4x4"]
        with connect_once(replica) as here:
            here.execute("SELECT pg_wal_replay_resume()")
        wait_until(lambda: campaigns(address) == ["go:2x2", "reversi:4x4"])


def test_a_service_waits_until_a_replica_is_promoted(caplog: pytest.LogCaptureFixture) -> None:
    worked: list[str] = []

    def work(connection: Connection) -> None:
        create_campaign(connection, "go:2x2")
        worked.append("here")

    with running_with_replica() as (url, replica):
        ensure_schema(url)
        wait_until(lambda: followed(url, replica))
        service = threading.Thread(
            target=serve, args=("service", replica, threading.Event(), work), daemon=True
        )
        service.start()
        wait_until(lambda: "it is a replica, which can only be read" in caplog.text)
        assert not worked
        with connect_once(replica) as here:
            here.execute("SELECT pg_promote()")
        service.join(60)
        assert worked == ["here"]
    told = [message for message in caplog.messages if message.startswith("the database is ")]
    assert ["is away" in message for message in told] == [True, False], told
