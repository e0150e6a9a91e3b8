"""How the pages listen."""

from __future__ import annotations

import asyncio
import socket

from zermelo.server.ports import LOOPBACK, free_port
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
