"""The best line of a tree: what `solve`, `campaign show` and `query line` print."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from zermelo.games import Move
from zermelo.server.tree.tree import Node, Tree


class LineMove(NamedTuple):
    """A move of the line, and the node in which it is made."""

    node: Node
    position: Any
    move: Move


class Line(NamedTuple):
    moves: list[LineMove]
    #: Where the tree ends, or where it does not show which move keeps what is proved.
    end: Node
    position: Any


def best_line(tree: Tree, start: Any, node: Node) -> Line:
    """Best play from a node as far as the tree proves it: no move gives up a proved bound.

    `start` is the node's position as the caller sees it, so that moves keep their names. The
    side that can secure nothing resists with the move that leaves it the best upper bound.
    """
    position, moves = start, list[LineMove]()
    while node.children and node.bounds != tree.game.score_range:
        keeping = [child for child in tree.load(node.children) if -child.hi >= node.lo]
        if not keeping:  # the bound was proved for the node itself, by a search below it
            break
        chosen = _choose(node, keeping)
        move, after = _move_to(tree, position, chosen)
        moves.append(LineMove(node, position, move))
        position, node = after, chosen
    return Line(moves, node, position)


def _choose(node: Node, keeping: Sequence[Node]) -> Node:
    if node.bounds.exact:
        # All these are worth the same; the one of which most is proved carries the line on.
        return min(keeping, key=lambda child: (child.hi, -child.lo, child.id))
    return min(keeping, key=lambda child: (child.lo, child.hi, child.id))


def _move_to(tree: Tree, position: Any, child: Node) -> tuple[Move, Any]:
    """The move that leads to a child, and the position after it."""
    game = tree.game
    for move in game.moves(position):
        after = game.play(position, move)
        canonical = game.canonical(after)
        if (game.encode(canonical), game.history(canonical)) == (child.key, child.history):
            return move, after
    raise ValueError(f"no move leads from {game.format(position)} to node {child.id}")
