"""Messages over a socket between the daemon and its workers: a length, then a message."""

from __future__ import annotations

import socket
import struct
from typing import TYPE_CHECKING, TypeVar

from google.protobuf.message import Message

if TYPE_CHECKING:
    import asyncio  # which workers do without, and start sooner

M = TypeVar("M", bound=Message)

_LENGTH = struct.Struct(">I")


def frame(message: Message) -> tuple[bytes, bytes]:
    """What to send, one after the other; joined, a large message would be there twice."""
    body = message.SerializeToString()
    return _LENGTH.pack(len(body)), body


def send_frame(stream: socket.socket, message: Message) -> None:
    for part in frame(message):
        stream.sendall(part)


async def read_frame(reader: asyncio.StreamReader, kind: type[M]) -> M | None:
    """The next message; None when the other end is gone."""
    try:
        (length,) = _LENGTH.unpack(await reader.readexactly(_LENGTH.size))
        return kind.FromString(await reader.readexactly(length))
    except (EOFError, ConnectionError):
        return None


def receive_frame(stream: socket.socket, kind: type[M]) -> M | None:
    """The next message, waiting for it; None when the other end is gone."""
    header = _receive(stream, _LENGTH.size)
    body = None if header is None else _receive(stream, _LENGTH.unpack(header)[0])
    return None if body is None else kind.FromString(body)


def _receive(stream: socket.socket, size: int) -> bytes | None:
    # Into its place: pieces that are joined would take the size of a large message twice more.
    data = bytearray(size)
    room = memoryview(data)
    while room:
        try:
            received = stream.recv_into(room)
        except ConnectionError:
            return None
        if not received:
            return None
        room = room[received:]
    return bytes(data)
