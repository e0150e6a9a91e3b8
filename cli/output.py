"""How commands print: numbers for people, tables, JSON for programs."""

from __future__ import annotations

import json
import shutil
import sys
import textwrap
from collections.abc import Iterable, Sequence
from typing import Any

import click
from rich.cells import cell_len

from zermelo.figures import short_count as short_count
from zermelo.figures import short_time as short_time
from zermelo.texts import harmless

_LABEL_WIDTH = 11
#: Where nobody looks, the widest table need not be squeezed into 80 columns.
_UNSEEN_WIDTH = 160


def speed(nodes: int, seconds: float) -> float:
    return nodes / seconds if seconds > 0 else 0.0


def print_json(value: Any) -> None:
    click.echo(json.dumps(value))


def print_facts(facts: Iterable[tuple[str, str]]) -> None:
    """One fact a line, labels aligned, long ones wrapped under themselves."""
    for line in _fact_lines(list(facts), shutil.get_terminal_size().columns):
        click.echo(line)


def _fact_lines(told: Sequence[tuple[str, str]], width: int) -> list[str]:
    indent = max([_LABEL_WIDTH, *(len(label) + 1 for label, _ in told)])
    return [
        textwrap.fill(
            harmless(text) or "-",
            max(width, 2 * indent),
            initial_indent=label.ljust(indent),
            subsequent_indent=" " * indent,
            break_long_words=False,
        )
        for label, text in told
    ]


def print_table(
    title: str, columns: Sequence[str], rows: Iterable[Sequence[str]], *, words: int = 1
) -> None:
    """A table whose first `words` columns hold words and the others numbers.

    Where the terminal is too narrow for it, row by row. Cells may be names that strangers chose:
    what would steer the terminal is dropped.
    """
    shown = [list(map(harmless, row)) for row in rows]
    seen = sys.stdout.isatty()
    width = shutil.get_terminal_size().columns if seen else _UNSEEN_WIDTH
    lines = _lines(columns, shown, words, width)
    if not lines:
        fits = _least_width(columns, shown, words) <= width
        lines = _wrapped(columns, shown, words, width) if fits else _blocks(columns, shown, width)
    click.secho(title, bold=True)
    click.echo("\n".join(line.rstrip() for line in lines) + "\n")


def _lines(
    columns: Sequence[str], rows: Sequence[Sequence[str]], words: int, width: int
) -> list[str]:
    """The lines of a table that fits into `width`, as rich draws them but in a tenth of its
    time; none if it does not fit."""
    widths = [max(map(cell_len, column)) for column in zip(columns, *rows, strict=True)]
    total = sum(widths) + 3 * len(widths) - 1
    if total > width or any(not cell.isprintable() for row in rows for cell in row):
        return []

    def line(cells: Sequence[str]) -> str:
        padded = [
            cell + " " * (room - cell_len(cell)) if index < words
            else " " * (room - cell_len(cell)) + cell
            for index, (cell, room) in enumerate(zip(cells, widths, strict=True))
        ]
        return " " + "   ".join(padded)

    return [line(columns), "─" * total, *map(line, rows)]


def _least_width(columns: Sequence[str], rows: Sequence[Sequence[str]], words: int) -> int:
    """How wide a table must be whose words are wrapped, but not cut."""
    least = 0
    for index, column in enumerate(zip(columns, *rows, strict=True)):
        parts = [part for cell in column for part in (cell.split() if index < words else [cell])]
        least += max(map(cell_len, parts), default=0) + 3
    return least


def _blocks(columns: Sequence[str], rows: Sequence[Sequence[str]], width: int) -> list[str]:
    """Each row as facts, one a line, apart from the next."""
    blocks = ["\n".join(_fact_lines(list(zip(columns, row, strict=True)), width)) for row in rows]
    return ["\n\n".join(blocks)]


def _wrapped(
    columns: Sequence[str], rows: Sequence[Sequence[str]], words: int, width: int
) -> list[str]:
    """The lines of a table whose words are wrapped to fit into `width`."""
    from rich import box  # few tables need it, and it takes a while to load
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, show_edge=False)
    for index, column in enumerate(columns):
        table.add_column(Text(column), justify="left" if index < words else "right",
                         no_wrap=index >= words)
    for row in rows:
        table.add_row(*map(Text, row))
    console = Console(file=sys.stdout, width=width, highlight=False)
    with console.capture() as captured:
        console.print(table)
    return captured.get().splitlines()
