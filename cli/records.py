"""What commands print about records: tables for people, JSON or CSV for programs."""

from __future__ import annotations

import csv
import sys
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
    from zermelo.research.plain import plain

    flat = [_flat(plain(row)) for row in rows]
    if flat:
        writer = csv.DictWriter(sys.stdout, list(flat[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(flat)


def _flat(row: dict[str, Any]) -> dict[str, Any]:
    """One level of names: a worth becomes its parts."""
    found: dict[str, Any] = {}
    for name, value in row.items():
        if isinstance(value, dict):
            lo, hi = value["bounds"]
            found |= {"proof_state": value["proof_state"], "lo": lo, "hi": hi}
        else:
            found[name] = value
    return found


def when(at: Any) -> str:
    return f"{at.astimezone():%Y-%m-%d %H:%M:%S}"
