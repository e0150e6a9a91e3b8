"""Suites of positions with known scores, in OBF: one position a line.

::

    # game: reversi:6x6
    SQUARES SIDE; move:score; move:score; ...

The value of a position is the best score listed. Lines that start with ``#`` or ``%``
and empty ones are skipped; ``# game: SPEC`` says which game it is, ``# name: NAME`` what the
next position is called.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import isqrt
from pathlib import Path
from typing import Any

from zermelo import games
from zermelo.cli.plain_errors import CommandError
from zermelo.games import Game, GameError, Score, open_game
from zermelo.games.foreign_files import read_lines

SHIPPED = Path(games.__file__).parent / "suites"
_COMMENTS = ("#", "%")
_GAME = re.compile(r"[#%]\s*game:\s*(\S+)\s*", re.IGNORECASE)
_NAME = re.compile(r"[#%]\s*name:\s*([a-z0-9-]+)\s*", re.ASCII)
_SCORED = re.compile(r"([^\s:]+)\s*:\s*([+-]?[0-9]{1,4})", re.ASCII)


@dataclass(frozen=True, slots=True)
class Listed:
    """A position of a suite and the score listed for it, if any."""

    line: int
    position: Any
    score: Score | None
    #: As the suite calls it; empty if it does not.
    name: str = ""


@dataclass(frozen=True, slots=True)
class Suite:
    name: str
    game: Game[Any]
    positions: Sequence[Listed]


def shipped_suites() -> list[str]:
    return sorted(path.stem for path in SHIPPED.glob("*.obf"))


def load_suite(name: str, game: Game[Any] | None = None) -> Suite:
    """The suite with this path, or the shipped one with this name.

    Without `game`, the suite itself tells the game; one that tells another is an error.
    """
    path = _find(name)
    try:
        lines = read_lines(path)
    except OSError as error:
        raise CommandError(f"cannot read suite {name!r}: {error.strerror}") from None
    numbered = [(at, line.strip()) for at, line in enumerate(lines, 1) if line.strip()]
    entries = [(at, line) for at, line in numbered if not line.startswith(_COMMENTS)]
    if not entries:
        raise CommandError(f"suite {name!r} has no positions")
    told = next((found[1] for _, line in numbered if (found := _GAME.fullmatch(line))), None)
    if game is None:
        game = open_game(told or _game_by_size(name, entries[0][1]))
    elif told is not None and open_game(told) != game:
        raise CommandError(f"suite {name!r} is of {told}, not of {game.short_spec}")
    names = _names(numbered)
    return Suite(
        path.stem, game,
        [replace(_read(name, game, at, line), name=names.get(at, "")) for at, line in entries],
    )  # fmt: skip


def find_position(game: Game[Any], text: str) -> Any:
    """A position as text, or by its name in a shipped suite: ``console-1-x``, ``ffo40-44/2``."""
    named = re.fullmatch(r"([a-z0-9-]*[a-z][a-z0-9-]*)(?:/([0-9]{1,3}))?", text, re.ASCII)
    if named is None:
        return game.parse(text)
    known: dict[str, Any] = {}
    for suite in map(load_suite, shipped_suites()):
        if suite.game.name == game.name and len(suite.game.format(suite.game.initial())) == len(
            game.format(game.initial())
        ):
            for number, listed in enumerate(suite.positions, 1):
                known[listed.name or f"{suite.name}/{number}"] = listed.position
    if text in known:
        return known[text]
    names = [name for name in known if "/" not in name]
    names += sorted({f"{name.partition('/')[0]}/1 ..." for name in known if "/" in name})
    raise CommandError(
        f"no position {text!r}; write one as text, or one of: {', '.join(names)}"
        if names else f"no position of {game.short_spec} has a name; write one as text"
    )


def _names(numbered: Sequence[tuple[int, str]]) -> dict[int, str]:
    """The names of positions by the line of the position."""
    names: dict[int, str] = {}
    waiting = ""
    for at, line in numbered:
        if found := _NAME.fullmatch(line):
            waiting = found[1]
        elif not line.startswith(_COMMENTS):
            names[at], waiting = waiting, ""
    return names


def _find(name: str) -> Path:
    shipped = SHIPPED / f"{name}.obf"
    return shipped if name in shipped_suites() and not Path(name).exists() else _existing(name)


def _existing(name: str) -> Path:
    path = Path(name)
    if not path.is_file():
        raise CommandError(
            f"no suite {name!r}; give a file or one of: {', '.join(shipped_suites())}"
        )
    return path


def _game_by_size(name: str, line: str) -> str:
    """OBF is reversi's format, and its scores count empty squares for the winner."""
    squares = len(line.split()[0])
    side = isqrt(squares)
    if side * side != squares:
        raise CommandError(
            f"suite {name!r} does not name its game; give --game or a line '# game: SPEC'"
        )
    return f"reversi:{side}x{side},scoring=wof"


def _read(name: str, game: Game[Any], at: int, line: str) -> Listed:
    board, *scored = line.split(";")
    try:
        position = game.parse(board)
        scores = [_score(game, position, item) for item in map(str.strip, scored) if item]
    except GameError as error:
        raise CommandError(f"suite {name!r}, line {at}: {error}") from None
    return Listed(at, position, max(scores, default=None))


def _score(game: Game[Any], position: Any, item: str) -> Score:
    matched = _SCORED.fullmatch(item)
    if not matched:
        raise GameError(f"{item!r} is not move:score, such as d3:+4")
    score = int(matched[2])
    if abs(score) > game.max_score:
        raise GameError(f"score {score} of {matched[1]}; {game.short_spec} ends within"
                        f" {-game.max_score}..{game.max_score}")
    if not game.is_final(position):  # a finished game is listed with its score under any name
        game.find_move(position, matched[1])
    return score
