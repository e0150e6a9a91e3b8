"""Lists of answers as tables for people, as JSON or as CSV for programs."""

from __future__ import annotations

import csv
import sys
from collections.abc import Callable, Sequence
from typing import Any

import click

from zermelo.cli.output import print_json, print_table, short_count, short_time


def print_records(
    rows: Sequence[Any], as_json: bool, as_csv: bool, title: str, columns: Sequence[str],
    cells: Callable[[Any], list[str]], *, words: int = 1, nothing: str = "none",
) -> None:
    if as_json:
        print_json({title: plain(list(rows))})
    elif as_csv:
        print_csv(rows)
    elif rows:
        print_table(title, columns, [cells(row) for row in rows], words=words)
    else:
        click.echo(nothing)


def print_results(records: Sequence[Any], as_json: bool, as_csv: bool) -> None:
    print_records(
        records, as_json, as_csv, "results",
        ["user", "host", "answer", "state", "workunit", "proves", "nodes", "time", "when"],
        lambda one: [one.user, one.host_name or str(one.host), one.answer, one.state,
                     str(one.workunit), span(one.lo, one.hi), short_count(one.nodes),
                     short_time(one.seconds), when(one.received_at)], words=4,
        nothing="no results yet",
    )


def print_csv(rows: Sequence[Any]) -> None:
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
            found |= {"known": value["known"], "lo": value["bounds"][0], "hi": value["bounds"][1]}
        else:
            found[name] = value
    return found


def plain(value: Any) -> Any:
    from zermelo.research import answers

    return answers.plain(value)


def span(lo: int, hi: int) -> str:
    """Such as ``+4`` or ``+2 to +36``."""
    return f"{lo:+d}" if lo == hi else f"{lo:+d} to {hi:+d}"


def when(at: Any) -> str:
    return f"{at.astimezone():%Y-%m-%d %H:%M:%S}"
