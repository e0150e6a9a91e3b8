"""The table of queries in docs/research.md: ``python -m zermelo.research.document FILE``.

A test says when the document no longer agrees with the declaration.
"""

from __future__ import annotations

import inspect
import sys
from pathlib import Path

from zermelo.research.queries import Campaigns, Queries, Query, declared_in

BEGIN, END = "<!-- queries: begin -->\n", "<!-- queries: end -->\n"


def table_of_queries() -> str:
    """A row for each query: how it is called, what comes back, what it tells."""
    rows = [
        _row(source, asked)
        for source, kind in (("database", Campaigns), ("campaign", Queries))
        for asked in declared_in(kind)
    ]
    return "\n".join(["| query | reply | what it tells |", "| --- | --- | --- |", *rows, ""])


def with_table(text: str) -> str:
    """The document with the current table between its marks."""
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n{table_of_queries()}\n{END}{after}"


def _row(source: str, asked: Query) -> str:
    parameters = list(inspect.signature(asked.declared).parameters.values())[1:]
    words = [
        each.name if each.default is each.empty else f"{each.name}={each.default!r}"
        for each in parameters
    ]
    reply = f"list of `{asked.reply.__name__}`" if asked.many else f"`{asked.reply.__name__}`"
    return f"| `{source}.{asked.name}({', '.join(words)})` | {reply} | {asked.sentence} |"


if __name__ == "__main__":
    document = Path(sys.argv[1])
    document.write_text(with_table(document.read_text("utf-8")), "utf-8")
