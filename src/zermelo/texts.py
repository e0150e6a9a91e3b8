"""Texts of strangers, made fit for a terminal and for a line of a log."""

from __future__ import annotations

#: Longer ones are cut: a sentence for people is shorter.
LONGEST = 1024


def one_line(text: str, longest: int = LONGEST) -> str:
    """The text as one line of at most `longest` characters that show what they are.

    Dropped are control characters and escape sequences' beginnings, which would steer a
    terminal, and the invisible ones of Unicode, which would turn the direction of writing
    or hide a part of the text. White space of any kind becomes one space.
    """
    # Cut before the work begins and again after it, so that a huge text costs nothing.
    spaced = " ".join(text[: 4 * longest].split())
    shown = "".join(char for char in spaced if char.isprintable())
    return shown if len(shown) <= longest else shown[: longest - 1] + "…"
