"""Frames of HTTP/2 (RFC 9113): their numbers, and how they are written."""

from __future__ import annotations

import struct
from collections.abc import Iterable
from enum import IntEnum

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
HEAD_BYTES = 9
#: The longest payload of a frame while nobody agrees on more.
LONGEST_FRAME = 16_384
#: The window of a connection and of a stream before anybody says otherwise, and the largest.
FIRST_WINDOW, LARGEST_WINDOW = 65_535, 2**31 - 1
LARGEST_STREAM = 2**31 - 1

DATA, HEADERS, PRIORITY, RST_STREAM, SETTINGS, PUSH_PROMISE, PING, GOAWAY = range(8)
WINDOW_UPDATE, CONTINUATION = 8, 9

ACK = END_STREAM = 0x1
END_HEADERS, PADDED, HAS_PRIORITY = 0x4, 0x8, 0x20

HEADER_TABLE_SIZE, ENABLE_PUSH, MAX_CONCURRENT_STREAMS, INITIAL_WINDOW_SIZE = 1, 2, 3, 4
MAX_HEADER_LIST_SIZE = 6


class Http2Error(IntEnum):
    """Why a stream or a connection ends."""

    NO_ERROR = 0
    PROTOCOL_ERROR = 1
    INTERNAL_ERROR = 2
    FLOW_CONTROL_ERROR = 3
    STREAM_CLOSED = 5
    FRAME_SIZE_ERROR = 6
    REFUSED_STREAM = 7
    CANCEL = 8
    COMPRESSION_ERROR = 9
    ENHANCE_YOUR_CALM = 11


_HEAD = struct.Struct(">BHBBI")


def frame(kind: int, flags: int, stream: int, payload: bytes = b"") -> bytes:
    size = len(payload)
    return _HEAD.pack(size >> 16, size & 0xFFFF, kind, flags, stream) + payload


def settings_frame(settings: Iterable[tuple[int, int]]) -> bytes:
    return frame(SETTINGS, 0, 0, b"".join(struct.pack(">HI", *each) for each in settings))


def headers_frame(stream: int, block: bytes, *, last: bool = False) -> bytes:
    return frame(HEADERS, END_HEADERS | (END_STREAM if last else 0), stream, block)


def data_frame(stream: int, data: bytes, *, last: bool = False) -> bytes:
    return frame(DATA, END_STREAM if last else 0, stream, data)


def window_frame(stream: int, more: int) -> bytes:
    return frame(WINDOW_UPDATE, 0, stream, more.to_bytes(4, "big"))


def reset_frame(stream: int, error: Http2Error) -> bytes:
    return frame(RST_STREAM, 0, stream, error.to_bytes(4, "big"))


def goaway_frame(last_stream: int, error: Http2Error, why: str = "") -> bytes:
    return frame(GOAWAY, 0, 0, struct.pack(">II", last_stream, error) + why.encode())
