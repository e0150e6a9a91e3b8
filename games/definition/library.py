"""Definitions by name: the library that comes with Zermelo, and others by their digest."""

from __future__ import annotations

from functools import lru_cache

from zermelo.games.definition.definition import Definition, read_definition
from zermelo.games.definition.game import DefinedGame
from zermelo.games.definition.sources import MOST_REMEMBERED, find_text, library_texts
from zermelo.games.interface import GameError
from zermelo.games.registry import GameFactory

#: Names that compiled rules have already: the definition is found by name and digest only.
HIDDEN = ("reversi",)

_remembered: dict[str, Definition] = {}


@lru_cache(maxsize=64)
def library_definition(name: str) -> Definition:
    """The library's definition of this name, a hidden one too."""
    return read_definition(library_texts()[name], f"{name}.toml")


def library_names() -> list[str]:
    """The names under which the library's games are found."""
    return sorted(name for name in library_texts() if name not in HIDDEN)


def remember(definition: Definition) -> None:
    """Let this process find a definition by ``name@digest``."""
    _remembered[definition.digest] = definition
    while len(_remembered) > MOST_REMEMBERED:
        del _remembered[next(iter(_remembered))]


def find_definition(name: str) -> Definition | None:
    """The definition called ``name`` or ``name@digest``."""
    plain, _, digest = name.partition("@")
    if not digest:
        return library_definition(plain) if plain in library_names() else None
    known = [library_definition(plain)] if plain in library_texts() else []
    known += [each for each in _remembered.values() if each.name == plain]
    for definition in known:
        if definition.digest == digest:
            return definition
    if (text := find_text(digest)) is None:
        return None
    found = read_definition(text, name)
    remember(found)
    return found if found.name == plain else None


def resolve(name: str) -> GameFactory | None:
    """What opens the games of a definition; the registry of games asks this."""
    definition = find_definition(name)
    if definition is None:
        if "@" in name:
            raise GameError(
                f"the definition {name!r} is not known here; its file has another digest, or"
                " was not read"
            )
        return None
    plain = definition.name in library_names()
    listed = plain and library_definition(definition.name).digest == definition.digest

    def open_defined(spec: str) -> DefinedGame:
        values = definition.params.parse(spec.partition(":")[2])
        return DefinedGame(definition, values, listed=listed)

    return open_defined
