"""What commands print about records: tables for people, JSON or CSV for programs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import click

from zermelo.cli.output import print_json, print_table
from zermelo.figures import span as span


@dataclass(frozen=True, slots=True)
class Printout:
    """One thing in the three forms that a command prints."""

    #: Objects that `plain` understands.
    json: Any
    #: Objects of one class, for CSV.
    rows: Sequence[Any]
    #: Prints it for people.
    show: Callable[[], None]

    def print(self, as_json: bool, as_csv: bool = False) -> None:
        if as_json:
            from zermelo.research.plain import plain

            print_json(plain(self.json))
        elif as_csv:
            print_csv(self.rows)
        else:
            self.show()


def table(
    title: str, rows: Sequence[Any], columns: Sequence[str], cells: Callable[[Any], list[str]],
    *, words: int = 1, nothing: str = "none",
) -> Printout:  # fmt: skip
    """Records as the rows of a table, whose first `words` columns hold words."""

    def show() -> None:
        if rows:
            print_table(title, columns, [cells(row) for row in rows], words=words)
        else:
            click.echo(nothing)

    return Printout({title: list(rows)}, rows, show)


def print_csv(rows: Sequence[Any]) -> None:
    from zermelo.research.csv_rows import csv_text

    click.echo(csv_text(rows), nl=False)


def when(at: Any) -> str:
    return f"{at.astimezone():%Y-%m-%d %H:%M:%S}"
