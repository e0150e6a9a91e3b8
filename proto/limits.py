"""Enforcing the limits that stand beside the fields in the `.proto` files.

Protobuf accepts any size of anything. `check` refuses a message that breaks a limit,
and names the field, the value and the limit; it is the first thing that looks at a
message from outside.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, cast

from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import Message

from zermelo import ZermeloError
from zermelo.proto.limits_pb2 import Limit, limit

Check = Callable[[Any], None]

_TEXT = frozenset({FieldDescriptor.TYPE_STRING, FieldDescriptor.TYPE_BYTES})


class LimitError(ZermeloError, ValueError):
    """A message breaks a limit of its type."""


def check(message: Message) -> None:
    """Raise `LimitError` unless every field, nested ones too, keeps its limit.

    Nested messages that are `deferred` are left to whoever uses them.
    """
    for check_field in _checks(message.DESCRIPTOR):
        check_field(message)


def limit_of(field: FieldDescriptor) -> Limit:
    extension: Any = limit  # generated as a plain descriptor, which says too little
    return cast(Limit, field.GetOptions().Extensions[extension])


@cache
def _checks(descriptor: Descriptor) -> tuple[Check, ...]:
    """One check per field that has anything to check, made once per message type."""
    return tuple(made for field in descriptor.fields for made in _field_checks(field))


def _field_checks(field: FieldDescriptor) -> list[Check]:
    rule = limit_of(field)
    checks: list[Check] = []
    if rule.required:
        checks.append(_required(field.name))
    if field.is_repeated and rule.max_items:
        checks.append(_items(field.name, rule.max_items))
    if field.type == FieldDescriptor.TYPE_MESSAGE:
        if not rule.deferred:
            checks.append(_nested(field))
    elif field.type in _TEXT:
        if rule.exact_bytes or rule.max_bytes:
            checks.append(_length(field, rule))
        if field.type == FieldDescriptor.TYPE_STRING:
            checks.append(_storable(field))
    elif rule.HasField("min") or rule.HasField("max"):
        checks.append(_range(field, rule))
    return checks


def _required(name: str) -> Check:
    def check_required(message: Any) -> None:
        if not getattr(message, name):
            raise LimitError(f"{name} is missing")

    return check_required


def _items(name: str, most: int) -> Check:
    def check_items(message: Any) -> None:
        if len(getattr(message, name)) > most:
            raise LimitError(
                f"{name} has {len(getattr(message, name))} items; at most {most} are allowed"
            )

    return check_items


def _nested(field: FieldDescriptor) -> Check:
    name = field.name

    def check_items(message: Any) -> None:
        for item in getattr(message, name):
            check(item)

    def check_one(message: Any) -> None:
        if message.HasField(name):
            check(getattr(message, name))

    return check_items if field.is_repeated else check_one


def _length(field: FieldDescriptor, rule: Limit) -> Check:
    name, exact, most = field.name, rule.exact_bytes, rule.max_bytes

    def check_value(value: str | bytes) -> None:
        size = len(value.encode()) if isinstance(value, str) else len(value)
        if exact and size not in (0, exact):
            raise LimitError(f"{name} has {size} bytes; {exact} are needed")
        if most and size > most:
            raise LimitError(f"{name} has {size} bytes; at most {most} are allowed")

    return _each(field, check_value)


def _storable(field: FieldDescriptor) -> Check:
    def check_value(value: str) -> None:
        if "\0" in value:  # PostgreSQL stores no such text
            raise LimitError(f"{field.name} has a zero byte")

    return _each(field, check_value)


def _range(field: FieldDescriptor, rule: Limit) -> Check:
    name = field.name
    low = rule.min if rule.HasField("min") else None
    high = rule.max if rule.HasField("max") else None

    def check_value(value: int) -> None:
        if low is not None and value < low:
            raise LimitError(f"{name} is {value}; at least {low} is needed")
        if high is not None and value > high:
            raise LimitError(f"{name} is {value}; at most {high} is allowed")

    def check_items(message: Any) -> None:
        # A thousand numbers: only the extremes are looked at, in a list, which is far faster.
        if items := getattr(message, name)[:]:
            check_value(min(items))
            check_value(max(items))

    return check_items if field.is_repeated else _each(field, check_value)


def _each(field: FieldDescriptor, check_value: Callable[[Any], None]) -> Check:
    name = field.name

    def check_items(message: Any) -> None:
        for value in getattr(message, name):
            check_value(value)

    def check_one(message: Any) -> None:
        check_value(getattr(message, name))

    return check_items if field.is_repeated else check_one
