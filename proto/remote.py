"""Calling a coordinator from a command: one attempt, and every failure is one sentence."""

from __future__ import annotations

from typing import Any, NamedTuple, Self

import grpc
from google.protobuf.descriptor import ServiceDescriptor

from zermelo import ZermeloError
from zermelo.proto import service
from zermelo.proto.replies import ReplyError, channel_options, reply_parser
from zermelo.texts import one_line

CALL_SECONDS = 60.0
#: Refusals by a coordinator that serves nobody at the moment, whoever asks for what.
PASSING = {service.DATABASE_AWAY, service.OVERLOADED, service.STOPPING}


class RefusedError(ZermeloError):
    """The coordinator refuses what it was asked; the message is its own."""

    exit_code = 2


class UnreachableError(ZermeloError):
    """There is no answer, or no service to give one."""

    exit_code = 3


class Identity(NamedTuple):
    """How a caller proves to be somebody, and whom it believes to be the server."""

    token: str = ""
    #: Whether to encrypt, and the certificates to trust instead of the usual ones, PEM.
    encrypted: bool = False
    trusted: bytes | None = None
    #: The caller's own certificate and its key, PEM.
    certificate: bytes | None = None
    key: bytes | None = None


class Remote:
    """One service of the coordinator at an address; the type of a request names the RPC."""

    def __init__(self, address: str, served: ServiceDescriptor, identity: Identity) -> None:
        self._address, self._token = address, identity.token
        self._names = {method.input_type: method.name for method in served.methods}
        self._channel = _open_channel(address, served, identity)
        self._stub = service.Stub(self._channel, served, reply_parser)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._channel.close()

    def ask(self, request: Any, seconds: float = CALL_SECONDS) -> Any:
        """The reply; `RefusedError` or `UnreachableError` when there is none."""
        metadata = ((service.AUTHORIZATION, service.BEARER + self._token),) if self._token else ()
        call = getattr(self._stub, self._names[request.DESCRIPTOR])
        try:
            reply = call(request, timeout=seconds, metadata=metadata)
        except grpc.RpcError as error:
            raise _sentence(self._address, error) from error
        if isinstance(reply, ReplyError):
            raise self.senseless(reply)
        return reply

    def senseless(self, error: Exception) -> UnreachableError:
        """What to raise for a reply that the protocol allows no server to give."""
        return UnreachableError(
            f"{self._address} answers with an invalid reply: {one_line(str(error))}; check the"
            " address, or ask its operator to update it"
        )


def _open_channel(address: str, served: ServiceDescriptor, identity: Identity) -> Any:
    options = channel_options(served, service.MAX_MESSAGE_BYTES)
    if not identity.encrypted:
        return grpc.insecure_channel(address, options=options)
    credentials = grpc.ssl_channel_credentials(
        identity.trusted, identity.key, identity.certificate
    )
    return grpc.secure_channel(address, credentials, options=options)


def _sentence(address: str, error: Any) -> ZermeloError:
    details = one_line(str(error.details() or error.code().name))
    reason = dict(error.trailing_metadata() or ()).get(service.REASON)
    if reason in PASSING:
        return UnreachableError(f"{address} cannot answer now: {details}")
    if reason is not None:
        return RefusedError(details)
    if error.code() is grpc.StatusCode.UNIMPLEMENTED:
        return UnreachableError(f"{address} does not offer this; update the coordinator there")
    if error.code() is grpc.StatusCode.DEADLINE_EXCEEDED:
        return UnreachableError(f"{address} does not answer; try again later")
    # What gRPC says is a chain of who failed because of whom; its end is the cause.
    # Of a failed handshake the last link is that there is nothing further.
    cause = details.removesuffix(": OK").rpartition(": ")[2].removesuffix(".")
    return UnreachableError(
        f"cannot reach {address}: {cause}; check the address and, with TLS, the certificates"
    )
