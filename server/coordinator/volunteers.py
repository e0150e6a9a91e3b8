"""The RPCs of volunteers about their own account: admission has let one in, `trust.volunteers`
does what it asks."""

from __future__ import annotations

from typing import Any

import grpc

from zermelo.proto import service
from zermelo.server.coordinator.admission import ACCOUNT
from zermelo.server.coordinator.blocking_pool import BlockingPool
from zermelo.server.coordinator.refusals import RefusalError
from zermelo.server.trust.accounts import ANONYMOUS, AccountError
from zermelo.server.trust.volunteers import perform


class Volunteers:
    def __init__(self, pool: BlockingPool) -> None:
        self._pool = pool

    async def serve(self, request: Any) -> Any:
        """Any of the RPCs; the type of the request says which."""
        account = ACCOUNT.get(None)
        if account is not None and account.name == ANONYMOUS:
            raise RefusalError(
                grpc.StatusCode.FAILED_PRECONDITION, service.IMPOSSIBLE,
                "all callers share one account here; there is none of your own",
            )  # fmt: skip
        try:
            return await self._pool.run(lambda connection: perform(connection, request, account))
        except AccountError as error:
            raise RefusalError(
                grpc.StatusCode.FAILED_PRECONDITION, service.IMPOSSIBLE, str(error)
            ) from error
