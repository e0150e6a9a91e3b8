"""The pages of a solve are there as soon as somebody looks, and cost nothing before."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.request import urlopen

import pytest

from tests.support.coordinator import listens, wait_until
from zermelo.server.ports import LOOPBACK, free_port
from zermelo.server.stop_event import LOOK_SECONDS
from zermelo.web import listener, server
from zermelo.web.settings import WebSettings

SECONDS = 60


@contextmanager
def waiting(url: str, settings: WebSettings) -> Iterator[threading.Thread]:
    stop = threading.Event()
    thread = threading.Thread(target=listener.serve_when_visited, args=(url, stop, settings))
    thread.start()
    try:
        yield thread
    finally:
        stop.set()
        thread.join(SECONDS)
    assert not thread.is_alive()


@pytest.fixture
def settings(monkeypatch: pytest.MonkeyPatch) -> WebSettings:
    monkeypatch.setattr(listener, "give_way", lambda: None)  # the tests need not
    return WebSettings(f"{LOOPBACK}:{free_port()}")


def test_the_first_visitor_gets_the_pages(database: str, settings: WebSettings) -> None:
    with waiting(database, settings):
        wait_until(lambda: listens(settings.listen))
        for _ in range(2):
            with urlopen(settings.url, timeout=SECONDS) as reply:  # noqa: S310
                assert reply.status == 200
                assert b"Zermelo" in reply.read()


def test_without_a_visitor_nothing_is_served(
    database: str, settings: WebSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    served: list[object] = []
    monkeypatch.setattr(server, "serve_at", lambda *arguments: served.append(arguments))
    with waiting(database, settings) as thread:
        thread.join(2 * LOOK_SECONDS)
        assert thread.is_alive()
    assert not served

