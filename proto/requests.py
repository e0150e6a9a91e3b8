"""Requests as bytes: how large one may be and what it holds, known before it is parsed.

A parsed message can take 35 times the memory of its bytes: an empty nested message is two bytes
on the wire. So the items of repeated fields are counted on the wire first.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple, cast

from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import DecodeError, Message

from zermelo.proto.limits import LimitError, limit_of

#: No request is larger, whatever its fields may hold.
MAX_REQUEST_BYTES = 2 * 1024 * 1024
#: What fields that a newer client knows may add to a request.
ROOM_FOR_NEW_FIELDS = 1024
#: So short a request is parsed uncounted: at most 200 kB come of it.
UNCOUNTED_BYTES = 4096
#: More fields than any request within its limits has on the wire, nested ones included.
MAX_FIELDS = 32_768

_NO_MESSAGE = "the request is no message of this protocol"
_VARINT_BYTES = 10
#: A tag and a length.
_HEAD_BYTES = 2 + 5
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5


class _Field(NamedTuple):
    name: str
    #: Most items; 0 for a field that is not repeated.
    most: int
    nested: Descriptor | None


def parse(kind: type[Message], data: bytes) -> Message:
    """The message in these bytes; `LimitError` when they hold none, or more than it may."""
    descriptor = cast(Descriptor, kind.DESCRIPTOR)
    most = largest_bytes(descriptor)
    if len(data) > most:
        raise LimitError(f"the request has {len(data)} bytes; at most {most} are allowed")
    if len(data) > UNCOUNTED_BYTES:
        count_items(descriptor, data)
    try:
        return kind.FromString(data)
    except DecodeError:
        raise LimitError(_NO_MESSAGE) from None


@cache
def largest_bytes(descriptor: Descriptor) -> int:
    """The most bytes of a request of this type that keeps the limits of its fields."""
    return min(MAX_REQUEST_BYTES, _largest(descriptor) + ROOM_FOR_NEW_FIELDS)


def _largest(descriptor: Descriptor) -> int:
    return sum(_largest_field(field) for field in descriptor.fields)


def _largest_field(field: FieldDescriptor) -> int:
    rule = limit_of(field)
    if field.message_type is not None:
        value = _largest(field.message_type)
    else:
        value = max(rule.max_bytes, rule.exact_bytes) or _VARINT_BYTES
    return (_HEAD_BYTES + value) * (rule.max_items or 1)


def count_items(descriptor: Descriptor, data: bytes) -> None:
    """`LimitError` when a repeated field has more items on the wire than it may.

    Numbers packed into one item count as one: they take at most eight times their bytes.
    """
    try:
        _count(descriptor, data, 0, len(data), 0)
    except IndexError:
        raise LimitError(_NO_MESSAGE) from None


def _count(descriptor: Descriptor, data: bytes, at: int, end: int, fields: int) -> int:
    """Count a message that lies between these places; the fields before it and in it."""
    known = _fields(descriptor)
    items: dict[int, int] = {}
    while at < end:
        fields += 1
        if fields > MAX_FIELDS:
            raise LimitError(f"the request has more than {MAX_FIELDS} fields")
        tag = data[at]
        at += 1
        if tag > 127:
            tag, at = _varint(data, at - 1)
        number, wire_type = tag >> 3, tag & 7
        field = known.get(number)
        if field is not None and field.most:
            items[number] = count = items.get(number, 0) + 1
            if count > field.most:
                raise LimitError(
                    f"{field.name} has more than {field.most} items; at most {field.most} are"
                    " allowed"
                )
        if wire_type == _VARINT:
            while data[at] > 127:
                at += 1
            at += 1
        elif wire_type == _BYTES:
            size = data[at]
            at += 1
            if size > 127:
                size, at = _varint(data, at - 1)
            if size > end - at:
                raise LimitError(_NO_MESSAGE)
            if field is not None and field.nested is not None:
                fields = _count(field.nested, data, at, at + size, fields)
            at += size
        elif wire_type == _FIXED64:
            at += 8
        elif wire_type == _FIXED32:
            at += 4
        else:
            raise LimitError(_NO_MESSAGE)
    return fields


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """The number that begins here, and the place behind it."""
    value = 0
    for shift in range(0, 7 * _VARINT_BYTES, 7):
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, at
    raise LimitError(_NO_MESSAGE)


@cache
def _fields(descriptor: Descriptor) -> dict[int, _Field]:
    """The fields by number that have items to count, or a message in which there are some."""
    found = {}
    for field in descriptor.fields:
        nested = field.message_type
        if nested is not None and not _fields(nested):
            nested = None
        if field.is_repeated or nested is not None:
            most = limit_of(field).max_items if field.is_repeated else 0
            found[field.number] = _Field(field.name, most, nested)
    return found
