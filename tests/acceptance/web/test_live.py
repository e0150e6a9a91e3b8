"""The live page in a real browser: it follows a solve without being loaded again."""

from __future__ import annotations

import http.client
import json
import logging
import re
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any
from urllib.parse import urlsplit

import pytest
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict

from tests.support.coordinator import wait_until
from tests.support.harness import Solve
from tests.support.web import serving
from zermelo.server.campaigns import create_campaign
from zermelo.server.database import Connection, connect_once
from zermelo.server.listening import notify
from zermelo.server.vocabulary import Channel

NAME = "reversi:4x4"


@pytest.fixture
def solve(connection: Connection) -> Solve:
    campaign = create_campaign(connection, NAME, node_budget=40, replication="none")
    return Solve(connection, campaign)


def test_a_page_follows_the_solve(
    browser: Any, database: str, connection: Connection, solve: Solve
) -> None:
    with serving(database) as site:
        context = browser.new_context()
        page = context.new_page()
        complaints: list[str] = []
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.goto(f"{site}/campaigns/{NAME}")
        assert page.locator(".worth").first.inner_text().startswith("unknown")
        solve.run()
        notify(connection, Channel.CAMPAIGNS, solve.campaign.id)
        page.locator(".worth", has_text=re.compile(r"^\s*-8")).first.wait_for(timeout=60_000)
        proof = page.get_by_role("link", name="Walk the proof")
        proof.wait_for()  # the page may have been drawn while the campaign still ran
        assert proof.count() == 1
        assert complaints == []
        proof.click()
        board = page.locator("svg.board")
        board.get_by_role("link", name="b1: proved -8, best").click()
        page.wait_for_url("**/position?moves=b1")
        page.wait_for_selector("ol.line a")  # the best line comes by itself
        context.close()


def test_all_pages_work_without_scripts(browser: Any, site: str) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{site}/campaigns/{NAME}/position")
    page.get_by_role("link", name="b1: proved -8, best").click()
    page.get_by_role("link", name="Best play from here").click()
    assert page.locator("ol.line li").count() > 2
    page.get_by_role("button", name="Dark").click()
    assert page.locator("html").get_attribute("data-theme") == "dark"
    assert page.url.endswith("/line?moves=b1")
    context.close()


class Viewer:
    """Reads a live stream as it comes, without a browser."""

    def __init__(self, site: str, topic: str) -> None:
        parts = urlsplit(site)
        self._connection = http.client.HTTPConnection(parts.hostname or "", parts.port, 60)
        self._connection.request("GET", f"/live/{topic}")
        self._socket = self._connection.sock
        self.answer = self._connection.getresponse()
        self.events: list[str] = []
        self.ended = threading.Event()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        with suppress(OSError, http.client.HTTPException):  # the server has gone
            for line in self.answer:
                if line.startswith(b"event: "):
                    self.events.append(line.decode().split()[1])
        self.ended.set()

    def close(self) -> None:
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)  # ends the thread that reads
        self.ended.wait(60)
        self._connection.close()


@contextmanager
def viewers(site: str, count: int) -> Iterator[list[Viewer]]:
    opened = [Viewer(site, f"campaigns/{NAME}") for _ in range(count)]
    yield opened
    for viewer in opened:
        viewer.close()


def connections_of_pages(connection: Connection) -> int:
    row = connection.execute(
        "SELECT count(*) FROM pg_stat_activity"
        " WHERE application_name = 'zermelo web' AND datname = current_database()"
    ).fetchone()
    return int(row[0]) if row else -1


def test_one_connection_listens_for_all_viewers(
    database: str, connection: Connection, solve: Solve
) -> None:
    with serving(database) as site:
        watching = [Viewer(site, f"campaigns/{NAME}") for _ in range(20)]
        assert {viewer.answer.status for viewer in watching} == {200}
        wait_until(lambda: all("standing" in viewer.events for viewer in watching), 60)
        wait_until(lambda: connections_of_pages(connection) == 1, 60)
        before = [len(viewer.events) for viewer in watching]
        for _ in range(8):
            solve.step()
        notify(connection, Channel.TREE, solve.campaign.id)
        wait_until(lambda: all(
            len(viewer.events) > count for viewer, count in zip(watching, before, strict=True)
        ), 60)  # fmt: skip
        began = time.monotonic()
    # The server does not wait for viewers who stay.
    assert time.monotonic() - began < 30
    assert all(viewer.ended.wait(60) for viewer in watching)
    for viewer in watching:
        viewer.close()
    wait_until(lambda: connections_of_pages(connection) == 0, 60)


def test_an_outage_is_two_lines_while_somebody_watches(
    database: str, connection: Connection, solve: Solve, postgres: str,
    caplog: pytest.LogCaptureFixture,
) -> None:  # fmt: skip
    name = conninfo_to_dict(database)["dbname"]
    closed = sql.SQL("ALTER DATABASE {} ALLOW_CONNECTIONS {}")
    with (
        serving(database) as site, viewers(site, 2) as (viewer, _), connect_once(postgres) as server
    ):  # fmt: skip
        wait_until(lambda: "standing" in viewer.events, 60)
        server.execute(closed.format(sql.Identifier(name), False))
        server.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE datname = %s AND application_name <> 'zermelo'", (name,),
        )  # fmt: skip
        wait_until(lambda: "is away" in caplog.text, 60)
        time.sleep(2)  # for whoever might tell of it again
        server.execute(closed.format(sql.Identifier(name), True))
        before = len(viewer.events)
        solve.step()
        wait_until(lambda: len(viewer.events) > before, 60)
    told = [record for record in caplog.records if record.levelno >= logging.WARNING]
    assert ["is away" in record.message for record in told] == [True, False], told
    assert "is back" in told[-1].message


def test_an_address_has_only_so_many_streams(database: str, solve: Solve) -> None:
    with serving(database, streams_per_address=2) as site, viewers(site, 2) as watching:
        wait_until(lambda: all(viewer.events for viewer in watching), 60)
        refused = Viewer(site, f"campaigns/{NAME}")
        assert refused.answer.status == 503
        refused.close()
        status = http.client.HTTPConnection(urlsplit(site).netloc)
        status.request("GET", "/status.json")
        assert json.loads(status.getresponse().read())["viewers"] == 2
        status.close()
