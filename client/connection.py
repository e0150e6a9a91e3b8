"""Talking to the coordinator: calls that outlive its absence.

A call that fails for a passing reason is tried again, after a jittered back-off or as long
as the coordinator says; one that it refuses for good is a `ClientError` with its sentence.
"""

from __future__ import annotations

import asyncio
import logging
import platform
import time
from collections.abc import Sequence
from typing import Any

import grpc

from zermelo import __version__
from zermelo.client.channel import call_metadata, open_channel
from zermelo.client.folder import ClientFolder, why
from zermelo.client.probe import find_out_more
from zermelo.client.refusals import (
    NoAnswerError,
    ReplyLostError,
    TokenNeededError,
    bad_reply,
    failure,
)
from zermelo.client.registration import Registration
from zermelo.client.settings import ClientError, ClientSettings, ServerAddress, usable_cores
from zermelo.client.token_file import TokenFile
from zermelo.proto import coordinator_pb2 as pb
from zermelo.proto import service
from zermelo.proto.replies import ReplyError, reply_parser
from zermelo.retry import Backoff

log = logging.getLogger(__name__)

FIRST_PAUSE = 0.05
LONGEST_PAUSE = 60.0
WORTH_A_LINE = 1.0
#: A call that has failed for this many seconds is worth finding out why.
WORTH_A_PROBE = 1.0
CALL_SECONDS = 20.0
#: How long a call for work waits at most: only its end tells that the server is in trouble.
MOST_PATIENCE_MS = 30_000
#: The oldest coordinator this client can work for.
OLDEST_SERVER = 1


class Caller:
    """Single calls to a coordinator: an answer, or a sentence why there is none."""

    def __init__(self, address: ServerAddress) -> None:
        self.address = address
        self._connect()

    def _connect(self) -> None:
        self._channel = open_channel(self.address)
        self._stub = service.Stub(self._channel, service.COORDINATOR, reply_parser)

    async def close(self) -> None:
        await self._channel.close()

    async def call(self, method: str, request: Any, seconds: float = CALL_SECONDS) -> Any:
        """One attempt; `NoAnswerError` for a passing reason, another `ClientError` for good."""
        try:
            reply = await getattr(self._stub, method)(
                request, timeout=seconds, metadata=call_metadata(self.address)
            )
        except grpc.aio.AioRpcError as error:
            raise failure(self.address.server, method, error) from error
        if isinstance(reply, ReplyError):
            raise bad_reply(self.address.server, method, reply)
        return reply

    async def register(self, user_name: str, secret: bytes) -> str:
        """Open an account, or find the one that the same secret opened; its token."""
        reply: pb.RegisterReply = await self.call(
            "Register", pb.RegisterRequest(user_name=user_name, secret=secret)
        )
        return self._usable(reply.token)

    def _usable(self, token: str) -> str:
        """A token that can be sent with a call; another one would break every call after it."""
        if not token or not token.isascii():
            raise ClientError(f"{self.address.server} gives an account without a usable token")
        return token

    async def standing(
        self, host_key: bytes = b"", seconds: float = CALL_SECONDS
    ) -> pb.StandingReply:
        """Credit and rank; also a way to try a token, because it changes nothing."""
        reply: pb.StandingReply = await self.call(
            "Standing", pb.StandingRequest(host_key=host_key), seconds
        )
        return reply


class Connection(Caller):
    """The daemon's calls, repeated until they are answered."""

    def __init__(self, settings: ClientSettings, host_key: bytes, folder: ClientFolder) -> None:
        self._token_file = TokenFile(folder.token)
        super().__init__(_with_token(settings.address, self._token_file))
        self._settings = settings
        self._host_key = host_key
        self._registration = Registration(folder.registration)
        self._welcome = False
        #: How many workers the server is told of.
        self.workers = max(1, settings.preferences.workers)
        self.longest_wait_ms = 0
        #: Why the coordinator cannot be reached, while it cannot.
        self.trouble = ""
        #: The reason that is in the log already.
        self._told = ""

    async def hello(
        self, *, held: Sequence[int], speed: int, memory_mb: int
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
            workers=self.workers,
            speed=speed,
            held_leases=held,
        )
        try:
            reply: pb.HelloReply = await self._insist("Hello", request)
        except TokenNeededError:
            await self._open_account()
            reply = await self._insist("Hello", request)
        if reply.protocol_version < OLDEST_SERVER:
            raise ClientError(
                f"{self.address.server} runs zermelo {reply.server_version or '(unknown)'}, which "
                f"is too old for this client ({__version__}); ask its operator to update it, or "
                "install the zermelo release that it runs"
            )
        self.longest_wait_ms = min(reply.longest_wait_ms, MOST_PATIENCE_MS)
        return reply

    async def _open_account(self) -> None:
        """Register by the owner's name, or as nobody, and keep the token for later."""
        name = self._settings.user_name
        secret = self._registration.secret(self.address.server, name)
        reply: pb.RegisterReply = await self._insist(
            "Register", pb.RegisterRequest(user_name=name, secret=secret)
        )
        token = self._usable(reply.token)
        try:
            self._token_file.keep(self.address.server, token)
            self._registration.done()
        except OSError as error:
            log.warning("the token of your account cannot be kept: %s", why(error))
        self.address = _with_token(self._settings.address, self._token_file, token)
        log.info("a new account was opened for you: %s", reply.user_name)

    async def request_work(
        self, wanted: int, speed: int, *, patient: bool
    ) -> pb.RequestWorkReply:
        """Ask for work, and wait until there is some if `patient`.

        Not repeated when the reply is lost: there may be leases in it.
        """
        wait_ms = self.longest_wait_ms if patient else 0
        request = pb.RequestWorkRequest(
            host_key=self._host_key,
            wanted=wanted,
            speed=speed,
            wait_ms=wait_ms,
        )
        patience = wait_ms / 1000 + CALL_SECONDS
        reply: pb.RequestWorkReply = await self._insist(
            "RequestWork", request, patience, also_lost=False
        )
        return reply

    async def submit_results(self, results: Sequence[pb.Result]) -> pb.SubmitResultsReply:
        request = pb.SubmitResultsRequest(host_key=self._host_key, results=results)
        reply: pb.SubmitResultsReply = await self._insist("SubmitResults", request)
        return reply

    async def definition(self, digest: str) -> bytes:
        """The text that the coordinator gives for a digest, which may be any; empty if none."""
        reply: pb.DefinitionReply = await self._insist(
            "Definition", pb.DefinitionRequest(digest=bytes.fromhex(digest))
        )
        return reply.text

    async def heartbeat(self, leases: Sequence[pb.LeaseProgress]) -> pb.HeartbeatReply:
        request = pb.HeartbeatRequest(host_key=self._host_key, leases=leases)
        reply: pb.HeartbeatReply = await self._insist("Heartbeat", request)
        return reply

    async def return_work(
        self, leases: Sequence[pb.ReturnedLease], *, leaving: bool = False
    ) -> pb.ReturnWorkReply:
        request = pb.ReturnWorkRequest(host_key=self._host_key, leases=leases, leaving=leaving)
        reply: pb.ReturnWorkReply = await self._insist("ReturnWork", request)
        return reply

    async def _insist(
        self, method: str, request: Any, seconds: float = CALL_SECONDS, *, also_lost: bool = True
    ) -> Any:
        """The reply, after as many refusals for passing reasons as there are. Without `also_lost`
        a call is not repeated whose reply may be lost: `ReplyLostError`.
        """
        began = time.monotonic()
        backoff = Backoff(FIRST_PAUSE, LONGEST_PAUSE)
        while True:
            if backoff.failures:
                await self._connect_afresh()
            try:
                reply = await self.call(method, request, seconds)
            except NoAnswerError as error:
                if error.reason is None and not also_lost:
                    raise ReplyLostError(str(error), unreachable=error.unreachable) from error
                await self._explain(method, error, time.monotonic() - began)
                await asyncio.sleep(backoff.next(error.retry_after))
            else:
                self._answered()
                return reply

    async def _explain(self, method: str, error: NoAnswerError, failing: float) -> None:
        """Say why a call failed in words that help, which gRPC's own seldom do.

        One line for each reason, however long it lasts and however many calls meet it.
        """
        if error.unreachable and failing < WORTH_A_PROBE:
            # Too early to find out more than an earlier call did, or than gRPC says.
            self.trouble = self.trouble or str(error)
            return
        found = await find_out_more(self.address) if error.unreachable else ""
        self.trouble = found or str(error)
        if self.trouble != self._told:
            self._told = self.trouble
            log.warning(
                "%s does not answer %s: %s; trying again", self.address.server, method,
                self.trouble,
            )  # fmt: skip

    def _answered(self) -> None:
        self._welcome = True
        if self._told:
            log.info("%s answers again", self.address.server)
        self.trouble = self._told = ""

    async def _connect_afresh(self) -> None:
        """Before the first contact: forget gRPC's own pauses, nobody else uses the channel."""
        if not self._welcome:
            await self._channel.close()
            self._connect()


def _with_token(
    address: ServerAddress, token_file: TokenFile, token: str = ""
) -> ServerAddress:
    """The address with the token of an account that the client opened itself, if it has one."""
    token = address.token or token or token_file.token_for(address.server)
    return ServerAddress(address.server, token, address.ca_file, address.tls)
