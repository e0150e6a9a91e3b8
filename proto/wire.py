"""Counting a message's fields on the wire, before anything is made of them.

An empty item of a repeated field takes two bytes on the wire and a hundred in memory. So the
items are counted in the bytes themselves, and a message with more than its limits allow is
never parsed. Only known fields are entered; of others a message may have a few.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from google.protobuf.descriptor import Descriptor, FieldDescriptor

from zermelo.proto.limits import LimitError, limit_of

#: Occurrences of fields that are not repeated, in one message. Every field of a future release
#: fits; a hundred thousand small ones, which would take seconds to look at, do not.
MOST_FIELDS = 256
#: Messages within messages.
DEEPEST = 32

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_LONGEST_VARINT = 10
#: Every byte of a number in variable length but its last.
_CONTINUED = bytes(range(128, 256))
_FIXED_SIZES = {
    FieldDescriptor.TYPE_DOUBLE: 8, FieldDescriptor.TYPE_FIXED64: 8,
    FieldDescriptor.TYPE_SFIXED64: 8, FieldDescriptor.TYPE_FLOAT: 4,
    FieldDescriptor.TYPE_FIXED32: 4, FieldDescriptor.TYPE_SFIXED32: 4,
}  # fmt: skip
_NEVER_PACKED = frozenset(
    {FieldDescriptor.TYPE_STRING, FieldDescriptor.TYPE_BYTES, FieldDescriptor.TYPE_MESSAGE}
)


def check_wire(descriptor: Descriptor, data: bytes) -> None:
    """Raise `LimitError` unless the encoded message keeps the limits of its repeated fields."""
    _check(descriptor, data, 0, len(data), 0)


class _Field(NamedTuple):
    name: str
    repeated: bool
    #: Most items of a repeated field; 0 for no limit.
    most: int
    #: The type of a message; None for other values.
    message: Descriptor | None
    #: Whether several numbers may stand in one value, and the size of each; 0 if it varies.
    packed: bool
    size: int


@cache
def _fields(descriptor: Descriptor) -> dict[int, _Field]:
    return {
        field.number: _Field(
            field.name,
            field.is_repeated,
            limit_of(field).max_items,
            field.message_type if field.type == FieldDescriptor.TYPE_MESSAGE else None,
            field.is_repeated and field.type not in _NEVER_PACKED,
            _FIXED_SIZES.get(field.type, 0),
        )
        for field in descriptor.fields
    }


def _check(descriptor: Descriptor, data: bytes, at: int, end: int, depth: int) -> None:
    if depth > DEEPEST:
        raise LimitError(f"{descriptor.name} is nested too deeply")
    fields = _fields(descriptor)
    items: dict[int, int] = {}
    single = 0
    while at < end:
        tag, at = _varint(data, at, end)
        number, kind = tag >> 3, tag & 7
        start, at = _value(kind, data, at, end)
        field = fields.get(number)
        if field is None or not field.repeated:
            single += 1
            if single > MOST_FIELDS:
                raise LimitError(f"{descriptor.name} has more than {MOST_FIELDS} fields")
        if field is None:
            continue
        count = items.get(number, 0) + _items(field, kind, data, start, at)
        items[number] = count
        if field.repeated and field.most and count > field.most:
            raise LimitError(f"{field.name} has more than {field.most} items")
        if field.message is not None and kind == _BYTES:
            if count > 1 and not field.repeated:
                # Legal, and added up by parsers, so that it would pass by the limits.
                raise LimitError(f"{field.name} stands twice in {descriptor.name}")
            _check(field.message, data, start, at, depth + 1)


def _items(field: _Field, kind: int, data: bytes, start: int, end: int) -> int:
    if not field.packed or kind != _BYTES:
        return 1
    if field.size:
        return (end - start) // field.size
    return len(data[start:end].translate(None, _CONTINUED))


def _value(kind: int, data: bytes, at: int, end: int) -> tuple[int, int]:
    """Where the value of a field begins and ends."""
    start = at
    if kind == _VARINT:
        _, at = _varint(data, at, end)
    elif kind == _BYTES:
        length, start = _varint(data, at, end)
        at = start + length
    elif kind in (_FIXED32, _FIXED64):
        at += 4 if kind == _FIXED32 else 8
    else:
        raise LimitError("it is no message of this protocol")  # groups, long out of use
    if at > end:
        raise LimitError("the message ends too early")
    return start, at


def _varint(data: bytes, at: int, end: int) -> tuple[int, int]:
    """A number of variable length, and where it ends."""
    value = shift = 0
    while at < end and shift < 7 * _LONGEST_VARINT:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, at
        shift += 7
    raise LimitError("the message ends too early")
