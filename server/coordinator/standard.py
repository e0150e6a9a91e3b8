"""The standard services, health and reflection, which are open to everybody.

So their requests are small, and of one address only few calls that last are served at a time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Any

import grpc

from zermelo.proto.limits import LimitError
from zermelo.server.coordinator.batcher import OverloadError
from zermelo.server.coordinator.reading import Callers, NoRequestError, RequestReader
from zermelo.server.coordinator.refusals import refusal_of, refuse

MAX_REQUEST_BYTES = 1024
#: Calls of one address that last: who watches the health, and reflection.
MAX_STREAMS = 16

Behaviour = Callable[[Any, Any], Awaitable[Any]]


class StandardServices:
    def __init__(self, reader: RequestReader, callers: Callers) -> None:
        self._reader, self._callers = reader, callers
        self._streams: Counter[str] = Counter()

    def guard(self, handler: Any) -> Any:
        """A handler that reads requests itself, and gives small ones to this handler."""
        if not handler.response_streaming:

            async def reply(_: Any, context: Any) -> Any:
                return await handler.unary_unary(await self._read(handler, context), context)

            return grpc.stream_unary_rpc_method_handler(
                _refusing(reply), response_serializer=handler.response_serializer
            )

        async def stream(_: Any, context: Any) -> None:
            with self._counted(self._callers.address_of(context)):
                if handler.request_streaming:
                    requests = self._requests(handler, context)
                    async for answer in handler.stream_stream(requests, context):
                        await context.write(answer)
                else:
                    await handler.unary_stream(await self._read(handler, context), context)

        return grpc.stream_stream_rpc_method_handler(
            _refusing(stream), response_serializer=handler.response_serializer
        )

    async def _read(self, handler: Any, context: Any) -> Any:
        # Of a caller who may take its time with the next request of a stream: not in the way of
        # who asks once.
        caller = (handler.request_streaming, self._callers.address_of(context))
        data = await self._reader.read(context, caller)
        if len(data) > MAX_REQUEST_BYTES:
            raise LimitError(
                f"the request has {len(data)} bytes; at most {MAX_REQUEST_BYTES} are allowed"
            )
        return handler.request_deserializer(data)

    async def _requests(self, handler: Any, context: Any) -> AsyncIterator[Any]:
        try:
            while True:
                yield await self._read(handler, context)
        except NoRequestError:
            return

    @contextmanager
    def _counted(self, address: str) -> Iterator[None]:
        if self._streams[address] >= MAX_STREAMS:
            raise OverloadError
        self._streams[address] += 1
        try:
            yield
        finally:
            self._streams[address] -= 1
            if not self._streams[address]:
                del self._streams[address]


def _refusing(behaviour: Behaviour) -> Behaviour:
    """Refuses as every other call is refused."""

    async def serve(requests: Any, context: Any) -> Any:
        try:
            return await behaviour(requests, context)
        except Exception as error:
            refusal = refusal_of(error)
            if refusal is None:
                raise
            await refuse(context, refusal)

    return serve
