"""Who can play: people are in the command line, everybody else is here.

A player is named by a word, as `zermelo match` takes it::

    random      any legal move
    greedy      the move after which the board looks best at once
    depth:N     the best move N plies ahead, by the engine's evaluation
    engine:N    proves its move with at most N nodes; looks ahead where that is too little
    proof       perfect play from a campaign's tree, and the engine below its frontier
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

from zermelo import ZermeloError
from zermelo.engine import Engine, Status, open_engine
from zermelo.engine.securing import securing_move
from zermelo.games import Game, Move
from zermelo.research.replies import Worth

if TYPE_CHECKING:
    from zermelo.research.tree_queries import TreeQueries

DEFAULT_NODES = 20_000_000
DEEPEST = 10
HASH_MB = 64
#: How far a player looks ahead that could not prove its move.
FALLBACK_PLIES = 3
_COUNTED = re.compile(r"(depth|engine):([0-9]{1,12})", re.ASCII)


class PlayerError(ZermeloError, ValueError):
    """There is no such player, or it cannot play this game."""

    exit_code = 2


class Player(Protocol):
    name: str

    def choose(self, position: Any) -> Move:
        """A legal move; only asked where there is one."""

    def begin(self) -> None:
        """A new game begins."""


def open_player(
    name: str, game: Game[Any], *, seed: int | None = None, queries: TreeQueries | None = None
) -> Player:
    """The player of this name; `queries` are the tree that ``proof`` plays from."""
    if name == "random":
        return RandomPlayer(game, seed)
    if name == "greedy":
        return LookingPlayer(game, 1, game.evaluate, name)
    if name == "proof":
        if queries is None:
            raise PlayerError("the player 'proof' needs a campaign; name it with --campaign")
        if queries.game != game:
            raise PlayerError(
                f"campaign {queries.campaign.name!r} is of {queries.game.short_spec},"
                f" not of {game.short_spec}"
            )
        return ProofPlayer(queries, DEFAULT_NODES)
    if name == "engine":
        return EnginePlayer(game, DEFAULT_NODES, name)
    matched = _COUNTED.fullmatch(name)
    if matched is None:
        raise PlayerError(
            f"unknown player {name!r}; known: random, greedy, depth:N, engine, engine:N, proof"
        )
    number = int(matched[2])
    if matched[1] == "engine":
        return EnginePlayer(game, max(1, number), name)
    if not 1 <= number <= DEEPEST:
        raise PlayerError(f"player {name!r}: the depth must be 1 to {DEEPEST}")
    return LookingPlayer(game, number, open_engine(game, hash_mb=1).guess, name)


class RandomPlayer:
    def __init__(self, game: Game[Any], seed: int | None = None) -> None:
        self.name = "random"
        self._game = game
        self._random = random.Random(seed)  # noqa: S311

    def choose(self, position: Any) -> Move:
        return self._random.choice(self._game.moves(position))

    def begin(self) -> None:
        pass


class LookingPlayer:
    """Looks `plies` ahead, and believes an evaluation there."""

    def __init__(
        self, game: Game[Any], plies: int, evaluate: Callable[[Any], int], name: str
    ) -> None:
        self.name = name
        self._game, self._plies, self._evaluate = game, plies, evaluate

    def choose(self, position: Any) -> Move:
        game = self._game
        limit = game.max_score + 1
        best, chosen = -limit, None
        for move in game.moves(position):
            score = -self._look(game.play(position, move), self._plies - 1, -limit, -best)
            if chosen is None or score > best:
                best, chosen = score, move
        if chosen is None:
            raise PlayerError("the game is over")
        return chosen

    def begin(self) -> None:
        pass

    def _look(self, position: Any, plies: int, alpha: int, beta: int) -> int:
        game = self._game
        moves = game.moves(position)
        if not moves:
            return game.score(position)
        if not plies:
            return self._evaluate(position)
        for move in moves:
            alpha = max(alpha, -self._look(game.play(position, move), plies - 1, -beta, -alpha))
            if alpha >= beta:
                break
        return alpha


class EnginePlayer:
    """Solves the position if that takes no more nodes than it may."""

    def __init__(self, game: Game[Any], nodes: int, name: str) -> None:
        self.name = name
        self._game, self._nodes = game, nodes
        self._engine = open_engine(game, hash_mb=HASH_MB)
        self._looking = LookingPlayer(game, FALLBACK_PLIES, self._engine.guess, name)

    def choose(self, position: Any) -> Move:
        return _solved_move(self._engine, position, self._nodes) or self._looking.choose(position)

    def begin(self) -> None:
        pass


class ProofPlayer:
    """Never gives up what is proved.

    Where the tree has a move that is best, or secures what is proved, it is played. Below
    the frontier the engine must keep the bound that was secured last.
    """

    def __init__(self, queries: TreeQueries, nodes: int) -> None:
        self.name = "proof"
        self._queries, self._nodes = queries, nodes
        self._game = queries.game
        self._engine = open_engine(self._game, hash_mb=HASH_MB)
        self._looking = LookingPlayer(
            self._game, FALLBACK_PLIES, self._engine.guess, self.name
        )
        self._secured = -self._game.max_score
        self._chosen: dict[Any, tuple[Move | None, Worth]] = {}

    def begin(self) -> None:
        self._secured = -self._game.max_score

    def choose(self, position: Any) -> Move:
        if position not in self._chosen:
            self._chosen[position] = self._queries.proved_move(position)
        move, worth = self._chosen[position]
        self._secured = max(self._secured, worth.lo)
        if move is not None:
            return move
        solved = _solved_move(self._engine, position, self._nodes)
        if solved is not None:
            return solved
        if self._secured > -self._game.max_score:
            # It is proved that there is such a move, so the search may take what it takes.
            kept = securing_move(self._engine, position, self._secured)
            if kept is not None:
                return kept
        return self._looking.choose(position)


def _solved_move(engine: Engine, position: Any, nodes: int) -> Move | None:
    """The best move, if the engine proves one within `nodes` nodes."""
    answer = engine.solve(position, node_budget=nodes)
    if answer.status is not Status.SOLVED or not answer.bounds.exact:
        return None
    return answer.move if answer.move is not None else securing_move(
        engine, position, answer.bounds.lo
    )
