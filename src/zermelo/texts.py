"""Texts of strangers, made fit for a terminal and for a line of a log."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

#: Marks in a row that a letter of some language needs; more of them cover the lines around.
MOST_MARKS = 4
_MARKS = ("Mn", "Me")

#: Longer ones are cut: a sentence for people is shorter.
LONGEST = 1024


def one_line(text: str, longest: int = LONGEST) -> str:
    """The text as one line of at most `longest` characters that show what they are.

    Dropped are control characters and escape sequences' beginnings, which would steer a
    terminal, and the invisible ones of Unicode, which would turn the direction of writing
    or hide a part of the text. White space of any kind becomes one space, and a letter keeps
    at most MOST_MARKS marks above and below.
    """
    # Cut before the work begins and again after it, so that a huge text costs nothing.
    kept = "".join(char for char in text[: 4 * longest] if char.isprintable() or char.isspace())
    shown = _few_marks(" ".join(kept.split()))
    return shown if len(shown) <= longest else shown[: longest - 1] + "…"


def cut_bytes(text: str, most: int) -> str:
    """The text in at most `most` bytes of UTF-8, whole characters; an ellipsis ends a cut one."""
    data = text.encode()
    if len(data) <= most:
        return text
    return data[: max(0, most - len("…".encode()))].decode(errors="ignore") + "…"


def harmless(text: str) -> str:
    """The text with its spaces and line ends, without what steers, hides or covers others."""
    if text.isascii() and text.isprintable():
        return text
    return _few_marks(char for char in text if char.isprintable() or char == "\n")


def _few_marks(chars: Iterable[str]) -> str:
    shown: list[str] = []
    marks = 0
    for char in chars:
        marks = marks + 1 if not char.isascii() and unicodedata.category(char) in _MARKS else 0
        if marks <= MOST_MARKS:
            shown.append(char)
    return "".join(shown)
