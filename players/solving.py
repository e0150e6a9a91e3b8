"""A player that lets the engine prove its move."""

from __future__ import annotations

from typing import Any

from zermelo.engine import Engine, Status, open_engine
from zermelo.engine.securing import securing_move
from zermelo.games import Game, Move
from zermelo.players.looking import LookingPlayer

DEFAULT_NODES = 20_000_000
HASH_MB = 64
#: How far a player looks ahead that could not prove its move.
FALLBACK_PLIES = 3


class EnginePlayer:
    """Solves the position if that takes no more nodes than it may."""

    def __init__(self, game: Game[Any], nodes: int, name: str) -> None:
        self.name = name
        self._game, self._nodes = game, nodes
        self._engine = open_engine(game, hash_mb=HASH_MB)
        self._looking = LookingPlayer(game, FALLBACK_PLIES, self._engine.guess, name)

    def choose(self, position: Any) -> Move:
        move = solved_move(self._engine, position, self._nodes)
        return self._looking.choose(position) if move is None else move

    def begin(self) -> None:
        pass


def solved_move(engine: Engine, position: Any, nodes: int) -> Move | None:
    """The best move, if the engine proves one within `nodes` nodes."""
    answer = engine.solve(position, node_budget=nodes)
    if answer.status is not Status.SOLVED or not answer.bounds.exact:
        return None
    return answer.move if answer.move is not None else securing_move(
        engine, position, answer.bounds.lo
    )
