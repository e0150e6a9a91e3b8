"""Definitions by name: the library that comes with Zermelo, and others by their digest."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, lru_cache
from importlib.resources import files

from zermelo.games.definition.definition import Definition, read_definition
from zermelo.games.definition.document import digest_of
from zermelo.games.definition.game import DefinedGame
from zermelo.games.interface import GameError
from zermelo.games.registry import GameFactory

#: Definitions that files or peers brought along and that a process keeps at most.
MOST_REMEMBERED = 256
#: Names that compiled rules have already: the definition is found by name and digest only.
HIDDEN = ("reversi",)

_remembered: dict[str, Definition] = {}
#: Each gives the text with a digest, if it has one.
_sources: list[Callable[[str], str | None]] = []


@cache
def _texts() -> dict[str, str]:
    folder = files("zermelo.games") / "library"
    return {
        entry.name.removesuffix(".toml"): entry.read_text(encoding="utf-8")
        for entry in folder.iterdir() if entry.name.endswith(".toml")
    }


@lru_cache(maxsize=64)
def library_definition(name: str) -> Definition:
    """The library's definition of this name, a hidden one too."""
    return read_definition(_texts()[name], f"{name}.toml")


def library_names() -> list[str]:
    """The names under which the library's games are found."""
    return sorted(name for name in _texts() if name not in HIDDEN)


def remember(definition: Definition) -> None:
    """Let this process find a definition by ``name@digest``."""
    _remembered[definition.digest] = definition
    while len(_remembered) > MOST_REMEMBERED:
        del _remembered[next(iter(_remembered))]


def add_source(text_of: Callable[[str], str | None]) -> None:
    """Let this process look for texts by their digest in one more place."""
    _sources.append(text_of)


def library_text(digest: str) -> str | None:
    """The text of the library's definition with this digest, if there is one."""
    for name in _texts():
        definition = library_definition(name)
        if definition.digest == digest:
            return definition.text
    return None


def find_definition(name: str) -> Definition | None:
    """The definition called ``name`` or ``name@digest``."""
    plain, _, digest = name.partition("@")
    if not digest:
        return library_definition(plain) if plain in library_names() else None
    known = [library_definition(plain)] if plain in _texts() else []
    known += [each for each in _remembered.values() if each.name == plain]
    for definition in known:
        if definition.digest == digest:
            return definition
    for text_of in _sources:
        text = text_of(digest)
        if text is not None and digest_of(text) == digest:
            found = read_definition(text, name)
            remember(found)
            return found if found.name == plain else None
    return None


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
