"""The RPCs of operators: the gate has let one in, `trust.operations` does what it asks."""

from __future__ import annotations

from typing import Any

from zermelo.server.coordinator.desk import Desk
from zermelo.server.coordinator.gate import CALLER
from zermelo.server.trust.operations import perform


class Operations:
    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    async def serve(self, request: Any) -> Any:
        """Any of the RPCs; the type of the request says which."""
        actor = CALLER.get().name
        return await self._desk.run(lambda connection: perform(connection, request, actor=actor))
