"""How commands print: numbers for people, tables, JSON for programs."""

from __future__ import annotations

import json
import shutil
import sys
import textwrap
from collections.abc import Iterable, Sequence
from typing import Any

import click

_SCALES = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))
_LABEL_WIDTH = 11
#: Where nobody looks, the widest table need not be squeezed into 80 columns.
_UNSEEN_WIDTH = 160


def short_count(number: float) -> str:
    """``67_123_456`` as ``67.1 M``: three digits are what people compare."""
    for scale, letter in _SCALES:
        if number >= scale:
            scaled = number / scale
            return f"{scaled:.{2 if scaled < 10 else 1 if scaled < 100 else 0}f} {letter}"
    return f"{number:.0f}"


def short_time(seconds: float) -> str:
    if seconds >= 120:
        minutes, rest = divmod(round(seconds), 60)
        return f"{minutes} min {rest:02d} s"
    if seconds >= 1:
        return f"{seconds:.1f} s"
    return f"{seconds * 1e3:.0f} ms" if seconds >= 0.01 else f"{seconds * 1e3:.2f} ms"


def speed(nodes: int, seconds: float) -> float:
    return nodes / seconds if seconds > 0 else 0.0


def print_json(value: Any) -> None:
    click.echo(json.dumps(value))


def print_facts(facts: Iterable[tuple[str, str]]) -> None:
    """One fact a line, labels aligned, long ones wrapped under themselves."""
    told = list(facts)
    width = shutil.get_terminal_size().columns
    indent = max([_LABEL_WIDTH, *(len(label) + 1 for label, _ in told)])
    for label, text in told:
        click.echo(
            textwrap.fill(
                text,
                max(width, 2 * indent),
                initial_indent=label.ljust(indent),
                subsequent_indent=" " * indent,
                break_long_words=False,
            )
        )


def print_table(
    title: str, columns: Sequence[str], rows: Iterable[Sequence[str]], *, words: int = 1
) -> None:
    """A table whose first `words` columns hold words and the others numbers."""
    from rich import box  # only tables need it, and it takes a while to load
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, show_edge=False)
    for index, column in enumerate(columns):
        table.add_column(Text(column), justify="left" if index < words else "right",
                         no_wrap=index >= words)
    for row in rows:
        table.add_row(*map(Text, row))
    seen = sys.stdout.isatty()
    console = Console(file=sys.stdout, width=None if seen else _UNSEEN_WIDTH, highlight=False)
    with console.capture() as captured:
        console.print(table)
    click.secho(title, bold=True)
    click.echo("\n".join(line.rstrip() for line in captured.get().splitlines()) + "\n")
