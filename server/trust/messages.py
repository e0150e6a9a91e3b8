"""Rows of the database as messages of the wire."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

from google.protobuf.message import Message

M = TypeVar("M", bound=Message)


def message(kind: type[M], row: Mapping[str, Any]) -> M:
    """A row as a message with the same names; what is NULL stays unset."""
    return kind(**{name: value for name, value in row.items() if value is not None})


def messages(kind: type[M], rows: Iterable[Mapping[str, Any]]) -> list[M]:
    return [message(kind, row) for row in rows]
