"""The test data of every registered game: one folder of text files for each.

    data/games/NAME/specs.txt              the specs that the generic suite plays
    data/games/NAME/perft.txt              positions with the number of lines by depth
    data/games/NAME/playthrough-*.txt      recorded games (see playthrough.py)
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, NamedTuple

from tests.support.places import DATA
from zermelo.games import Game, game_names, open_game

#: ZERMELO_GAME_DATA names another folder, for games that come from elsewhere.
GAMES = Path(os.environ.get("ZERMELO_GAME_DATA") or DATA / "games")


class Perft(NamedTuple):
    spec: str
    position: str
    counts: tuple[int, ...]

    def root(self) -> tuple[Game[Any], Any]:
        game = open_game(self.spec)
        start = self.position == "start"
        return game, game.initial() if start else game.parse(self.position)


def _lines(path: Path) -> list[str]:
    if not path.exists():
        return []
    lines = (line.partition("#")[0].strip() for line in path.read_text().splitlines())
    return [line for line in lines if line]


def specs(name: str) -> list[str]:
    return _lines(GAMES / name / "specs.txt")


def perfts(name: str) -> list[Perft]:
    found = []
    for line in _lines(GAMES / name / "perft.txt"):
        spec, position, counts = (part.strip() for part in line.split(";"))
        found.append(Perft(spec, position, tuple(map(int, counts.split()))))
    return found


def playthroughs(name: str) -> list[Path]:
    return sorted((GAMES / name).glob("playthrough-*.txt"))


def all_specs() -> list[str]:
    return [spec for name in game_names() for spec in specs(name)]
