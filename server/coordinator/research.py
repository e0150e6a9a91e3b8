"""The RPCs of researchers: the gate has let one in, `research.serving` answers."""

from __future__ import annotations

from typing import Any

from zermelo.research.serving import reply_to
from zermelo.server.coordinator.desk import Desk


class Research:
    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    async def serve(self, request: Any) -> Any:
        """Any of the RPCs; the type of the request says which."""
        return await self._desk.run(lambda connection: reply_to(connection, request))
