"""The pages in tests: a visitor without a browser, a real server, a real browser."""

from __future__ import annotations

import os
import shutil
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from tests.support.campaigns import solve
from tests.support.coordinator import wait_until
from tests.support.databases import new_database
from zermelo.server.database import connect_once
from zermelo.server.ports import free_port
from zermelo.web.app import WebApplication
from zermelo.web.server import serve
from zermelo.web.settings import WebSettings

#: Where distributions put it; ZERMELO_CHROMIUM names another one.
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
NO_BROWSER = "tests of pages in a browser; install Chromium (apt-get install chromium)"
AXE = Path(__file__).parent / "vendor" / "axe.min.js"
#: Without a process of its own that draws as a graphics card would: a seventh less work.
DRAWING = ("--disable-gpu", "--disable-software-rasterizer", "--in-process-gpu")
ORIGIN = "http://127.0.0.1"
#: All tests come from one address.
UNLIMITED: dict[str, Any] = {
    "requests_per_second": 1e6, "request_burst": 1e6, "plays_per_second": 1e6, "play_burst": 1e6,
}  # fmt: skip


@contextmanager
def visiting(database: str, **settings: Any) -> Iterator[TestClient]:
    """A visitor of the pages of a database, without a browser or a network.

    Forms are sent as our own pages send them.
    """
    chosen = {**UNLIMITED, **settings}
    application = WebApplication(database, WebSettings(**chosen))
    with TestClient(application, ORIGIN, headers={"origin": ORIGIN}) as client:
        yield client


@pytest.fixture
def visitor(database: str) -> Iterator[TestClient]:
    """A visitor of an empty project; `connection` is to its database."""
    with visiting(database) as client:
        yield client


@pytest.fixture(scope="session")
def solved_database(postgres: str) -> Iterator[str]:
    """A database with a finished campaign `reversi:4x4`, for tests that change nothing."""
    with new_database(postgres) as url:
        with connect_once(url) as connection:
            solve(connection, "reversi:4x4", node_budget=60)
        yield url


@pytest.fixture(scope="session")
def solved_site(solved_database: str) -> Iterator[TestClient]:
    """A visitor of a project that has solved reversi 4x4; nobody changes anything there."""
    with visiting(solved_database) as client:
        yield client


@contextmanager
def serving(database: str, **settings: Any) -> Iterator[str]:
    """A real server in a thread; its address without the last slash."""
    chosen = {**UNLIMITED, "streams_per_address": 2000, **settings}
    web = WebSettings(listen=f"127.0.0.1:{free_port()}", **chosen)
    stop = threading.Event()
    thread = threading.Thread(target=serve, args=(database, stop, web))
    thread.start()
    try:
        wait_until(lambda: listens(web), 60)
        yield web.url.rstrip("/")
    finally:
        stop.set()
        thread.join(60)
        assert not thread.is_alive()


def listens(settings: WebSettings) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(settings.address) == 0


@pytest.fixture(scope="session")
def site(solved_database: str) -> Iterator[str]:
    """The address of a server of the solved project."""
    with serving(solved_database) as url:
        yield url


def chromium() -> str | None:
    """The browser's program, if there is one."""
    named = os.environ.get("ZERMELO_CHROMIUM")
    return named or next(filter(None, map(shutil.which, BROWSERS)), None)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """A real Chromium; the test is skipped where there is none.

    For one module at a time: while it is open an event loop runs in this thread, so that no
    test of another module could run its own.
    """
    program = chromium()
    if program is None:
        pytest.skip(NO_BROWSER)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(
            executable_path=program, args=["--no-sandbox", "--disable-dev-shm-usage", *DRAWING]
        )
        yield opened
        opened.close()
