"""Replies as rows of CSV, for commands and pages alike."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from typing import Any

from zermelo.research.plain import plain

#: What a spreadsheet takes for the beginning of a formula.
FORMULA = ("=", "+", "-", "@", "\t", "\r")


def csv_text(rows: Sequence[Any], line_end: str = "\n") -> str:
    """Objects of one class as CSV with a line of names; no text begins a formula."""
    flat = [_flat(plain(row)) for row in rows]
    written = io.StringIO()
    if flat:
        writer = csv.DictWriter(written, list(flat[0]), lineterminator=line_end)
        writer.writeheader()
        writer.writerows({name: _cell(value) for name, value in row.items()} for row in flat)
    return written.getvalue()


def _cell(value: Any) -> Any:
    if isinstance(value, list):
        value = " ".join(map(str, value))
    if isinstance(value, str) and value.lstrip().startswith(FORMULA):
        return "'" + value
    return value


def _flat(row: Mapping[str, Any]) -> dict[str, Any]:
    """One level of names: a worth becomes its parts, bounds become two numbers."""
    found: dict[str, Any] = {}
    for name, value in row.items():
        if isinstance(value, dict):
            lo, hi = value["bounds"]
            found |= {"proof_state": value["proof_state"], "lo": lo, "hi": hi}
        elif name == "bounds":
            found |= {"lo": value[0], "hi": value[1]}
        else:
            found[name] = value
    return found
