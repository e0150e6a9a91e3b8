"""The standard services, health and reflection, which are open to everybody.

So their requests are small, and of one address only few calls that last are served at a time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from grpc_health.v1 import health, health_pb2_grpc
from grpc_reflection.v1alpha import reflection, reflection_pb2_grpc

from zermelo.proto.limits import LimitError
from zermelo.server.coordinator.batcher import OverloadError
from zermelo.server.coordinator.reading import Callers, NoRequestError, RequestReader
from zermelo.server.coordinator.refusals import refusal_of, status_of
from zermelo.server.http2.calls import Call, Serve

MAX_REQUEST_BYTES = 1024
#: Calls of one address that last: who watches the health, and reflection.
MAX_STREAMS = 16


def add_standard_services(server: Any, healthy: health.aio.HealthServicer,
                          names: Sequence[str]) -> None:
    """Add them to what collects handlers; `names` are the other services."""
    health_pb2_grpc.add_HealthServicer_to_server(healthy, server)
    reflection_pb2_grpc.add_ServerReflectionServicer_to_server(
        reflection.aio.ReflectionServicer(
            (*names, health.SERVICE_NAME, reflection.SERVICE_NAME)
        ),
        server,
    )


class StandardServices:
    def __init__(self, reader: RequestReader, callers: Callers) -> None:
        self._reader, self._callers = reader, callers
        self._streams: Counter[str] = Counter()

    def guard(self, handler: Any) -> Serve:
        """What reads small requests, and gives them to gRPC's handler of a standard method."""
        serialized = handler.response_serializer
        if not handler.response_streaming:

            async def reply(call: Call) -> bytes | None:
                request = await self._read(handler, call)
                answer: bytes = serialized(await handler.unary_unary(request, call))
                return answer

            return _refusing(reply)

        async def stream(call: Call) -> None:
            with self._counted(self._callers.address_of(call)):
                if handler.request_streaming:
                    async for answer in handler.stream_stream(self._requests(handler, call), call):
                        await call.write(serialized(answer))
                else:
                    request = await self._read(handler, call)
                    await handler.unary_stream(request, _Replies(call, serialized))

        return _refusing(stream)

    async def _read(self, handler: Any, call: Call) -> Any:
        # Of a caller who may take its time with the next request of a stream: not in the way of
        # who asks once.
        caller = (handler.request_streaming, self._callers.address_of(call))
        data = await self._reader.read(call, caller)
        if len(data) > MAX_REQUEST_BYTES:
            raise LimitError(
                f"the request has {len(data)} bytes; at most {MAX_REQUEST_BYTES} are allowed"
            )
        return handler.request_deserializer(data)

    async def _requests(self, handler: Any, call: Call) -> AsyncIterator[Any]:
        try:
            while True:
                yield await self._read(handler, call)
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


class _Replies:
    """Where gRPC's own services write replies that are messages."""

    def __init__(self, call: Call, serialized: Callable[[Any], bytes]) -> None:
        self._call, self._serialized = call, serialized

    async def write(self, message: Any) -> None:
        await self._call.write(self._serialized(message))


def _refusing(serve: Serve) -> Serve:
    """Refuses as every other call is refused."""

    async def refusing(call: Call) -> bytes | None:
        try:
            return await serve(call)
        except Exception as error:
            refusal = refusal_of(error)
            if refusal is None:
                raise
            raise status_of(refusal) from None

    return refusing
