"""Replies as JSON can have them: dicts, lists, numbers and text."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from datetime import UTC, date, datetime
from typing import Any

from google.protobuf.message import Message
from google.protobuf.timestamp_pb2 import Timestamp

from zermelo.research.replies import Worth


def plain(value: Any) -> Any:
    """An object or a message as a dict, a time as ISO 8601 text, None for what is not set."""
    if isinstance(value, Worth):
        return {
            "proof_state": str(value.proof_state), "value": value.value,
            "bounds": [value.lo, value.hi],
        }  # fmt: skip
    if isinstance(value, dict):
        return {name: plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat()
    if isinstance(value, date):
        return value.isoformat()
    if is_dataclass(value):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Message):
        return {name: plain(each) for name, each in message_values(value).items()}
    return value


def message_values(message: Message) -> dict[str, Any]:
    """The fields of a message: times as `datetime`, None for what is not set."""
    found: dict[str, Any] = {}
    for field in message.DESCRIPTOR.fields:
        value = getattr(message, field.name)
        if field.has_presence and not message.HasField(field.name):
            value = None
        elif field.is_repeated:
            value = list(value)
        found[field.name] = value.ToDatetime(UTC) if isinstance(value, Timestamp) else value
    return found
