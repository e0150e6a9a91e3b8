"""Credit and rank: asked for now and then, and while somebody looks at every heartbeat."""

from __future__ import annotations

import asyncio
import logging
import math
import time
from contextlib import suppress
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
        self._asked_at = -math.inf
        self._wanted = asyncio.Event()
        self._told = asyncio.Event()

    def look(self, seconds: float) -> None:
        """Somebody looks at it: ask again if it was told longer ago than this."""
        if time.monotonic() - self._asked_at >= seconds:
            self._wanted.set()

    async def fresh(self, seconds: float, patience: float) -> None:
        """The same, and wait for the news, at most `patience` seconds."""
        self.look(seconds)
        if self._wanted.is_set():
            self._told.clear()
            with suppress(TimeoutError):
                await asyncio.wait_for(self._told.wait(), patience)

    async def run(self) -> None:
        backoff = Backoff(FIRST_PAUSE, ASK_SECONDS)
        while True:
            self._asked_at = time.monotonic()
            self._wanted.clear()
            try:
                reply = await self._connection.standing(self._host_key)
                self._tell(reply.notice)
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
            self._told.set()
            with suppress(TimeoutError):
                async with asyncio.timeout(pause):
                    await self._wanted.wait()

    def _tell(self, notice: str) -> None:
        """Log what the operators say, once; the first time `Hello` has told it already."""
        if self.known is not None and notice and notice != self.known["notice"]:
            log.info("the coordinator says: %s", notice)
