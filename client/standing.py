"""Credit and rank: asked for now and then, of servers that keep them."""

from __future__ import annotations

import asyncio
import logging
import random
from typing import Any

import grpc

from zermelo.client.connection import Connection
from zermelo.client.settings import ClientError

log = logging.getLogger(__name__)

ASK_SECONDS = 300.0
FIRST_PAUSE = 0.5


class Standing:
    def __init__(self, connection: Connection, host_key: bytes) -> None:
        self._connection = connection
        self._host_key = host_key
        #: What the server told last; None before it told anything.
        self.known: dict[str, Any] | None = None

    async def run(self) -> None:
        pause = FIRST_PAUSE
        while True:
            try:
                reply = await self._connection.standing(self._host_key)
                self.known = {
                    field.name: getattr(reply, field.name) for field in reply.DESCRIPTOR.fields
                }
                pause = ASK_SECONDS
            except grpc.aio.AioRpcError as error:
                log.debug("no standing: %s", error)
                pause = min(ASK_SECONDS, 2 * pause)
            except ClientError as error:
                log.debug("no standing: %s", error)
                pause = ASK_SECONDS
            await asyncio.sleep(pause * random.uniform(0.8, 1.2))  # noqa: S311
