"""Credit and rank are as fresh as whoever looks wants them."""

from __future__ import annotations

import asyncio
from typing import Any

from zermelo.client.standing import Standing
from zermelo.proto import coordinator_pb2 as pb


class Server:
    """Grants one more credit with every call."""

    def __init__(self) -> None:
        self.calls = 0

    async def standing(self, _: bytes) -> Any:
        self.calls += 1
        return pb.StandingReply(credit=self.calls)


def test_who_looks_reads_what_is_at_most_a_heartbeat_old() -> None:
    async def look() -> None:
        server: Any = Server()
        standing = Standing(server, b"host")
        task = asyncio.create_task(standing.run())
        await standing.fresh(0.0, patience=30)
        for heartbeat, credit in ((0.0, 2), (3600.0, 2), (0.0, 3)):
            await standing.fresh(heartbeat, patience=30)
            assert standing.known is not None
            assert standing.known["credit"] == credit
        task.cancel()

    asyncio.run(look())
