"""Monte Carlo tree search: UCT, by playouts or by time."""

from __future__ import annotations

import math
import time
from functools import partial
from typing import Any

from zermelo.games import Game, Move
from zermelo.players.evaluations import random_games

EXPLORATION = 1.4
#: Random games from each new leaf.
GAMES_A_LEAF = 4


class _Node:
    """A position with the results of the games through it, for the side that moved there."""

    __slots__ = ("children", "games", "moves", "position", "wins")

    def __init__(self, position: Any, moves: list[Move]) -> None:
        self.position = position
        self.moves = moves
        self.children: list[_Node] = []
        self.games = 0
        self.wins = 0.0


class MonteCarloPlayer:
    """At most `playouts` random games for a move, or as many as fit into `seconds`."""

    def __init__(
        self, game: Game[Any], name: str, *, playouts: int | None = None,
        seconds: float | None = None, seed: int | None = None,
    ) -> None:
        self.name = name
        self._game, self._playouts, self._seconds = game, playouts, seconds
        self._random_games = random_games(game)
        self._seed = 1 if seed is None else seed + 1

    def begin(self) -> None:
        pass

    def choose(self, position: Any) -> Move:
        moves = self._game.moves(position)
        if len(moves) == 1:
            return moves[0]
        root = _Node(position, moves)
        deadline = None if self._seconds is None else time.monotonic() + self._seconds
        while True:
            if deadline is not None and time.monotonic() >= deadline and root.children:
                break
            if self._playouts is not None and root.games >= self._playouts:
                break
            self._descend(root)
        best = max(range(len(root.children)), key=lambda at: root.children[at].games)
        return moves[best]

    def _descend(self, root: _Node) -> None:
        """One way down the tree, a new leaf, random games from there, and the results back up."""
        path, node = [root], root
        while node.moves and len(node.children) == len(node.moves):
            node = max(node.children, key=partial(_worth, node))
            path.append(node)
        if node.moves:
            after = self._game.play(node.position, node.moves[len(node.children)])
            node.children.append(_Node(after, self._game.moves(after)))
            node = node.children[-1]
            path.append(node)
        games, gained = self._outcome(node)
        for above in reversed(path):
            above.games += games
            above.wins += gained
            gained = games - gained

    def _outcome(self, node: _Node) -> tuple[int, float]:
        """Games and the wins in them of the side that moved to this node; a draw is half a win."""
        if not node.moves:
            score = self._game.score(node.position)
            return GAMES_A_LEAF, GAMES_A_LEAF * (0.5 if score == 0 else float(score < 0))
        self._seed += 1
        wins, losses = self._random_games(node.position, GAMES_A_LEAF, self._seed)
        return GAMES_A_LEAF, losses + (GAMES_A_LEAF - wins - losses) / 2


def _worth(above: _Node, child: _Node) -> float:
    """The upper confidence bound of a move."""
    return child.wins / child.games + EXPLORATION * math.sqrt(math.log(above.games) / child.games)
