"""The Coordinator service, bound to gRPC from its descriptor: both ends, one source."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import grpc
from google.protobuf import message_factory
from google.protobuf.descriptor import MethodDescriptor
from google.protobuf.message import DecodeError

from zermelo.proto import coordinator_pb2
from zermelo.proto.limits_pb2 import Role, allowed

SERVICE = coordinator_pb2.DESCRIPTOR.services_by_name["Coordinator"]

#: What this release speaks, and the oldest client that its coordinator still serves.
PROTOCOL_VERSION = 1
OLDEST_PROTOCOL_VERSION = 1

#: Larger messages are refused by gRPC before they are even parsed.
MAX_MESSAGE_BYTES = 16 * 1024 * 1024

#: The trailing metadata that tells a program why a call was refused.
REASON = "zermelo-reason"
#: ... and after how many milliseconds another attempt makes sense.
RETRY_AFTER = "zermelo-retry-after-ms"
TOO_OLD = "client-too-old"
UNKNOWN_HOST = "unknown-host"
BROKEN_LIMIT = "broken-limit"
OVERLOADED = "overloaded"
DATABASE_AWAY = "database-away"
STOPPING = "stopping"
TOKEN_NEEDED = "token-needed"  # noqa: S105 - a reason, not a token
BAD_TOKEN = "bad-token"  # noqa: S105
BANNED = "banned"
NOT_YOUR_ROLE = "not-your-role"
NAME_TAKEN = "name-taken"
TOO_FAST = "too-fast"
INTERNAL = "internal"

#: Metadata of every call that needs an account: ``Bearer TOKEN``.
AUTHORIZATION = "authorization"
BEARER = "Bearer "

Handler = Callable[[Any, Any], Awaitable[Any]]


def _path(method: MethodDescriptor) -> str:
    return f"/{SERVICE.full_name}/{method.name}"


def roles_by_path() -> dict[str, frozenset[str]]:
    """Who may call what, as the `.proto` says: role names in lower case."""
    extension: Any = allowed  # generated as a plain descriptor, which says too little
    return {
        _path(method): frozenset(
            Role.Name(role).lower() for role in method.GetOptions().Extensions[extension]
        )
        for method in SERVICE.methods
    }


class CoordinatorStub:
    """Calls the coordinator over a channel, one attribute per RPC."""

    def __init__(self, channel: Any) -> None:
        self._calls: dict[str, Any] = {}
        for method in SERVICE.methods:
            reply = message_factory.GetMessageClass(method.output_type)
            self._calls[method.name] = channel.unary_unary(
                _path(method),
                request_serializer=lambda request: request.SerializeToString(),
                response_deserializer=reply.FromString,
            )

    def __getattr__(self, name: str) -> Any:
        try:
            return self._calls[name]
        except KeyError:
            raise AttributeError(name) from None


def _parser(kind: Any) -> Callable[[bytes], Any]:
    """Parses a request; None for bytes that are no message, which the server has to refuse."""

    def parse(data: bytes) -> Any:
        try:
            return kind.FromString(data)
        except DecodeError:
            return None

    return parse


def coordinator_handler(handlers: Mapping[str, Handler]) -> grpc.GenericRpcHandler:
    """The server side: one coroutine function per RPC of the service, none missing."""
    methods = {}
    for method in SERVICE.methods:
        request = message_factory.GetMessageClass(method.input_type)
        methods[method.name] = grpc.unary_unary_rpc_method_handler(
            handlers[method.name],
            request_deserializer=_parser(request),
            response_serializer=lambda reply: reply.SerializeToString(),
        )
    return grpc.method_handlers_generic_handler(SERVICE.full_name, methods)
