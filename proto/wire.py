"""Messages as bytes: how many a message may take, and counting its fields before it is parsed.

An empty item of a repeated field takes two bytes on the wire and a hundred in memory. So the
items are counted in the bytes themselves, and a message with more than its limits allow is
never parsed. Only known fields are entered; of others a message may have a few, and short ones,
because parsers keep them.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from google.protobuf.descriptor import Descriptor, FieldDescriptor

from zermelo.proto.limits import LimitError, limit_of

#: Occurrences of fields that are not repeated, in one message. Every field of a future release
#: fits; a hundred thousand small ones, which would take seconds to look at, do not.
MOST_FIELDS = 256
#: All values of unknown fields together, in bytes.
MOST_UNKNOWN_BYTES = 64 * 1024
#: Messages within messages.
DEEPEST = 32

_NO_MESSAGE = "the bytes are no message of this protocol"
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_LONGEST_VARINT = 10
#: Every byte of a number in variable length but its last.
_CONTINUED = bytes(range(128, 256))
#: A tag and a length.
_HEAD_BYTES = 2 + 5
_FIXED_SIZES = {
    FieldDescriptor.TYPE_DOUBLE: 8, FieldDescriptor.TYPE_FIXED64: 8,
    FieldDescriptor.TYPE_SFIXED64: 8, FieldDescriptor.TYPE_FLOAT: 4,
    FieldDescriptor.TYPE_FIXED32: 4, FieldDescriptor.TYPE_SFIXED32: 4,
}  # fmt: skip
_NEVER_PACKED = frozenset(
    {FieldDescriptor.TYPE_STRING, FieldDescriptor.TYPE_BYTES, FieldDescriptor.TYPE_MESSAGE}
)


def check_wire(descriptor: Descriptor, data: bytes, most_fields: int) -> None:
    """`LimitError` unless the encoded message keeps the limits of its repeated fields.

    It may have at most `most_fields` fields, those of nested messages included, which bounds
    the time that this takes: less than a microsecond each.
    """
    _Count(data, most_fields).check(descriptor, 0, len(data), 0)


def largest_bytes(descriptor: Descriptor) -> int:
    """The most bytes of a message that keeps the limits of its fields."""
    return sum(_largest_field(field) for field in descriptor.fields)


def _largest_field(field: FieldDescriptor) -> int:
    rule = limit_of(field)
    value = max(rule.max_bytes, rule.exact_bytes)
    if not value and field.message_type is not None:
        value = largest_bytes(field.message_type)
    value = value or _LONGEST_VARINT
    return (_HEAD_BYTES + value) * (rule.max_items or 1)


class _Field(NamedTuple):
    name: str
    repeated: bool
    #: Most items of a repeated field; 0 for no limit.
    most: int
    #: The type of a message; None for other values.
    message: Descriptor | None
    #: Most bytes of a message; 0 for no limit of its own.
    longest: int
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
            limit_of(field).max_bytes,
            field.is_repeated and field.type not in _NEVER_PACKED,
            _FIXED_SIZES.get(field.type, 0),
        )
        for field in descriptor.fields
    }


class _Count:
    """One message and the messages in it."""

    def __init__(self, data: bytes, most_fields: int) -> None:
        self._data = data
        self._most_fields = self._left = most_fields
        self._unknown_left = MOST_UNKNOWN_BYTES

    def check(self, descriptor: Descriptor, at: int, end: int, depth: int) -> None:
        """Check the message that lies between these places."""
        if depth > DEEPEST:
            raise LimitError(f"{descriptor.name} is nested too deeply")
        known = _fields(descriptor)
        items: dict[int, int] = {}
        single = 0
        while at < end:
            self._left -= 1
            if self._left < 0:
                raise LimitError(f"the message has more than {self._most_fields} fields")
            tag, at = self._varint(at, end)
            number, kind = tag >> 3, tag & 7
            start, at = self._value(kind, at, end)
            field = known.get(number)
            if field is None or not field.repeated:
                single += 1
                if single > MOST_FIELDS:
                    raise LimitError(f"{descriptor.name} has more than {MOST_FIELDS} fields")
                if field is None:
                    self._unknown_left -= at - start
                    if self._unknown_left < 0:
                        raise LimitError(
                            f"unknown fields have more than {MOST_UNKNOWN_BYTES} bytes"
                        )
                    continue
                if field.message is None:
                    continue
            items[number] = count = items.get(number, 0) + self._items(field, kind, start, at)
            if field.repeated and field.most and count > field.most:
                raise LimitError(
                    f"{field.name} has more than {field.most} items; at most {field.most} are"
                    " allowed"
                )
            if field.message is not None and kind == _BYTES:
                if count > 1 and not field.repeated:
                    # Legal, and added up by parsers, so that it would pass by the limits.
                    raise LimitError(f"{field.name} stands twice in {descriptor.name}")
                if field.longest and at - start > field.longest:
                    raise LimitError(
                        f"{field.name} has {at - start} bytes; at most {field.longest} are allowed"
                    )
                self.check(field.message, start, at, depth + 1)

    def _items(self, field: _Field, kind: int, start: int, end: int) -> int:
        if not field.packed or kind != _BYTES:
            return 1
        if field.size:
            return (end - start) // field.size
        return len(self._data[start:end].translate(None, _CONTINUED))

    def _value(self, kind: int, at: int, end: int) -> tuple[int, int]:
        """Where the value of a field begins and ends."""
        start = at
        if kind == _BYTES:
            length, start = self._varint(at, end)
            at = start + length
        elif kind == _VARINT:
            _, at = self._varint(at, end)
        elif kind == _FIXED64:
            at += 8
        elif kind == _FIXED32:
            at += 4
        else:
            raise LimitError(_NO_MESSAGE)  # groups, long out of use
        if at > end:
            raise LimitError(_NO_MESSAGE)
        return start, at

    def _varint(self, at: int, end: int) -> tuple[int, int]:
        """The number of variable length that begins here, and the place behind it."""
        data = self._data
        if at < end and data[at] < 128:
            return data[at], at + 1
        value = 0
        for shift in range(0, 7 * _LONGEST_VARINT, 7):
            if at >= end:
                break
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            if byte < 128:
                return value, at
        raise LimitError(_NO_MESSAGE)
