"""Printing what came over the wire: tables for people, JSON for programs."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC
from typing import Any

import click
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message

from zermelo.cli.output import print_facts, print_json, print_table


def print_messages(
    title: str, rows: Sequence[Message], as_json: bool, columns: Sequence[str] = ()
) -> None:
    """Messages of one type as the rows of a table, with all their fields or some of them."""
    if as_json:
        print_json({title: [plain(row) for row in rows]})
    elif rows:
        shown = columns or [field.name for field in rows[0].DESCRIPTOR.fields]
        cells = [[_cell(_value(row, column)) for column in shown] for row in rows]
        print_table(title, shown, cells, words=len(shown))
    else:
        click.echo(f"no {title}")


def print_message(message: Message, title: str, rows: Sequence[Message], as_json: bool) -> None:
    """A message fact by fact, and under it a table that belongs to it."""
    if as_json:
        print_json(plain(message) | {title: [plain(row) for row in rows]})
        return
    print_facts((field.name, _cell(_value(message, field.name)))
                for field in message.DESCRIPTOR.fields)
    print_messages(title, rows, as_json)


def plain(message: Message) -> dict[str, Any]:
    """A message for JSON: times as text, None for what is not set."""
    values = {field.name: _value(message, field.name) for field in message.DESCRIPTOR.fields}
    return {
        name: str(value) if hasattr(value, "strftime") else value
        for name, value in values.items()
    }


def _value(message: Message, name: str) -> Any:
    field = message.DESCRIPTOR.fields_by_name[name]
    if field.has_presence and not message.HasField(name):
        return None
    value = getattr(message, name)
    return value.ToDatetime(UTC) if field.type == FieldDescriptor.TYPE_MESSAGE else value


def _cell(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:,.1f}"
    return value.strftime("%Y-%m-%d %H:%M:%S") if hasattr(value, "strftime") else str(value)
