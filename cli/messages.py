"""Messages of the wire as records: all their fields, or some of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from google.protobuf.message import Message

from zermelo.cli.output import print_facts
from zermelo.cli.records import Printout, table
from zermelo.research.plain import message_values, plain


def print_messages(
    title: str, rows: Sequence[Message], as_json: bool, columns: Sequence[str] = ()
) -> None:
    """Messages of one type as the rows of a table, with all their fields or some of them."""
    _messages(title, rows, columns).print(as_json)


def print_message(message: Message, title: str, rows: Sequence[Message], as_json: bool) -> None:
    """A message fact by fact, and under it a table that belongs to it."""
    below = _messages(title, rows)

    def show() -> None:
        # The table has the field of its name.
        print_facts(cell for cell in message_cells(message) if cell[0] != title)
        below.show()

    Printout(plain(message) | plain(below.json), rows, show).print(as_json)


def message_cells(message: Message) -> list[tuple[str, str]]:
    """The fields of a message for people: name and value."""
    return [(name, _cell(value)) for name, value in message_values(message).items()]


def _messages(title: str, rows: Sequence[Message], columns: Sequence[str] = ()) -> Printout:
    shown = columns or [field.name for row in rows[:1] for field in row.DESCRIPTOR.fields]

    def cells(row: Message) -> list[str]:
        values = message_values(row)
        return [_cell(values[column]) for column in shown]

    return table(title, rows, shown, cells, words=len(shown), nothing=f"no {title}")


def _cell(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:,.1f}"
    return value.strftime("%Y-%m-%d %H:%M:%S") if hasattr(value, "strftime") else str(value)
