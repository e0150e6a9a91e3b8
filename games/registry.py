"""The games Zermelo knows, by the name in front of a spec's colon."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

from zermelo.games.interface import Game, GameError
from zermelo.games.spec import Spec, parse_spec

Factory = Callable[[Spec], Game[Any]]

_factories: dict[str, Factory] = {}


def register(name: str, factory: Factory) -> None:
    if name in _factories:
        raise ValueError(f"game {name!r} is registered already")
    _factories[name] = factory


def game_names() -> list[str]:
    return sorted(_factories)


@lru_cache(maxsize=64)
def open_game(spec: str) -> Game[Any]:
    """The game that a spec names; `GameError` when there is none."""
    parsed = parse_spec(spec)
    factory = _factories.get(parsed.name)
    if factory is None:
        raise GameError(f"unknown game {parsed.name!r}; known games: {', '.join(game_names())}")
    return factory(parsed)
