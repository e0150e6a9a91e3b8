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
    if kinds <= NUMBERS or (kinds == {str} and all(map(_is_word, values))):
        return "{" + ",".join(map(str, values)) + "}"
    return list(values)


def _is_word(text: str) -> bool:
    """Whether a text stands for itself in an array: nothing to quote, and not NULL."""
    return text.isascii() and text.isalnum() and text.upper() != "NULL"
