"""A proxy between clients and coordinator that loses, delays and repeats calls."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from typing import Any

import grpc

from tests.support.server_thread import ServerThread

FAULTS = ("none", "request lost", "reply lost", "delayed", "repeated")
DELAY_SECONDS = 0.3


class FaultyProxy(ServerThread):
    """Use as ``with FaultyProxy(address) as proxy``; clients call `proxy.address`."""

    def __init__(self, target: str, seed: int, *, faulty: bool = True) -> None:
        super().__init__()
        self._target = target
        self._chance = random.Random(seed)
        #: How often each fault hit each RPC.
        self.faults: Counter[tuple[str, str]] = Counter()
        self._faulty = faulty
        #: The RPCs that always have this fault.
        self._always: dict[str, str] = {}

    def lose(self, *rpcs: str) -> None:
        """Lose every request of these RPCs from now on."""
        self._always |= dict.fromkeys(rpcs, "request lost")

    def lose_replies(self, *rpcs: str) -> None:
        """Lose every reply of these RPCs from now on."""
        self._always |= dict.fromkeys(rpcs, "reply lost")

    def restore(self) -> None:
        """Lose nothing any more, other than by chance."""
        self._always = {}

    def _open(self) -> grpc.aio.Server:
        self._channel = grpc.aio.insecure_channel(self._target)
        server = grpc.aio.server()
        server.add_generic_rpc_handlers((_Everything(self._pass_on),))
        return server

    async def _close(self) -> None:
        await self._channel.close()

    async def _pass_on(self, method: str, request: bytes, context: Any) -> bytes:
        name = method.rpartition("/")[2]
        fault = self._always.get(name) or self._next_fault(name)
        self.faults[name, fault] += 1
        if fault == "request lost":
            await context.abort(grpc.StatusCode.UNAVAILABLE, "the request was lost")
        if fault == "delayed":
            await asyncio.sleep(DELAY_SECONDS)
        if fault == "repeated":
            again = asyncio.create_task(self._forward(method, request, context))
            reply = await self._forward(method, request, context)
            # A second call for work may wait for ever: the first had all of it.
            await asyncio.wait([again], timeout=DELAY_SECONDS)
            again.cancel()
            await asyncio.gather(again, return_exceptions=True)
        else:
            reply = await self._forward(method, request, context)
        if fault == "reply lost":
            await context.abort(grpc.StatusCode.UNAVAILABLE, "the reply was lost")
        return reply

    def _next_fault(self, name: str) -> str:
        """Each fault in turn before any comes a second time, then at random."""
        if not self._faulty:
            return "none"
        fresh = [fault for fault in FAULTS[1:] if not self.faults[name, fault]]
        return fresh[0] if fresh else self._chance.choice(FAULTS)

    async def _forward(self, method: str, request: bytes, context: Any) -> bytes:
        call = self._channel.unary_unary(method)
        try:
            reply: bytes = await call(
                request, timeout=context.time_remaining(), metadata=context.invocation_metadata()
            )
        except grpc.aio.AioRpcError as error:
            await context.abort(
                error.code(), error.details() or "", tuple(error.trailing_metadata() or ())
            )
            raise AssertionError from error
        return reply


class _Everything(grpc.GenericRpcHandler):
    """One handler for all methods, which sees bytes."""

    def __init__(self, pass_on: Any) -> None:
        self._pass_on = pass_on

    def service(self, handler_call_details: Any) -> Any:
        method = handler_call_details.method

        async def handle(request: bytes, context: Any) -> bytes:
            reply: bytes = await self._pass_on(method, request, context)
            return reply

        return grpc.unary_unary_rpc_method_handler(handle)
