"""The texts of the theatre, one file for each language, all with the same keys."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

from zermelo.theatre.tree import TheatreError

#: A section of texts: a key has one text, or several that are read one after the other.
Section = Mapping[str, str | list[str]]


def languages() -> list[str]:
    """The languages there are, by their two letters."""
    names = (entry.name for entry in files(__package__).iterdir())
    return sorted(name.removesuffix(".toml") for name in names if name.endswith(".toml"))


@cache
def messages(language: str = "en") -> Mapping[str, Section]:
    """All texts in a language, by section and key."""
    if language not in languages():
        raise TheatreError(f"no texts in {language!r}; there are: {', '.join(languages())}")
    text = (files(__package__) / f"{language}.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)
