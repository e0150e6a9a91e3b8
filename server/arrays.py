"""Long columns as parameters of statements."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

#: What PostgreSQL reads within an array as Python writes it.
NUMBERS = frozenset((bool, int, float))


def array(values: Sequence[Any]) -> str | list[Any]:
    """Values as one parameter: numbers and words as PostgreSQL writes an array of them.

    The statement must name the type of the array. Other values are left to the database adapter,
    which looks at every one of them; for long arrays of numbers that was a fifth of what a
    coordinator did, and a tenth of what a generator does.
    """
    kinds = set(map(type, values))
    if kinds <= NUMBERS:
        return "{" + ",".join(map(str, values)) + "}"
    if kinds == {str} and _are_words(values):
        return "{" + ",".join(values) + "}"
    return list(values)


def _are_words(texts: Sequence[str]) -> bool:
    """Whether texts stand for themselves in an array: nothing to quote, none empty or NULL."""
    together = "".join(texts)
    if not (together.isascii() and together.isalnum() and all(texts)):
        return False
    return "NULL" not in together.upper() or "NULL" not in map(str.upper, texts)
