"""Queries and replies as messages of proto/research.proto and back; both have the same names."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import fields
from datetime import UTC, datetime
from functools import cache
from types import NoneType, UnionType
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass

from zermelo.proto import research_pb2 as pb
from zermelo.proto.service import RESEARCH
from zermelo.research.queries import BY_RPC, Query

A = TypeVar("A")

_REQUESTS = {method.input_type: BY_RPC[method.name] for method in RESEARCH.methods}


def to_request(asked: Query, arguments: dict[str, Any]) -> Any:
    """The request of a query. What is None is not set."""
    return GetMessageClass(RESEARCH.methods_by_name[asked.rpc].input_type)(**arguments)


def from_request(request: Any) -> tuple[Query, dict[str, Any]]:
    """Which query a request is, and its arguments."""
    asked = _REQUESTS[request.DESCRIPTOR]
    return asked, {name: _argument(request, name) for name in asked.parameters}


def to_reply(asked: Query, found: Any) -> Any:
    told = [_item(each) for each in found] if asked.many else to_message(found)
    return GetMessageClass(RESEARCH.methods_by_name[asked.rpc].output_type)(answer=told)


def from_reply(asked: Query, reply: Any) -> Any:
    if asked.many:
        return [_plain(each, asked.reply) for each in reply.answer]
    return from_message(reply.answer, asked.reply)


def to_message(reply: Any) -> Any:
    """The message of the same name as the reply's class."""
    message = getattr(pb, type(reply).__name__)()
    for field in fields(reply):
        _set(message, field.name, getattr(reply, field.name))
    return message


def from_message(message: Any, kind: type[A]) -> A:
    """The reply of this class that a message tells."""
    hashable: Any = kind
    return kind(**{name: _value(message, name, hint) for name, hint in _hints(hashable)})


# -- inside ---------------------------------------------------------------------------------


def _argument(request: Any, name: str) -> Any:
    field = request.DESCRIPTOR.fields_by_name[name]
    if field.has_presence and not request.HasField(name):
        return None
    value = getattr(request, name)
    return list(value) if field.is_repeated else value


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
