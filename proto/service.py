"""The services, bound to gRPC from their descriptors: both ends, one source."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, cast

import grpc
from google.protobuf import message_factory
from google.protobuf.descriptor import MethodDescriptor, ServiceDescriptor

from zermelo.proto import (
    coordinator_pb2,
    operations_pb2,
    requests,
    research_pb2,
    volunteers_pb2,
)
from zermelo.proto.limits_pb2 import Role, allowed

#: For clients, for operators, for researchers, and for volunteers themselves.
COORDINATOR = coordinator_pb2.DESCRIPTOR.services_by_name["Coordinator"]
OPERATIONS = operations_pb2.DESCRIPTOR.services_by_name["Operations"]
RESEARCH = research_pb2.DESCRIPTOR.services_by_name["Research"]
VOLUNTEERS = volunteers_pb2.DESCRIPTOR.services_by_name["Volunteers"]
#: All that a coordinator serves behind its admission.
SERVICES = (COORDINATOR, OPERATIONS, RESEARCH, VOLUNTEERS)

#: What this release speaks, and the oldest client that its coordinator still serves.
PROTOCOL_VERSION = 1
OLDEST_PROTOCOL_VERSION = 1

#: Larger replies are refused by gRPC before they are even parsed. Requests: see `requests`.
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
REGISTRATION_CLOSED = "registration-closed"
TOO_FAST = "too-fast"
CERTIFICATE_NEEDED = "certificate-needed"
IMPOSSIBLE = "impossible"
INTERNAL = "internal"

#: Metadata of every call that needs an account: ``Bearer TOKEN``.
AUTHORIZATION = "authorization"
BEARER = "Bearer "

Method = Callable[[Any], Awaitable[Any]]


def _path(method: MethodDescriptor) -> str:
    return f"/{method.containing_service.full_name}/{method.name}"


def roles_by_path() -> dict[str, frozenset[str]]:
    """Who may call what, as the `.proto` says: role names in lower case."""
    extension: Any = allowed  # generated as a plain descriptor, which says too little
    return {
        _path(method): frozenset(
            Role.Name(role).lower() for role in method.GetOptions().Extensions[extension]
        )
        for service in SERVICES
        for method in service.methods
    }


def _trusting(kind: Any) -> Callable[[bytes], Any]:
    return cast(Callable[[bytes], Any], kind.FromString)


class Stub:
    """Calls a service over a channel, one attribute per RPC.

    `parser` gives what makes a message of a reply's bytes, by the message's class;
    `replies.reply_parser` for a server that may be hostile.
    """

    def __init__(
        self,
        channel: Any,
        service: ServiceDescriptor,
        parser: Callable[[Any], Callable[[bytes], Any]] = _trusting,
    ) -> None:
        self._calls: dict[str, Any] = {}
        for method in service.methods:
            reply = message_factory.GetMessageClass(method.output_type)
            self._calls[method.name] = channel.unary_unary(
                _path(method),
                request_serializer=lambda request: request.SerializeToString(),
                response_deserializer=parser(reply),
            )

    def __getattr__(self, name: str) -> Any:
        try:
            return self._calls[name]
        except KeyError:
            raise AttributeError(name) from None


class CoordinatorStub(Stub):
    def __init__(self, channel: Any) -> None:
        super().__init__(channel, COORDINATOR)


def service_handler(
    service: ServiceDescriptor, method_of: Callable[[str], Method]
) -> grpc.GenericRpcHandler:
    """The server side: `method_of` gives the coroutine function of each RPC by its name.

    To gRPC each is a stream of requests, of which one comes: so the server is asked before it
    reads the request, and admission decides whether and when to read it. The deserializer is
    for admission, too; it raises `LimitError`.
    """
    methods = {}
    for method in service.methods:
        kind = message_factory.GetMessageClass(method.input_type)
        methods[method.name] = grpc.stream_unary_rpc_method_handler(
            _without_context(method_of(method.name)),
            request_deserializer=partial(requests.parse, kind),
            response_serializer=lambda reply: reply.SerializeToString(),
        )
    return grpc.method_handlers_generic_handler(service.full_name, methods)


def methods_of(*parts: object) -> Callable[[str], Method]:
    """Finds the method of an RPC in the one part that has it: `BanHost` is `ban_host`."""

    def find(rpc: str) -> Method:
        name = re.sub(r"(?<=.)(?=[A-Z])", "_", rpc).lower()
        (found,) = (getattr(part, name) for part in parts if hasattr(part, name))
        return cast(Method, found)

    return find


def _without_context(method: Method) -> Callable[[Any, Any], Awaitable[Any]]:
    return lambda request, _: method(request)
