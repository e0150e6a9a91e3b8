"""Who serves which game: registries by name, and the one of the rules.

Every layer keeps a registry of its own for what a game brings along: the rules here, engines
and trainers in `zermelo.engine.registry`, checkers in `zermelo.checker.registry`. A registry
looks a name up in three places, the first that knows it wins:

1. what was registered by name;
2. families: resolvers that serve many names at once, such as all games of a folder;
3. installed packages, by the entry points of the registry's group.

So neither a family nor an installed package can replace what Zermelo brings along. Nothing
is imported before it is asked for. docs/adding-a-game.md shows all of it at work.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable
from functools import lru_cache
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

from zermelo.games.interface import Game, GameError
from zermelo.games.spec import check_length, parse_spec

if TYPE_CHECKING:
    from importlib.metadata import EntryPoints

T = TypeVar("T")
#: Makes the game of a spec, which it gets as the user wrote it, name and all.
GameFactory = Callable[[str], Game[Any]]

#: A name, perhaps with the digest of the definition behind it. Only such names are looked
#: up, so that a resolver may make a file name of one.
_NAME = re.compile(r"[a-z][a-z0-9_-]{0,39}(@[0-9a-f]{1,64})?", re.ASCII)


@lru_cache
def _entry_points(group: str, path: tuple[str, ...]) -> EntryPoints:
    """Those of the packages installed on this path, as they are at the first look: to read them
    takes tens of milliseconds, and strangers may ask for any name."""
    from importlib.metadata import entry_points

    return entry_points(group=group)


class Registry(Generic[T]):
    """One kind of thing that games bring along, such as engines, by the game's name."""

    def __init__(self, kind: str, group: str) -> None:
        #: The entry point group in which installed packages name theirs.
        self.group = group
        self._kind = kind
        #: What was registered by name: itself, or "module:attribute".
        self._registered: dict[str, T | str] = {}
        self._families: list[tuple[Callable[[str], T | None], Callable[[], Iterable[str]]]] = []

    def register(self, name: str, thing: T | str) -> None:
        """Let `thing` serve the game `name`; as "module:attribute" it is imported when used."""
        if name in self._registered:
            raise ValueError(f"the {self._kind} of {name!r} is registered already")
        self._registered[name] = thing

    def register_family(
        self,
        resolve: Callable[[str], T | None],
        names: Callable[[], Iterable[str]] = tuple,
    ) -> None:
        """Let `resolve` serve all names for which it returns something; `names` lists them."""
        self._families.append((resolve, names))

    def find(self, name: str) -> T | None:
        """What serves the game of this name, None if nothing does."""
        if not _NAME.fullmatch(name):
            return None
        thing = self._registered.get(name)
        if isinstance(thing, str):
            return cast(T, resolve_name(thing))
        if thing is not None:
            return thing
        for resolve, _ in self._families:
            found = resolve(name)
            if found is not None:
                return found
        return self._installed(name)

    def names(self) -> list[str]:
        """Every name that is served."""
        listed = {name for _, names in self._families for name in names()}
        installed = {entry.name for entry in self._entry_points()}
        return sorted(listed.union(self._registered, filter(_NAME.fullmatch, installed)))

    def _entry_points(self) -> EntryPoints:
        return _entry_points(self.group, tuple(sys.path))

    def _installed(self, name: str) -> T | None:
        targets = {entry.value: entry for entry in self._entry_points() if entry.name == name}
        if len(targets) > 1:
            raise GameError(
                f"two installed packages bring the {self._kind} of {name!r}:"
                f" {' and '.join(sorted(targets))}; uninstall one of them"
            )
        for target, entry in targets.items():
            try:
                return cast(T, entry.load())
            except (ImportError, AttributeError) as error:
                raise GameError(
                    f"the {self._kind} of {name!r}, {target}, cannot be loaded: {error}"
                ) from error
        return None


games: Registry[GameFactory] = Registry("game", "zermelo.games")
games.register("go", "zermelo.games.go:Go.from_spec")
games.register("reversi", "zermelo.games.reversi:Reversi.from_spec")


def _definition(name: str) -> GameFactory | None:
    from zermelo.games.definition.library import resolve

    return resolve(name)


def _definition_names() -> Iterable[str]:
    from zermelo.games.definition.library import library_names

    return library_names()


games.register_family(_definition, _definition_names)


def game_names() -> list[str]:
    return games.names()


@lru_cache(maxsize=64)
def open_game(spec: str) -> Game[Any]:
    """The game that a spec names; `GameError` when there is none."""
    check_length(spec)
    name = spec.partition(":")[0]
    factory = games.find(name)
    if factory is None:
        if not _NAME.fullmatch(name):
            parse_spec(spec)  # where this cannot be a name, what is malformed comes first
        names = game_names()
        from zermelo.games.definition.errors import nearest  # only a mistake needs it

        meant = f"did you mean {like}? " if (like := nearest(name, names)) else ""
        raise GameError(f"unknown game {name!r}; {meant}known games: {', '.join(names)}")
    return factory(spec)
