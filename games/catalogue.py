"""All games with a line each, for lists."""

from __future__ import annotations

from dataclasses import dataclass

from zermelo.games.definition.definition import Definition
from zermelo.games.definition.library import library_definition, library_names
from zermelo.games.go import Go
from zermelo.games.interface import Game
from zermelo.games.registry import game_names
from zermelo.games.reversi import Reversi

#: Games whose rules are code: how a spec is written, and what they are.
COMPILED = {
    "go": ("go:ROWSxCOLS[,scoring=area|territory][,komi=N]", Go.title),
    "reversi": ("reversi:ROWSxCOLS[,scoring=raw|wof]", Reversi.title),
}
#: The size at which a compiled game is shown if nobody chooses one.
SHOWN_SIZE = "4x4"


@dataclass(frozen=True, slots=True)
class ListedGame:
    name: str
    #: How a spec of it is written.
    pattern: str
    title: str
    #: Whether its rules are data.
    definition: bool

    @property
    def example(self) -> str:
        """A spec of it, all parameters at their default."""
        return f"{self.name}:{SHOWN_SIZE}" if self.name in COMPILED else self.name


def listed_games() -> list[ListedGame]:
    library = set(library_names())
    found = []
    for name in game_names():
        if name in library:
            definition = library_definition(name)
            found.append(ListedGame(name, _pattern(definition), definition.title, True))
        else:
            told = COMPILED.get(name, (f"{name}:...", Game.title))
            found.append(ListedGame(name, *told, False))
    return found


def _pattern(definition: Definition) -> str:
    params = definition.params
    options = "".join(
        f"[,{name}={'|'.join(param.words) if param.words else name.upper()}]"
        for name, param in params.params.items() if name not in params.size
    )
    if not params.size:
        options = options.replace(",", "", 1)  # nothing stands before the first one
    return f"{definition.name}:{params.pattern()}{options}"
