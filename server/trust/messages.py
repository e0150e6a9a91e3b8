"""Rows of the database as messages of the wire."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any, TypeVar

from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import Message

from zermelo.proto.limits import limit_of
from zermelo.texts import cut_bytes

M = TypeVar("M", bound=Message)


def message(kind: type[M], row: Mapping[str, Any]) -> M:
    """A row as a message with the same names; what is NULL stays unset.

    A text that is longer than its field allows is cut: who asks would refuse the whole reply.
    """
    longest = _longest(kind.DESCRIPTOR)
    return kind(**{
        name: cut_bytes(value, longest[name]) if name in longest else value
        for name, value in row.items()
        if value is not None
    })  # fmt: skip


def messages(kind: type[M], rows: Iterable[Mapping[str, Any]]) -> list[M]:
    return [message(kind, row) for row in rows]


@cache
def _longest(descriptor: Descriptor) -> dict[str, int]:
    """How many bytes the text fields of a message may have."""
    return {
        field.name: limit_of(field).max_bytes
        for field in descriptor.fields
        if field.type == FieldDescriptor.TYPE_STRING and not field.is_repeated
    }
