"""How the pages listen."""

from __future__ import annotations

import asyncio
import socket

import pytest
from prometheus_client import CollectorRegistry

from zermelo.server.metrics import MetricsError, serve_metrics
from zermelo.server.ports import LOOPBACK, PortTakenError, free_port
from zermelo.web.listener import bound
from zermelo.web.settings import WebSettings


def test_a_reply_in_parts_does_not_wait_for_acknowledgements() -> None:
    settings = WebSettings(f"{LOOPBACK}:{free_port()}")

    async def without_delay() -> int:
        """Whether asyncio turned Nagle's algorithm off for a visitor."""
        told: asyncio.Future[int] = asyncio.get_running_loop().create_future()

        async def visited(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            visitor = writer.get_extra_info("socket")
            told.set_result(visitor.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
            writer.close()

        async with await asyncio.start_server(visited, sock=bound(settings)):
            _, writer = await asyncio.open_connection(*settings.address)
            found = await told
            writer.close()
        return found

    assert asyncio.run(without_delay())


def test_whoever_finds_a_port_taken_may_be_started_again() -> None:
    """Unlike a wrong option: what stops for good must not be what a restart meets."""
    address = f"{LOOPBACK}:{free_port()}"
    with bound(WebSettings(address)):
        for listen in (lambda: bound(WebSettings(address)),
                       lambda: serve_metrics(address, CollectorRegistry())):  # fmt: skip
            with pytest.raises(PortTakenError, match=f"{address}: Address already in use"):
                listen()
    for nonsense in ("here", f"{LOOPBACK}:99999"):
        with pytest.raises(MetricsError, match="cannot serve metrics on"):
            serve_metrics(nonsense, CollectorRegistry())
