"""Talking to the coordinator: calls that outlive its absence.

A call that fails for a passing reason is tried again, with pauses that grow and are
random; one that the coordinator refuses for good is a `ClientError` with its sentence.
"""

from __future__ import annotations

import asyncio
import logging
import platform
import random
import time
from collections.abc import Sequence
from typing import Any

import grpc

from zermelo import __version__
from zermelo.client.settings import ClientError, ClientSettings, usable_cores
from zermelo.proto import coordinator_pb2 as pb
from zermelo.proto import service

log = logging.getLogger(__name__)

FIRST_PAUSE = 0.05
LONGEST_PAUSE = 30.0
WORTH_A_LINE = 1.0
CALL_SECONDS = 20.0
CHANNEL_OPTIONS = (
    ("grpc.max_receive_message_length", service.MAX_MESSAGE_BYTES),
    ("grpc.keepalive_time_ms", 30_000),
    ("grpc.keepalive_timeout_ms", 10_000),
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.min_reconnect_backoff_ms", 100),
    ("grpc.max_reconnect_backoff_ms", 5_000),
)
PASSING = frozenset(
    {
        grpc.StatusCode.UNAVAILABLE,
        grpc.StatusCode.DEADLINE_EXCEEDED,
        grpc.StatusCode.RESOURCE_EXHAUSTED,
        grpc.StatusCode.CANCELLED,
        grpc.StatusCode.INTERNAL,
        grpc.StatusCode.UNKNOWN,
        grpc.StatusCode.ABORTED,
    }
)


class Connection:
    def __init__(self, settings: ClientSettings, host_key: bytes) -> None:
        self._settings = settings
        self._host_key = host_key
        self._connect()
        self._welcome = False
        self.longest_wait_ms = 0

    def _connect(self) -> None:
        self._channel = grpc.aio.insecure_channel(
            self._settings.server, options=CHANNEL_OPTIONS
        )
        self._stub = service.CoordinatorStub(self._channel)

    async def close(self) -> None:
        await self._channel.close()

    async def hello(
        self, *, held: Sequence[int], nodes_per_second: int
    ) -> pb.HelloReply:
        """Introduce this host. All its leases but those held end here."""
        request = pb.HelloRequest(
            protocol_version=service.PROTOCOL_VERSION,
            client_version=__version__,
            host_key=self._host_key,
            host_name=self._settings.host_name,
            cores=usable_cores(),
            platform=f"{platform.system()} {platform.machine()}"[:128],
            workers=self._settings.workers,
            nodes_per_second=nodes_per_second,
            held_leases=held,
        )
        reply: pb.HelloReply = await self._call("Hello", request)
        self.longest_wait_ms = reply.longest_wait_ms
        return reply

    async def request_work(self, slots: int, nodes_per_second: int) -> pb.RequestWorkReply:
        request = pb.RequestWorkRequest(
            host_key=self._host_key,
            slots=slots,
            nodes_per_second=nodes_per_second,
            wait_ms=self.longest_wait_ms,
        )
        patience = self.longest_wait_ms / 1000 + CALL_SECONDS
        reply: pb.RequestWorkReply = await self._call("RequestWork", request, patience)
        return reply

    async def submit_results(self, results: Sequence[pb.Result]) -> pb.SubmitResultsReply:
        request = pb.SubmitResultsRequest(host_key=self._host_key, results=results)
        reply: pb.SubmitResultsReply = await self._call("SubmitResults", request)
        return reply

    async def heartbeat(self, leases: Sequence[pb.LeaseProgress]) -> pb.HeartbeatReply:
        request = pb.HeartbeatRequest(host_key=self._host_key, leases=leases)
        reply: pb.HeartbeatReply = await self._call("Heartbeat", request)
        return reply

    async def return_work(
        self, leases: Sequence[pb.ReturnedLease], *, leaving: bool = False
    ) -> pb.ReturnWorkReply:
        request = pb.ReturnWorkRequest(host_key=self._host_key, leases=leases, leaving=leaving)
        reply: pb.ReturnWorkReply = await self._call("ReturnWork", request)
        return reply

    async def _call(self, method: str, request: Any, seconds: float = CALL_SECONDS) -> Any:
        began, first = time.monotonic(), True
        pause = FIRST_PAUSE
        while True:
            try:
                reply = await getattr(self._stub, method)(request, timeout=seconds)
            except grpc.aio.AioRpcError as error:
                if error.code() not in PASSING:
                    raise self._refused(method, error) from error
                # A coordinator that is just starting is back soon, one that is long gone not.
                longest = min(LONGEST_PAUSE, max(FIRST_PAUSE, time.monotonic() - began))
                pause = min(longest, random.uniform(FIRST_PAUSE, pause * 3))  # noqa: S311
                log.log(
                    logging.WARNING if first or pause >= WORTH_A_LINE else logging.DEBUG,
                    "%s does not answer %s (%s); again in %.1f s",
                    self._settings.server, method, error.details() or error.code().name, pause,
                )  # fmt: skip
                first = False
                await asyncio.sleep(pause)
                await self._connect_afresh()
            else:
                self._welcome = True
                return reply

    async def _connect_afresh(self) -> None:
        """Before the first contact: forget gRPC's own pauses, nobody else uses the channel."""
        if not self._welcome:
            await self._channel.close()
            self._connect()

    def _refused(self, method: str, error: grpc.aio.AioRpcError) -> ClientError:
        reasons = dict(error.trailing_metadata() or ())
        if reasons.get(service.REASON) == service.UNKNOWN_HOST:
            return UnknownHostError(error.details() or "this host is unknown")
        return ClientError(f"{self._settings.server} refuses {method}: {error.details()}")


class UnknownHostError(ClientError):
    """The coordinator does not know this host (any more): say hello again."""
