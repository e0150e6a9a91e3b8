"""Reading requests: few of one caller at a time, each within a time.

A request takes memory from its first byte to the end of its call. A caller who sends many large
ones at once, or one byte a second, waits for itself alone.
"""

from __future__ import annotations

import asyncio
from collections.abc import Hashable, Iterable
from contextlib import suppress
from functools import lru_cache
from ipaddress import ip_address, ip_network

import grpc

from zermelo import ZermeloError
from zermelo.proto import service
from zermelo.proto.limits import LimitError
from zermelo.server.coordinator.batcher import OverloadError
from zermelo.server.coordinator.refusals import RefusalError
from zermelo.server.http2.calls import Call

#: Requests of one caller that are read at the same moment, and those that wait for it.
MAX_READING = 8
MAX_WAITING = 2000
#: How long a caller may take to send one.
READ_SECONDS = 20.0
#: Where a load balancer tells whom it speaks for.
FORWARDED = "x-forwarded-for"


class BalancerError(ZermeloError, ValueError):
    """A load balancer that has no address."""

    exit_code = 2


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

    async def read(self, call: Call, caller: Hashable) -> bytes:
        """The bytes of the next request; a refusal when they do not come."""
        if (here := call.arrived()) is not None:
            return here  # it takes no more memory than it has taken already
        turn = self._turns.setdefault(caller, _Turn())
        if turn.calls >= MAX_READING + MAX_WAITING:
            raise OverloadError
        turn.calls += 1
        try:
            async with turn.semaphore, asyncio.timeout(READ_SECONDS):
                data = await call.read()
        except TimeoutError:
            raise RefusalError(
                grpc.StatusCode.DEADLINE_EXCEEDED, service.BROKEN_LIMIT,
                f"the request did not come within {READ_SECONDS:g} seconds",
            ) from None  # fmt: skip
        finally:
            turn.calls -= 1
            if not turn.calls:
                del self._turns[caller]
        if data is None:
            raise NoRequestError
        return data


class Callers:
    """Where calls come from, also those that a load balancer of ours hands on."""

    def __init__(self, balancers: Iterable[str] = ()) -> None:
        """The addresses or networks of balancers; `BalancerError` for what is neither."""
        try:
            self._balancers = [ip_network(balancer) for balancer in balancers]
        except ValueError as error:
            raise BalancerError(f"--balancer: {error}") from None

    def address_of(self, call: Call) -> str:
        """What counts as one caller. A balancer names in the last place who called it."""
        host = call.host
        if self._balancers and self._is_balancer(host) and FORWARDED in call.headers:
            host = call.headers[FORWARDED].rpartition(",")[2].strip()
        return owner_of(host)

    def _is_balancer(self, host: str) -> bool:
        try:
            address = ip_address(host)
        except ValueError:
            return False
        return any(address in network for network in self._balancers)


@lru_cache(maxsize=16_384)
def owner_of(host: str) -> str:
    """What one person owns: an address; of IPv6 a network."""
    if ":" in host:
        with suppress(ValueError):
            return str(ip_network((host, 64), strict=False))
    return host
