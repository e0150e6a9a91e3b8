"""A peer of the coordinator, as a function of the bytes that it sends behind its greeting."""

from __future__ import annotations

import asyncio
from typing import Any

from zermelo.server.http2 import frames
from zermelo.server.http2.calls import Call
from zermelo.server.http2.connection import Connection
from zermelo.server.http2.server import Http2Server, Patience

PATH = "/a.B/C"
_HELLO = frames.PREFACE + frames.settings_frame(())
_MOST_REQUEST_BYTES = 1 << 16
#: What an answer may be longer than what it answers: a status has about a hundred bytes, and a call
#: with headers that were sent before can be asked for with ten.
_MOST_GROWTH, _MOST_SETTINGS = 40, 200


class _Wire(asyncio.Transport):
    """Keeps what is written, until it is closed."""

    def __init__(self) -> None:
        super().__init__()
        self.written = bytearray()
        self._closing = False

    def write(self, data: Any) -> None:
        if not self._closing:
            self.written += data

    def is_closing(self) -> bool:
        return self._closing

    def close(self) -> None:
        self._closing = True

    abort = close

    def pause_reading(self) -> None:
        pass

    resume_reading = pause_reading


async def _echo(call: Call) -> bytes | None:
    """The first message of a request is its reply."""
    return await call.read()


def http2(data: bytes) -> None:
    """Frames of a stranger, which come in pieces as long as the first byte says.

    Nothing may fail, every call ends with the connection, and what is answered are whole frames,
    not many times as long as what was asked.
    """
    if data:
        _LOOP.run_until_complete(_talk(data[1:], data[0] or len(data)))


async def _talk(data: bytes, piece: int) -> None:
    server = Http2Server(
        {PATH: _echo}.get, most_request_bytes=_MOST_REQUEST_BYTES, patience=Patience()
    )
    connection, wire = Connection(server), _Wire()
    connection.connection_made(wire)
    connection.data_received(_HELLO)
    for at in range(0, len(data), piece):
        if wire.is_closing():
            break
        connection.data_received(data[at : at + piece])
        await asyncio.sleep(0)
    calls = list(connection.calls.values())
    connection.connection_lost(None)
    await asyncio.gather(*(call.task for call in calls if call.task), return_exceptions=True)
    assert not server.connections
    assert len(wire.written) <= _MOST_SETTINGS + _MOST_GROWTH * (len(_HELLO) + len(data))
    assert b"an error of the server" not in wire.written
    _check_frames(bytes(wire.written))


def _check_frames(written: bytes) -> None:
    at = 0
    while at < len(written):
        size, kind = int.from_bytes(written[at : at + 3], "big"), written[at + 3]
        assert size <= frames.LONGEST_FRAME
        assert kind <= frames.CONTINUATION
        at += frames.HEAD_BYTES + size
    assert at == len(written), "the last frame is cut"


_LOOP = asyncio.new_event_loop()
