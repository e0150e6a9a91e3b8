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
from zermelo.client.channel import CredentialsError, call_metadata, open_channel
from zermelo.client.probe import find_out
from zermelo.client.settings import ClientError, ClientSettings, usable_cores
from zermelo.proto import coordinator_pb2 as pb
from zermelo.proto import service

log = logging.getLogger(__name__)

FIRST_PAUSE = 0.05
LONGEST_PAUSE = 60.0
WORTH_A_LINE = 1.0
#: Failing for so long is worth finding out why.
WORTH_A_PROBE = 1.0
CALL_SECONDS = 20.0
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
#: The oldest coordinator this client can work for.
OLDEST_SERVER = 1


class Connection:
    def __init__(self, settings: ClientSettings, host_key: bytes) -> None:
        self._settings = settings
        self._address = settings.address
        self._host_key = host_key
        self._metadata = call_metadata(self._address)
        self._connect()
        self._welcome = False
        self.longest_wait_ms = 0
        #: Why the coordinator cannot be reached, while it cannot.
        self.trouble = ""

    def _connect(self) -> None:
        self._channel = open_channel(self._address)
        self._stub = service.CoordinatorStub(self._channel)

    async def close(self) -> None:
        await self._channel.close()

    async def hello(
        self, *, held: Sequence[int], nodes_per_second: int, memory_mb: int
    ) -> pb.HelloReply:
        """Introduce this host. All its leases but those held end here."""
        request = pb.HelloRequest(
            protocol_version=service.PROTOCOL_VERSION,
            client_version=__version__,
            host_key=self._host_key,
            host_name=self._settings.host_name,
            cores=usable_cores(),
            memory_mb=memory_mb,
            platform=f"{platform.system()} {platform.machine()}"[:128],
            workers=max(1, self._settings.preferences.workers),
            nodes_per_second=nodes_per_second,
            held_leases=held,
        )
        reply: pb.HelloReply = await self._call("Hello", request)
        if reply.protocol_version < OLDEST_SERVER:
            raise ClientError(
                f"{self._address.server} runs zermelo {reply.server_version or '(unknown)'}, which "
                f"is too old for this client ({__version__}); ask its operator to update it, or "
                "install the zermelo release that it runs"
            )
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
                reply = await getattr(self._stub, method)(
                    request, timeout=seconds, metadata=self._metadata
                )
            except grpc.aio.AioRpcError as error:
                if error.code() not in PASSING:
                    raise self._refused(method, error) from error
                failing = time.monotonic() - began
                # A coordinator that is just starting is back soon, one that is long gone not.
                longest = min(LONGEST_PAUSE, max(FIRST_PAUSE, failing))
                pause = min(longest, random.uniform(FIRST_PAUSE, pause * 3))  # noqa: S311
                await self._explain(error, failing)
                log.log(
                    logging.WARNING if first or pause >= WORTH_A_LINE else logging.DEBUG,
                    "%s does not answer %s (%s); again in %.1f s",
                    self._address.server, method, self.trouble, pause,
                )  # fmt: skip
                first = False
                await asyncio.sleep(pause)
                await self._connect_afresh()
            else:
                self._welcome = True
                self.trouble = ""
                return reply

    async def _explain(self, error: grpc.aio.AioRpcError, failing: float) -> None:
        """Say why a call failed in words that help, which gRPC's own seldom do."""
        unreachable = error.code() is grpc.StatusCode.UNAVAILABLE and _reason(error) is None
        found = await find_out(self._address) if unreachable and failing >= WORTH_A_PROBE else ""
        self.trouble = found or _details(error)

    async def _connect_afresh(self) -> None:
        """Before the first contact: forget gRPC's own pauses, nobody else uses the channel."""
        if not self._welcome:
            await self._channel.close()
            self._connect()

    def _refused(self, method: str, error: grpc.aio.AioRpcError) -> ClientError:
        server, details = self._address.server, _details(error)
        if _reason(error) == service.UNKNOWN_HOST:
            return UnknownHostError(details)
        if _reason(error) == service.TOO_OLD:
            return ClientError(
                f"{server} no longer serves this client: {details}; "
                "update it with `pip install --upgrade zermelo`"
            )
        if error.code() is grpc.StatusCode.UNAUTHENTICATED:
            return CredentialsError(
                f"{server} does not accept this token: {details}; "
                "copy it again from your account page, then `zermelo client configure`"
            )
        if error.code() is grpc.StatusCode.UNIMPLEMENTED:
            return ClientError(
                f"{server} is not a coordinator this client understands ({method} is missing); "
                "check the address, or ask its operator to update it"
            )
        return ClientError(f"{server} refuses {method}: {details}")


class UnknownHostError(ClientError):
    """The coordinator does not know this host (any more): say hello again."""


def _reason(error: grpc.aio.AioRpcError) -> str | None:
    value = dict(error.trailing_metadata() or ()).get(service.REASON)
    return None if value is None else str(value)


def _details(error: grpc.aio.AioRpcError) -> str:
    return str(error.details() or error.code().name)
