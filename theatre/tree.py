"""The tree of a small game, unfolded: a position that is reached in two ways stands there twice."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Any

from zermelo.games import Game, GameError, Move

#: More nodes than these are neither drawn nor understood.
MOST_NODES = 20_000


class TheatreError(GameError):
    """This cannot be shown; the message says what can."""


@dataclass(slots=True)
class Node:
    """One position at one place of the tree, numbered in the order of a walk, parents first."""

    number: int
    parent: int | None
    #: The move that leads here; None at the root.
    move: Move | None
    position: Any
    ply: int
    children: list[int] = field(default_factory=list)

    @property
    def is_max(self) -> bool:
        """Whether MAX, who moves at the root, is to move here."""
        return self.ply % 2 == 0


@dataclass(frozen=True, slots=True)
class _Facts:
    """What the rules say about a position, asked once however often it occurs."""

    below: tuple[tuple[Move, Any], ...]
    label: str
    identity: bytes


class GameTree:
    """Every line of play from one position, to its end or to a horizon."""

    def __init__(self, game: Game[Any], root: Any = None, horizon: int | None = None) -> None:
        """`horizon` is how many plies below the root to show; `TheatreError` for large trees."""
        self.game, self.horizon = game, horizon
        self.nodes: list[Node] = []
        self._known: dict[Any, _Facts] = {}
        self._move_names = cache(game.move_name)
        self._grow(game.initial() if root is None else root)

    def __len__(self) -> int:
        return len(self.nodes)

    def __getitem__(self, number: int) -> Node:
        return self.nodes[number]

    @cached_property
    def depth(self) -> int:
        """The plies of the longest line."""
        return max(node.ply for node in self.nodes)

    def is_end(self, number: int) -> bool:
        """Whether the game is over here."""
        return not self._facts(self.nodes[number].position).below

    def label(self, number: int) -> str:
        """The position in a few characters."""
        return self._facts(self.nodes[number].position).label

    def move_name(self, number: int) -> str:
        """The move that leads to this node; empty at the root."""
        move = self.nodes[number].move
        return "" if move is None else self._move_names(move)

    def identity(self, number: int) -> bytes:
        """Equal for nodes with the same game below them, up to symmetry and exchange of sides."""
        return self._facts(self.nodes[number].position).identity

    @cached_property
    def representatives(self) -> list[int]:
        """For each node the first one that is the same position, as if folded onto it."""
        first: dict[bytes, int] = {}
        return [first.setdefault(self.identity(number), number) for number in range(len(self))]

    def walk(self, names: Sequence[str]) -> list[int]:
        """The nodes that these moves pass, the root first; `GameError` for an illegal one."""
        path = [0]
        for name in names:
            node = self.nodes[path[-1]]
            move = self.game.find_move(node.position, name)
            below = [child for child in node.children if self.nodes[child].move == move]
            if not below:
                raise TheatreError(f"{name} leads beyond the horizon of {self.horizon} plies")
            path.append(below[0])
        return path

    def path(self, number: int) -> list[int]:
        """The nodes from the root to this one, both included."""
        path = [number]
        while (parent := self.nodes[path[-1]].parent) is not None:
            path.append(parent)
        return path[::-1]

    def subtree(self, number: int) -> range:
        """The numbers of a node and of all nodes below it: they follow each other."""
        return range(number, self._ends[number])

    @cached_property
    def _ends(self) -> list[int]:
        """Behind which number the subtree of each node ends."""
        ends = [node.number + 1 for node in self.nodes]
        for node in reversed(self.nodes):
            if node.parent is not None:
                ends[node.parent] = max(ends[node.parent], ends[node.number])
        return ends

    def _grow(self, root: Any) -> None:
        waiting: list[tuple[int | None, Move | None, Any, int]] = [(None, None, root, 0)]
        while waiting:
            parent, move, position, ply = waiting.pop()
            number = len(self.nodes)
            if number >= MOST_NODES:
                raise TheatreError(
                    f"the tree of {self.game.short_spec} has more than {MOST_NODES:,} nodes; take"
                    " a smaller game, a later position, or a horizon"
                )
            self.nodes.append(Node(number, parent, move, position, ply))
            if parent is not None:
                self.nodes[parent].children.append(number)
            if self.horizon is None or ply < self.horizon:
                waiting += [
                    (number, move, below, ply + 1)
                    for move, below in reversed(self._facts(position).below)
                ]

    def _facts(self, position: Any) -> _Facts:
        if position not in self._known:
            game = self.game
            canonical = game.canonical(position)
            self._known[position] = _Facts(
                tuple((move, game.play(position, move)) for move in game.moves(position)),
                game.format(position),
                game.encode(canonical) + game.history(canonical),
            )
        return self._known[position]
