"""Messages of the wire as records: all their fields, or some of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from google.protobuf.message import Message

from zermelo.cli.output import print_facts
from zermelo.cli.records import Printout, table
from zermelo.research.plain import message_values, plain

#: Fields in millions of nodes.
_IN_MILLIONS = {"credit", "partial", "month_credit", "average_credit"}


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
        print_facts(cell for cell in message_cells(message) if cell[0] != _heading(title))
        below.show()

    Printout(plain(message) | plain(below.json), rows, show).print(as_json)


def message_cells(message: Message) -> list[tuple[str, str]]:
    """The fields of a message for people: name and value."""
    return [
        (_heading(name), _cell(name, value)) for name, value in message_values(message).items()
    ]


def _messages(title: str, rows: Sequence[Message], columns: Sequence[str] = ()) -> Printout:
    shown = columns or [field.name for row in rows[:1] for field in row.DESCRIPTOR.fields]

    def cells(row: Message) -> list[str]:
        values = message_values(row)
        return [_cell(column, values[column]) for column in shown]

    headings = [_heading(column) for column in shown]
    return table(title, rows, headings, cells, words=len(shown), nothing=f"no {title}")


def _heading(name: str) -> str:
    """Credit stands beside numbers of nodes, so its heading says that it is in millions."""
    words = name.replace("_", " ")
    if name == "speed":
        return f"{words} (nodes/s)"
    return f"{words} (M nodes)" if name in _IN_MILLIONS else words


def _cell(name: str, value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if name == "speed":
        return f"{value:,.0f}"
    if isinstance(value, float) or name == "nodes":
        return f"{value:,.1f}" if isinstance(value, float) else f"{value:,}"
    return value.strftime("%Y-%m-%d %H:%M:%S") if hasattr(value, "strftime") else str(value)
