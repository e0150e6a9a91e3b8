"""What the coordinator refuses, in words that help its volunteer."""

from __future__ import annotations

import grpc

from zermelo.client.settings import ClientError
from zermelo.proto import service

#: Statuses that may be gone at the next attempt.
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


class UnknownHostError(ClientError):
    """The coordinator does not know this host (any more): say hello again."""


class ReplyLostError(ClientError):
    """A call may have reached the coordinator, but its reply did not reach us."""


class TokenNeededError(ClientError):
    """The coordinator serves nobody without an account."""


class NameTakenError(ClientError):
    """Somebody else has an account of this name."""


def reason(error: grpc.aio.AioRpcError) -> str | None:
    """The word that the coordinator gave, if it was the coordinator that refused."""
    value = dict(error.trailing_metadata() or ()).get(service.REASON)
    return None if value is None else str(value)


def retry_after(error: grpc.aio.AioRpcError) -> float | None:
    """Seconds to wait, where the coordinator says so."""
    value = dict(error.trailing_metadata() or ()).get(service.RETRY_AFTER)
    try:
        return None if value is None else int(value) / 1000
    except ValueError:
        return None


def details(error: grpc.aio.AioRpcError) -> str:
    return str(error.details() or error.code().name)


def refused(server: str, method: str, error: grpc.aio.AioRpcError) -> ClientError:
    """The error to stop with."""
    said, word = details(error), reason(error)
    if word == service.UNKNOWN_HOST:
        return UnknownHostError(said)
    if word == service.TOKEN_NEEDED:
        return TokenNeededError(f"{server} serves nobody without an account")
    if word == service.NAME_TAKEN:
        return NameTakenError(
            f"{said}; if it is yours, give its token: `zermelo client configure --token ...`"
        )
    if word == service.TOO_OLD:
        return ClientError(
            f"{server} no longer serves this client: {said}; "
            "update it with `pip install --upgrade zermelo`"
        )
    if error.code() is grpc.StatusCode.UNAUTHENTICATED:
        return ClientError(
            f"{server} does not accept this token: {said}; check that it was copied completely, "
            "then `zermelo client configure --token ...`"
        )
    if error.code() is grpc.StatusCode.UNIMPLEMENTED:
        return ClientError(
            f"{server} is too old for this client, or no coordinator at all ({method} is missing "
            "there); check the address, or ask its operator to update it"
        )
    return ClientError(f"{server} refuses {method}: {said}")
