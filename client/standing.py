"""Credit and rank: asked for now and then, of servers that keep them."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

from zermelo.client.connection import Connection
from zermelo.client.refusals import NoAnswerError
from zermelo.client.settings import ClientError
from zermelo.retry import Backoff, jittered

log = logging.getLogger(__name__)

ASK_SECONDS = 300.0
FIRST_PAUSE = 1.0


class Standing:
    def __init__(self, connection: Connection, host_key: bytes) -> None:
        self._connection = connection
        self._host_key = host_key
        #: What the server told last; None before it told anything.
        self.known: dict[str, Any] | None = None

    async def run(self) -> None:
        backoff = Backoff(FIRST_PAUSE, ASK_SECONDS)
        while True:
            try:
                reply = await self._connection.standing(self._host_key)
                self.known = {
                    field.name: getattr(reply, field.name) for field in reply.DESCRIPTOR.fields
                }
                backoff.reset()
                pause = jittered(ASK_SECONDS)
            except NoAnswerError as error:
                log.debug("no standing: %s", error)
                pause = backoff.next(error.retry_after)
            except ClientError as error:
                log.debug("no standing: %s", error)
                pause = jittered(ASK_SECONDS)
            await asyncio.sleep(pause)
