"""Players by name, as the command line and the web take them."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from zermelo.games import Game
from zermelo.players.depth import ReversiLookAhead
from zermelo.players.evaluations import EVALUATIONS
from zermelo.players.interface import Player, PlayerError
from zermelo.players.look_ahead import DEEPEST, LookAhead
from zermelo.players.looking import LookingPlayer, RandomPlayer
from zermelo.players.monte_carlo import MonteCarloPlayer
from zermelo.players.planning import PlanningPlayer
from zermelo.players.solving import DEFAULT_NODES, EnginePlayer

DEFAULT_PLAYOUTS = 1000
MOST_PLAYOUTS = 10_000_000
LONGEST_SECONDS = 600.0


@dataclass(frozen=True, slots=True)
class Request:
    """Who is wanted: the name as written, what stands behind its colon, the game."""

    name: str
    argument: str
    game: Game[Any]
    seed: int | None

    def number(self, least: int, most: int, default: int | None = None) -> int:
        if not self.argument and default is not None:
            return default
        if not re.fullmatch(r"[0-9]{1,12}", self.argument, re.ASCII):
            raise PlayerError(f"player {self.name!r}: {self.argument!r} is no whole number")
        found = int(self.argument)
        if not least <= found <= most:
            raise PlayerError(f"player {self.name!r}: the number must be {least} to {most}")
        return found


@dataclass(frozen=True, slots=True)
class Kind:
    #: How it is written, and what it does, for lists of players.
    form: str
    summary: str
    make: Callable[[Request], Player]


def _minimax(request: Request) -> Player:
    plies, _, how = request.argument.partition(",")
    depth = Request(request.name, plies, request.game, None).number(1, DEEPEST)
    evaluation, _, perfect = how.partition(",")
    return look_ahead(request.game).open(request.game, depth, evaluation, perfect, request.name)


def _uct(request: Request) -> Player:
    seconds = re.fullmatch(r"([0-9]{1,3}(?:\.[0-9]{1,3})?)s", request.argument, re.ASCII)
    if seconds is None:
        playouts = request.number(1, MOST_PLAYOUTS, DEFAULT_PLAYOUTS)
        return MonteCarloPlayer(
            request.game, request.name, playouts=playouts, seed=request.seed
        )
    allowed = float(seconds[1])
    if not 0 < allowed <= LONGEST_SECONDS:
        raise PlayerError(f"player {request.name!r}: at most {LONGEST_SECONDS:.0f} s for a move")
    return MonteCarloPlayer(request.game, request.name, seconds=allowed, seed=request.seed)


def _plain(make: Callable[[Request], Player]) -> Callable[[Request], Player]:
    """A player that has nothing behind its name."""
    def checked(request: Request) -> Player:
        if request.argument:
            raise PlayerError(f"player {request.name!r}: nothing may stand behind the colon")
        return make(request)

    return checked


KINDS: dict[str, Kind] = {
    "random": Kind("random", "any legal move",
                   _plain(lambda it: RandomPlayer(it.game, it.seed))),
    "greedy": Kind("greedy", "the move after which the board looks best at once",
                   _plain(lambda it: LookingPlayer(it.game, 1, it.game.evaluate, it.name))),
    "depth": Kind("depth:N", "minimax N plies ahead", _minimax),
    "minimax": Kind("minimax:N,EVALUATION",
                    f"the same by an evaluation: {', '.join(EVALUATIONS)};"
                    f" {ReversiLookAhead.summary}", _minimax),
    "uct": Kind("uct:N, uct:1.5s", "Monte Carlo tree search, N playouts or seconds for a move",
                _uct),
    "depth-first": Kind("depth-first", "one player: the first way to a win that is found",
                        _plain(lambda it: PlanningPlayer(it.game, it.name, deep=True))),
    "breadth-first": Kind("breadth-first", "one player: the shortest way to a win",
                          _plain(lambda it: PlanningPlayer(it.game, it.name, deep=False))),
    "engine": Kind("engine, engine:N", "proves its move with at most N nodes, else looks ahead",
                   lambda it: EnginePlayer(
                       it.game, it.number(1, 10**12, DEFAULT_NODES), it.name)),
}  # fmt: skip


#: How games are looked ahead in, by family; all others as `LookAhead` does it.
LOOK_AHEADS: dict[str, LookAhead[Any]] = {"reversi": ReversiLookAhead()}
_PLAIN: LookAhead[Any] = LookAhead()


def look_ahead(game: Game[Any]) -> LookAhead[Any]:
    """What players who look ahead can do in a game."""
    return LOOK_AHEADS.get(game.family, _PLAIN)


def depth_of(name: str) -> int | None:
    """How many plies a player looks ahead, where that is what its name tells."""
    found = re.match(r"(?:minimax|depth):([0-9]{1,2})(?:,|$)", name, re.ASCII)
    return None if found is None else int(found[1])


def known_players() -> str:
    """All forms of names, for messages."""
    return ", ".join(kind.form for kind in KINDS.values())


def open_player(name: str, game: Game[Any], *, seed: int | None = None) -> Player:
    """The player of this name; `PlayerError` if there is none."""
    word, colon, argument = name.partition(":")
    kind = KINDS.get(word)
    if kind is not None and colon and not argument:
        raise PlayerError(f"player {name!r}: nothing follows the colon; write {kind.form}")
    if kind is None:
        raise PlayerError(f"unknown player {name!r}; known: {known_players()}, proof")
    return kind.make(Request(name, argument, game, seed))
