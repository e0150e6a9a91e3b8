"""Answers as messages of proto/research.proto and back; both have the same names."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import fields
from datetime import UTC, datetime
from functools import cache
from types import NoneType, UnionType
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

from google.protobuf.message import Message

from zermelo.proto import research_pb2 as pb

A = TypeVar("A")


def to_message(answer: Any) -> Any:
    """The message of the same name as the answer's class."""
    message = getattr(pb, type(answer).__name__)()
    for field in fields(answer):
        _set(message, field.name, getattr(answer, field.name))
    return message


def _set(message: Message, name: str, value: Any) -> None:
    if value is None:
        return
    if isinstance(value, datetime):
        getattr(message, name).FromDatetime(value)
    elif isinstance(value, list | tuple):
        getattr(message, name).extend(_item(item) for item in value)
    elif hasattr(value, "__dataclass_fields__"):
        getattr(message, name).CopyFrom(to_message(value))
    else:
        setattr(message, name, value)


def _item(value: Any) -> Any:
    return to_message(value) if hasattr(value, "__dataclass_fields__") else value


def from_message(message: Any, kind: type[A]) -> A:
    """The answer of this class that a message tells."""
    hashable: Any = kind
    return kind(**{name: _value(message, name, hint) for name, hint in _hints(hashable)})


@cache
def _hints(kind: Hashable) -> tuple[tuple[str, Any], ...]:
    hints = get_type_hints(kind)
    return tuple(hints.items())


def _value(message: Any, name: str, hint: Any) -> Any:
    if get_origin(hint) is UnionType:
        if not message.HasField(name):
            return None
        (hint,) = (each for each in get_args(hint) if each is not NoneType)
    value = getattr(message, name)
    if hint is datetime:
        return value.ToDatetime(UTC)
    if get_origin(hint) in (list, tuple):
        of = get_args(hint)[0]
        return get_origin(hint)(_plain(item, of) for item in value)
    return _plain(value, hint)


def _plain(value: Any, hint: Any) -> Any:
    return from_message(value, hint) if isinstance(value, Message) else hint(value)
