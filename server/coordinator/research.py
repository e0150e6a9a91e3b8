"""The RPCs of researchers: admission has let one in, an injected function answers.

What researchers may ask stands above the server, in `zermelo.research`. Whoever starts a
coordinator passes it in, so that the server need not know it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import grpc

from zermelo.proto import service
from zermelo.server.coordinator.blocking_pool import BlockingPool
from zermelo.server.coordinator.refusals import RefusalError
from zermelo.server.database import Connection
from zermelo.sql import query

#: The longest statement for a researcher: counting a tree of tens of millions of nodes.
LONGEST_SECONDS = 120.0

#: The reply to a researcher's request, read from this connection.
ReplyTo = Callable[[Connection, Any], Any]


def refuse_research(connection: Connection, request: Any) -> Any:
    """What a coordinator replies that was started without anybody to answer researchers."""
    raise RefusalError(
        grpc.StatusCode.UNIMPLEMENTED, service.IMPOSSIBLE, "researchers are served elsewhere"
    )


def library(url: str) -> BlockingPool:
    """A pool that only reads, and keeps the database busy with no statement for long."""

    def prepare(connection: Connection) -> None:
        connection.execute(query("read_only"), (str(round(1000 * LONGEST_SECONDS)),))

    return BlockingPool(url, prepare=prepare)


class Research:
    def __init__(self, pool: BlockingPool, reply_to: ReplyTo | None) -> None:
        self._pool, self._reply_to = pool, reply_to or refuse_research

    async def serve(self, request: Any) -> Any:
        """Any of the RPCs; the type of the request says which."""
        return await self._pool.run(lambda connection: self._reply_to(connection, request))
