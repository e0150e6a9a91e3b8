"""Calls that get a gRPC status instead of a reply, and what every failure is called."""

from __future__ import annotations

import grpc
import psycopg

from zermelo import ZermeloError
from zermelo.proto import limits, service
from zermelo.server.coordinator.batcher import OverloadError
from zermelo.server.database import DatabaseError
from zermelo.server.http2.calls import StatusError
from zermelo.texts import one_line

#: What an overloaded coordinator asks for before the next attempt.
OVERLOAD_MS = 2_000
#: ... and one whose database is away.
AWAY_MS = 1_000
#: How much of a reason callers are told.
LONGEST_REASON = 200


class RefusalError(Exception):
    """A call that is refused: the status, a word for programs, a sentence for people."""

    def __init__(
        self, code: grpc.StatusCode, reason: str, message: str, retry_after_ms: int = 0
    ) -> None:
        super().__init__(message)
        self.code, self.reason, self.message = code, reason, message
        self.retry_after_ms = retry_after_ms

    def after(self, seconds: float) -> RefusalError:
        """The same when a part of the pause that it asks for has passed."""
        left = max(1, self.retry_after_ms - round(1000 * seconds))
        return RefusalError(self.code, self.reason, self.message, left)


def too_fast(seconds: float, message: str = "too many calls; slow down") -> RefusalError:
    """How a call is refused that came too soon, and `seconds` before the next one may come."""
    return RefusalError(
        grpc.StatusCode.RESOURCE_EXHAUSTED, service.TOO_FAST, message,
        max(1, round(1000 * seconds)),
    )  # fmt: skip


def banned(what: str, reason: str) -> str:
    """What a banned host or account is told, with the operators' reason if there is one."""
    why = f": {one_line(reason, LONGEST_REASON)}" if reason else ""
    return f"this {what} is banned{why}; write to the operators"


def refusal_of(error: Exception) -> RefusalError | None:
    """How to refuse a call that failed so; None for what nobody foresaw."""
    if isinstance(error, RefusalError):
        return error
    if isinstance(error, limits.LimitError):
        code = grpc.StatusCode.INVALID_ARGUMENT
        return RefusalError(code, service.BROKEN_LIMIT, str(error))
    if isinstance(error, OverloadError):
        return RefusalError(
            grpc.StatusCode.RESOURCE_EXHAUSTED, service.OVERLOADED,
            "too many calls; try again later", OVERLOAD_MS,
        )  # fmt: skip
    if isinstance(error, psycopg.OperationalError | DatabaseError):
        return RefusalError(
            grpc.StatusCode.UNAVAILABLE, service.DATABASE_AWAY,
            "the database is away or too busy", AWAY_MS,
        )  # fmt: skip
    if isinstance(error, ZermeloError):
        return RefusalError(
            grpc.StatusCode.FAILED_PRECONDITION, service.IMPOSSIBLE, str(error)
        )
    return None


def status_of(refusal: RefusalError) -> StatusError:
    """How a call ends that is refused."""
    metadata = [(service.REASON, refusal.reason)]
    if refusal.retry_after_ms:
        metadata.append((service.RETRY_AFTER, str(refusal.retry_after_ms)))
    return StatusError(refusal.code, refusal.message, metadata)
