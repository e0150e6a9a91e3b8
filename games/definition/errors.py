"""What is wrong with a definition: where, which value, and what is allowed instead."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from zermelo.games.interface import GameError

_LONGEST_VALUE = 60


class DefinitionError(GameError):
    """A definition, or a spec for it, is wrong; the message names place, value and remedy."""


def shorten(value: object) -> str:
    """A value on one line, as a message shows it."""
    text = value if isinstance(value, str) else repr(value)
    text = ascii(text)[1:-1] if not text.isprintable() else text
    return text if len(text) <= _LONGEST_VALUE else text[: _LONGEST_VALUE - 3] + "..."


def nearest(name: str, known: Iterable[str]) -> str:
    """The known name that is most like this one; empty if none is."""
    return next(iter(difflib.get_close_matches(name[:_LONGEST_VALUE], list(known), n=1)), "")


def unknown(what: str, name: str, known: Iterable[str]) -> str:
    """That a name is unknown, with the nearest known one."""
    names = sorted(known)
    like = nearest(name, names)
    meant = f"did you mean {like!r}? " if like else ""
    listed = ", ".join(names) if names else "none"
    return f"unknown {what} '{shorten(name)}'; {meant}known: {listed}"
