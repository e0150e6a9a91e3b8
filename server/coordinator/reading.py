"""Reading requests: few of one caller at a time, each within a time.

A request takes memory from its first byte to the end of its call. A caller who sends many large
ones at once, or one byte a second, waits for itself alone.
"""

from __future__ import annotations

import asyncio
from collections.abc import Hashable
from contextlib import suppress
from functools import lru_cache
from ipaddress import ip_network
from typing import Any
from urllib.parse import unquote

import grpc

from zermelo.proto import service
from zermelo.proto.limits import LimitError
from zermelo.server.coordinator.batcher import OverloadError
from zermelo.server.coordinator.refusals import RefusalError

#: Requests of one caller that are read at the same moment, and those that wait for it.
MAX_READING = 8
MAX_WAITING = 2000
#: How long a caller may take to send one.
READ_SECONDS = 20.0


class NoRequestError(LimitError):
    """The caller sends nothing any more."""

    def __init__(self) -> None:
        super().__init__("there is no request")


class _Turn:
    """The requests of one caller: how many are read, and who waits."""

    def __init__(self) -> None:
        self.semaphore = asyncio.Semaphore(MAX_READING)
        self.calls = 0


class RequestReader:
    def __init__(self) -> None:
        self._turns: dict[Hashable, _Turn] = {}

    async def read(self, context: Any, caller: Hashable) -> bytes:
        """The bytes of the next request; a refusal when they do not come."""
        turn = self._turns.setdefault(caller, _Turn())
        if turn.calls >= MAX_READING + MAX_WAITING:
            raise OverloadError
        turn.calls += 1
        try:
            async with turn.semaphore, asyncio.timeout(READ_SECONDS):
                data = await context.read()
        except TimeoutError:
            raise RefusalError(
                grpc.StatusCode.DEADLINE_EXCEEDED, service.BROKEN_LIMIT,
                f"the request did not come within {READ_SECONDS:g} seconds",
            ) from None  # fmt: skip
        finally:
            turn.calls -= 1
            if not turn.calls:
                del self._turns[caller]
        if data is grpc.aio.EOF:
            raise NoRequestError
        request: bytes = data
        return request


@lru_cache(maxsize=16_384)
def address_of(peer: str) -> str:
    """Where a call comes from, without the port; of IPv6 the network, which one person owns."""
    kind, _, rest = unquote(peer).partition(":")
    host = rest.rpartition(":")[0].strip("[]")
    if kind == "ipv6":
        with suppress(ValueError):
            return str(ip_network((host.partition("%")[0], 64), strict=False))
    return host
