"""The RPCs of researchers: the gate has let one in, `research.serving` answers."""

from __future__ import annotations

from typing import Any

from zermelo.research.serving import reply_to
from zermelo.server.coordinator.desk import Desk
from zermelo.server.database import Connection
from zermelo.sql import query

#: The longest statement for a researcher: counting a tree of tens of millions of nodes.
LONGEST_SECONDS = 120.0


def library(url: str) -> Desk:
    """A desk where people only read, and nobody keeps the database busy for long."""

    def prepare(connection: Connection) -> None:
        connection.execute(query("read_only"), (str(round(1000 * LONGEST_SECONDS)),))

    return Desk(url, prepare=prepare)


class Research:
    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    async def serve(self, request: Any) -> Any:
        """Any of the RPCs; the type of the request says which."""
        return await self._desk.run(lambda connection: reply_to(connection, request))
