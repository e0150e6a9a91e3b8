"""The RPCs of operators: admission has let one in, `trust.operations` does what it asks."""

from __future__ import annotations

from typing import Any

from zermelo.server.coordinator.admission import ACCOUNT
from zermelo.server.coordinator.blocking_pool import BlockingPool
from zermelo.server.trust.operations import perform


class Operations:
    def __init__(self, pool: BlockingPool) -> None:
        self._pool = pool

    async def serve(self, request: Any) -> Any:
        """Any of the RPCs; the type of the request says which."""
        actor = ACCOUNT.get().name
        return await self._pool.run(lambda connection: perform(connection, request, actor=actor))
