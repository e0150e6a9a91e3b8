"""A server that speaks gRPC and means no good: every reply is what a test says."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import grpc
from google.protobuf import message_factory
from google.protobuf.message import Message

from tests.support.server_thread import ServerThread
from zermelo.games import open_game
from zermelo.proto import coordinator_pb2 as pb
from zermelo.proto import service

GAME = open_game("reversi:4x4")


class Refusal(NamedTuple):
    """A call that gets a status instead of a reply."""

    code: grpc.StatusCode
    details: str = ""
    reason: str | None = None
    retry_after_ms: int | None = None


Reply = Message | bytes | Refusal
#: What to answer to a request, given how often the RPC was called before.
Behaviour = Callable[[Any, int], Reply]


class HostileCoordinator(ServerThread):
    """Use as ``with HostileCoordinator(Hello=..., RequestWork=...) as server``.

    RPCs without a behaviour of their own are answered as by an honest coordinator without work;
    those of researchers and operators are not served.
    """

    def __init__(self, *, gzip: bool = False, **behaviours: Behaviour) -> None:
        super().__init__()
        self._behaviours = {**HONEST, **behaviours}
        self._gzip = gzip
        #: When each RPC was called, and with what.
        self.times: dict[str, list[float]] = {name: [] for name in self._behaviours}
        self.requests: dict[str, list[Any]] = {name: [] for name in self._behaviours}

    def behave(self, name: str, behaviour: Behaviour) -> None:
        """Answer an RPC so from now on."""
        self._behaviours[name] = behaviour

    def calls(self, name: str) -> int:
        return len(self.times[name])

    def _open(self) -> grpc.aio.Server:
        compression = grpc.Compression.Gzip if self._gzip else None
        server = grpc.aio.server(
            options=(("grpc.max_send_message_length", -1),), compression=compression
        )
        server.add_generic_rpc_handlers(tuple(
            grpc.method_handlers_generic_handler(served.full_name, {
                method.name: self._handler(method) for method in served.methods
                if method.name in self._behaviours
            }) for served in service.SERVICES
        ))  # fmt: skip
        return server

    def _handler(self, method: Any) -> Any:
        name = method.name

        async def handle(request: Any, context: Any) -> bytes:
            before = len(self.times[name])
            self.times[name].append(time.monotonic())
            self.requests[name].append(request)
            reply = self._behaviours[name](request, before)
            if isinstance(reply, Refusal):
                metadata = [(service.REASON, reply.reason)] if reply.reason is not None else []
                if reply.retry_after_ms is not None:
                    metadata.append((service.RETRY_AFTER, str(reply.retry_after_ms)))
                await context.abort(reply.code, reply.details, tuple(metadata))
            if isinstance(reply, pb.RequestWorkReply) and not reply.workunits and request.wait_ms:
                # As long as an honest one would wait; a test ends sooner.
                await asyncio.sleep(request.wait_ms / 1000)
            assert not isinstance(reply, Refusal)
            return reply if isinstance(reply, bytes) else reply.SerializeToString()

        return grpc.unary_unary_rpc_method_handler(
            handle,
            request_deserializer=message_factory.GetMessageClass(method.input_type).FromString,
        )


def hello(**fields: Any) -> pb.HelloReply:
    values: dict[str, Any] = {
        "protocol_version": service.PROTOCOL_VERSION, "heartbeat_ms": 200,
        "longest_wait_ms": 60_000, "games": [GAME.spec], **fields,
    }  # fmt: skip
    return pb.HelloReply(**values)


def workunit(lease_id: int = 1, **fields: Any) -> pb.Workunit:
    """A question that any client answers within milliseconds, unless told otherwise."""
    values: dict[str, Any] = {
        "lease_id": lease_id, "campaign_id": 1, "game": GAME.spec,
        "position": GAME.encode(GAME.canonical(GAME.initial())), "threshold": 1,
        "node_budget": 1_000_000, "lease_ms": 60_000, **fields,
    }  # fmt: skip
    return pb.Workunit(**values)


def work(*workunits: pb.Workunit) -> pb.RequestWorkReply:
    return pb.RequestWorkReply(workunits=workunits)


def no_work(message: str = "all is leased", retry_after_ms: int = 1000) -> pb.RequestWorkReply:
    return pb.RequestWorkReply(
        no_work=pb.NoWork(
            reason=pb.NoWork.ALL_LEASED, message=message, retry_after_ms=retry_after_ms
        )
    )


def first_then_none(*workunits: pb.Workunit) -> Behaviour:
    """These workunits to the first call for work, and none to the others."""
    return lambda _, before: no_work() if before else work(*workunits)


def receipts(request: pb.SubmitResultsRequest, _: int) -> pb.SubmitResultsReply:
    return pb.SubmitResultsReply(
        receipts=[
            pb.Receipt(lease_id=result.lease_id, status=pb.Receipt.ACCEPTED)
            for result in request.results
        ]
    )


def go_on(request: pb.HeartbeatRequest, _: int) -> pb.HeartbeatReply:
    score = GAME.max_score
    return pb.HeartbeatReply(
        leases=[
            pb.LeaseUpdate(
                lease_id=lease.lease_id, directive=pb.LeaseUpdate.CONTINUE, lease_ms=60_000,
                lo=-score, hi=score,
            )
            for lease in request.leases
        ]
    )  # fmt: skip


HONEST: dict[str, Behaviour] = {
    "Register": lambda *_: pb.RegisterReply(token="a" * 32, user_name="nobody"),
    "Standing": lambda *_: pb.StandingReply(user_name="nobody"),
    "Hello": lambda *_: hello(),
    "RequestWork": lambda *_: no_work(),
    "Definition": lambda *_: pb.DefinitionReply(),
    "SubmitResults": receipts,
    "Heartbeat": go_on,
    "ReturnWork": lambda *_: pb.ReturnWorkReply(),
}
