"""One call: its request as it comes, its replies, and the status at its end."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, NoReturn
from urllib.parse import quote

import grpc

from zermelo.server.http2.frames import FIRST_WINDOW
from zermelo.server.http2.hpack import field

if TYPE_CHECKING:
    from zermelo.server.http2.connection import Connection

Metadata = Sequence[tuple[str, str]]

#: The prefix of a message: whether it is compressed, and its length.
PREFIX_BYTES = 5
_HEAD = (
    field(":status", "200")
    + field("content-type", "application/grpc")
    + field("grpc-accept-encoding", "identity")
)
_OK = field("grpc-status", "0")
#: What stands in a message for people as it is; the rest is written in per cent.
_PLAIN = " !\"#$&'()*+,-./:;<=>?@[\\]^_`{|}~"
#: Seconds in the units of `grpc-timeout`, and its longest number.
_UNITS = {"H": 3600.0, "M": 60.0, "S": 1.0, "m": 1e-3, "u": 1e-6, "n": 1e-9}
_LONGEST_TIMEOUT = 8


class StatusError(Exception):
    """Ends a call with another status than OK."""

    def __init__(self, code: grpc.StatusCode, message: str = "", metadata: Metadata = ()) -> None:
        super().__init__(message)
        self.code, self.message, self.metadata = code, message, metadata


class Call:
    """What serves a call reads the request from it, and may write replies to it."""

    __slots__ = (
        "_answered", "_connection", "_most_bytes", "_request", "_waiting", "_window",
        "deadline", "headers", "request_ended", "send_window", "status", "stream", "task",
        "trailers", "unsent", "unsent_since",
    )  # fmt: skip

    def __init__(
        self, connection: Connection, stream: int, headers: dict[str, str], *, most_bytes: int,
        send_window: int, deadline: float | None,
    ) -> None:  # fmt: skip
        self._connection, self.stream, self.headers = connection, stream, headers
        self._most_bytes = most_bytes
        #: By the event loop's clock; None for never.
        self.deadline = deadline
        self._request = bytearray()
        self.request_ended = False
        #: How much more the caller may send, and how much we may.
        self._window, self.send_window = FIRST_WINDOW, send_window
        self._waiting: asyncio.Future[None] | None = None
        self._answered = False
        #: What waits for windows, with which the call ends if there are `trailers`.
        self.unsent, self.trailers = bytearray(), b""
        self.unsent_since = 0.0
        self.task: asyncio.Task[None] | None = None
        #: The status of a call that somebody else ended than what serves it.
        self.status: StatusError | None = None

    # -- what serves it uses ----------------------------------------------------------------

    @property
    def host(self) -> str:
        """The address of who connected."""
        return self._connection.host

    @property
    def common_names(self) -> Sequence[str]:
        """Whom the certificate of the caller names, if we asked for one."""
        return self._connection.common_names

    def arrived(self) -> bytes | None:
        """The next message of the request if all of it is here."""
        request = self._request
        if len(request) < PREFIX_BYTES:
            return None
        if request[0]:
            raise StatusError(grpc.StatusCode.UNIMPLEMENTED, "compressed messages are not accepted")
        end = self._size()
        if end - PREFIX_BYTES > self._most_bytes:
            raise StatusError(
                grpc.StatusCode.RESOURCE_EXHAUSTED,
                f"the request has {end - PREFIX_BYTES} bytes; at most {self._most_bytes} are"
                " allowed",
            )
        if len(request) < end:
            return None
        message = bytes(memoryview(request)[PREFIX_BYTES:end])
        del request[:end]
        return message

    async def read(self) -> bytes | None:
        """The next message of the request; None when there is none any more."""
        while (message := self.arrived()) is None:
            if self.request_ended:
                if self._request:
                    raise StatusError(grpc.StatusCode.INTERNAL, "the request ends in a message")
                return None
            self._ask_for_more()
            self._waiting = asyncio.get_running_loop().create_future()
            await self._waiting
        return message

    async def write(self, message: bytes) -> None:
        """Send a reply of several; waits while the caller takes no more."""
        self._send(_prefixed(message))
        await self._connection.all_sent(self)

    async def abort(
        self, code: grpc.StatusCode, details: str = "", trailing_metadata: Metadata = ()
    ) -> NoReturn:
        """As gRPC's own services end a call."""
        raise StatusError(code, details, trailing_metadata)

    # -- what the connection uses -----------------------------------------------------------

    def receive(self, data: bytes, flow: int) -> bool:
        """A part of the request has come; False if it is more than was asked for."""
        self._window -= flow
        self._request += data
        self._wake()
        return self._window >= 0

    def receive_end(self) -> None:
        """The caller will send no more."""
        self.request_ended = True
        self._wake()

    def reply(self, message: bytes | None) -> None:
        """End with this reply, if any, and the status OK."""
        self._send(b"" if message is None else _prefixed(message), _OK)

    def refuse(self, error: StatusError) -> None:
        """End with another status than OK."""
        block = b"".join((
            field("grpc-status", str(error.code.value[0])),
            field("grpc-message", quote(error.message, _PLAIN)),
            *(field(name, value) for name, value in error.metadata),
        ))  # fmt: skip
        self._connection.send(self, b"", b"", block if self._answered else _HEAD + block)

    def cancel(self, status: StatusError | None = None) -> None:
        """Stop serving it: nobody waits for it, or it ends with this status."""
        self.status = status
        if self.task is not None:
            self.task.cancel()

    # -- inside -----------------------------------------------------------------------------

    def _size(self) -> int:
        """How long the message that has begun is, with its prefix."""
        return PREFIX_BYTES + int.from_bytes(self._request[1:PREFIX_BYTES], "big")

    def _ask_for_more(self) -> None:
        known = len(self._request) >= PREFIX_BYTES
        needed = (self._size() if known else PREFIX_BYTES) - len(self._request)
        if self._window < needed:
            more = max(needed, FIRST_WINDOW) - self._window
            self._window += more
            self._connection.give_window(self.stream, more)

    def _wake(self) -> None:
        if self._waiting is not None and not self._waiting.done():
            self._waiting.set_result(None)

    def _send(self, data: bytes, trailers: bytes = b"") -> None:
        head = b"" if self._answered else _HEAD
        self._answered = True
        self._connection.send(self, head, data, trailers)


def _prefixed(message: bytes) -> bytes:
    return b"\x00" + len(message).to_bytes(4, "big") + message


#: Serves a call: gives the reply's bytes, or None when it has written all replies by itself.
Serve = Callable[[Call], Awaitable[bytes | None]]


def seconds_of(timeout: str | None) -> float | None:
    """What the header `grpc-timeout` says; None for nothing that can be used."""
    if not timeout or len(timeout) > _LONGEST_TIMEOUT + 1:
        return None
    number, unit = timeout[:-1], _UNITS.get(timeout[-1])
    return int(number) * unit if unit and number.isascii() and number.isdigit() else None
