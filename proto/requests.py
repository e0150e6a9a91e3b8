"""Requests as bytes: how large one may be, known before it is counted and parsed."""

from __future__ import annotations

from functools import cache
from typing import cast

from google.protobuf.descriptor import Descriptor
from google.protobuf.message import DecodeError, Message

from zermelo.proto.limits import LimitError
from zermelo.proto.wire import check_wire, largest_bytes

#: No request is larger, whatever its fields may hold.
MAX_REQUEST_BYTES = 2 * 1024 * 1024
#: What fields that a newer client knows may add to a request.
ROOM_FOR_NEW_FIELDS = 1024
#: So short a request is parsed uncounted: at most 200 kB come of it.
UNCOUNTED_BYTES = 4096
#: More fields than any request within its limits has on the wire, nested ones included.
MAX_FIELDS = 32_768


def parse(kind: type[Message], data: bytes) -> Message:
    """The message in these bytes; `LimitError` when they hold none, or more than it may."""
    descriptor = cast(Descriptor, kind.DESCRIPTOR)
    most = max_request_bytes(descriptor)
    if len(data) > most:
        raise LimitError(f"the request has {len(data)} bytes; at most {most} are allowed")
    if len(data) > UNCOUNTED_BYTES:
        check_wire(descriptor, data, MAX_FIELDS)
    try:
        return kind.FromString(data)
    except DecodeError:
        raise LimitError("the request is no message of this protocol") from None


@cache
def max_request_bytes(descriptor: Descriptor) -> int:
    """The most bytes of a request of this type that keeps the limits of its fields."""
    return min(MAX_REQUEST_BYTES, largest_bytes(descriptor) + ROOM_FOR_NEW_FIELDS)
