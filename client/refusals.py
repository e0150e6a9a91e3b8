"""What the coordinator refuses, in words that help its volunteer."""

from __future__ import annotations

import grpc

from zermelo.client.settings import ClientError
from zermelo.proto import service
from zermelo.proto.replies import ReplyError
from zermelo.texts import one_line

#: A word of the coordinator's is shorter.
LONGEST_WORD = 40

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


class NoAnswerError(ClientError):
    """A call failed for a reason that may be gone at the next attempt."""

    def __init__(
        self,
        sentence: str,
        *,
        reason: str | None = None,
        retry_after: float | None = None,
        unreachable: bool = False,
    ) -> None:
        """`reason` and `retry_after` as the coordinator gave them."""
        super().__init__(sentence)
        self.reason, self.retry_after = reason, retry_after
        #: Whether nobody answered, so that it is worth finding out why.
        self.unreachable = unreachable


class UnknownHostError(ClientError):
    """The coordinator does not know this host (any more): say hello again."""


class ReplyLostError(ClientError):
    """A call may have reached the coordinator, but its reply did not reach us."""

    def __init__(self, sentence: str, *, unreachable: bool = False) -> None:
        super().__init__(sentence)
        #: Whether nobody answered: the next call finds out why, and says so.
        self.unreachable = unreachable


class TokenNeededError(ClientError):
    """The coordinator serves nobody without an account."""


class NameTakenError(ClientError):
    """Somebody else has an account of this name."""


def failure(server: str, method: str, error: grpc.aio.AioRpcError) -> ClientError:
    """What to raise for a call that failed: `NoAnswerError` where trying again may help."""
    if error.code() not in PASSING:
        return _refused(server, method, error)
    word = _reason(error)
    said = _details(error)
    if word == service.DATABASE_AWAY:
        said = f"the database of {server} is away; results are kept here until it is back"
    elif word is None and error.code() is grpc.StatusCode.DEADLINE_EXCEEDED:
        said = f"{server} takes too long to answer; it or its database may be overloaded"
    return NoAnswerError(
        said,
        reason=word,
        retry_after=_retry_after(error),
        unreachable=error.code() is grpc.StatusCode.UNAVAILABLE and word is None,
    )


def bad_reply(server: str, method: str, error: ReplyError) -> NoAnswerError:
    return NoAnswerError(f"{server} answers {method} with an invalid reply: {error}")


def _reason(error: grpc.aio.AioRpcError) -> str | None:
    """The word that the coordinator gave, if it was the coordinator that refused."""
    value = dict(error.trailing_metadata() or ()).get(service.REASON)
    return None if value is None else one_line(str(value), LONGEST_WORD)


def _retry_after(error: grpc.aio.AioRpcError) -> float | None:
    """Seconds to wait, where the coordinator says so."""
    value = dict(error.trailing_metadata() or ()).get(service.RETRY_AFTER)
    try:
        return None if value is None else int(value[:LONGEST_WORD]) / 1000
    except (ValueError, OverflowError):
        return None


def _details(error: grpc.aio.AioRpcError) -> str:
    return one_line(str(error.details() or "")) or error.code().name


def _refused(server: str, method: str, error: grpc.aio.AioRpcError) -> ClientError:
    """The error to stop with."""
    said, word = _details(error), _reason(error)
    if word == service.UNKNOWN_HOST:
        return UnknownHostError(said)
    if word == service.TOKEN_NEEDED:
        return TokenNeededError(f"{server} serves nobody without an account")
    if word == service.NAME_TAKEN:
        return NameTakenError(
            f"{said}; if it is yours, give its token: `zermelo client configure --token-file ...`,"
            " or its recovery code: `zermelo client recover`"
        )
    if word == service.TOO_OLD:
        return ClientError(
            f"{server} no longer serves this client: {said}; "
            "update it with `pip install --upgrade zermelo`"
        )
    if error.code() is grpc.StatusCode.UNAUTHENTICATED:
        return ClientError(
            f"{server} does not accept this token: {said}; check that it was copied completely, "
            "then `zermelo client configure --token-file ...`; `zermelo client recover` gives a new"
            " one for the account's recovery code"
        )
    if error.code() is grpc.StatusCode.UNIMPLEMENTED:
        return ClientError(
            f"{server} is too old for this client, or no coordinator at all ({method} is missing "
            "there); check the address, or ask its operator to update it"
        )
    return ClientError(f"{server} refuses {method}: {said}")
