"""The tree of one campaign in the database: loading nodes and expanding them.

Expansion goes through the engine for whole batches where a key says everything about
a position, and through the rules of the game, history and all, where it does not.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from zermelo import ZermeloError
from zermelo.engine import Engine
from zermelo.games import KEY_BYTES, Bounds, Game, Key
from zermelo.server.database import Connection
from zermelo.server.tree.identity import CampaignId, NodeId, node_id
from zermelo.sql import query


class CollisionError(ZermeloError):
    """Two positions have the same node id; nothing was written."""


@dataclass(slots=True)
class Node:
    """A node as the database has it. `children` is None on the frontier."""

    id: NodeId
    key: Key
    history: bytes
    lo: int
    hi: int
    children: tuple[NodeId, ...] | None

    @property
    def bounds(self) -> Bounds:
        return Bounds(self.lo, self.hi)


@dataclass(frozen=True, slots=True)
class _Child:
    key: Key
    history: bytes
    final: bool


class Tree:
    """Reads and grows the tree of one campaign; bounds are the back-up's business."""

    def __init__(self, connection: Connection, campaign: CampaignId, game: Game[Any]) -> None:
        self.connection, self.campaign, self.game = connection, campaign, game

    def lock(self) -> None:
        """Keep every other writer off this tree until the transaction ends."""
        self.connection.execute(query("lock_tree"), (self.campaign,))

    def position(self, node: Node) -> Any:
        return self.game.decode(node.key, node.history)

    def load(self, ids: Iterable[NodeId]) -> list[Node]:
        rows = self.connection.execute(query("load_nodes"), (list(ids),))
        return [
            Node(id_, position.bytes, history or b"", lo, hi, _tuple(children))
            for id_, position, history, lo, hi, children in rows
        ]

    def plant(self, start: Any) -> NodeId:
        """Make this position the root, unless it is already; its id."""
        position = self.game.canonical(start)
        key, history = self.game.encode(position), self.game.history(position)
        root = node_id(self.campaign, key, history)
        final = self.game.is_final(position)
        bounds = self._score_of(key, history) if final else self.game.score_range
        self.connection.execute(
            query("insert_root"),
            {
                "id": root,
                "position": UUID(bytes=key),
                "campaign": self.campaign,
                "lo": bounds.lo,
                "hi": bounds.hi,
                "children": [] if final else None,
            },
        )
        self._insert_histories([(root, history)])
        return root

    def expand(self, nodes: Sequence[Node], engine: Engine) -> dict[NodeId, Node]:
        """Give frontier nodes their children, in place; every child as the database has it.

        The caller holds the tree lock and backs the nodes up afterwards.
        """
        if not nodes:
            return {}
        first_parent: dict[NodeId, NodeId] = {}
        children: dict[NodeId, _Child] = {}
        further: list[tuple[NodeId, NodeId]] = []
        edges: list[tuple[NodeId, NodeId]] = []
        for node, below in zip(nodes, self._children_of(nodes, engine), strict=True):
            ids = []
            for child in below:
                id_ = node_id(self.campaign, child.key, child.history)
                known = children.setdefault(id_, child)
                if (known.key, known.history) != (child.key, child.history):
                    raise CollisionError(f"two positions share the node id {id_}")
                if first_parent.setdefault(id_, node.id) != node.id:
                    further.append((id_, node.id))
                ids.append(id_)
                edges.append((node.id, id_))
            node.children = tuple(ids)
        stored = self._insert(children, first_parent, further)
        self.connection.execute(
            query("set_children"),
            {"parents": [edge[0] for edge in edges], "children": [edge[1] for edge in edges]},
        )
        return stored

    def ids_below(self, nodes: Sequence[Node], engine: Engine) -> list[list[NodeId]]:
        """The ids of each node's children, whether or not they are in the tree."""
        return [
            [node_id(self.campaign, child.key, child.history) for child in below]
            for below in self._children_of(nodes, engine)
        ]

    # -- inside -----------------------------------------------------------------------

    def _insert(
        self,
        children: dict[NodeId, _Child],
        first_parent: dict[NodeId, NodeId],
        further: list[tuple[NodeId, NodeId]],
    ) -> dict[NodeId, Node]:
        bounds = [
            self._score_of(child.key, child.history) if child.final else self.game.score_range
            for child in children.values()
        ]
        rows = self.connection.execute(
            query("insert_children"),
            {
                "campaign": self.campaign,
                "ids": list(children),
                "parents": [first_parent[id_] for id_ in children],
                "positions": [UUID(bytes=child.key) for child in children.values()],
                "lo": [b.lo for b in bounds],
                "hi": [b.hi for b in bounds],
                "final": [child.final for child in children.values()],
                "further_ids": [id_ for id_, _ in further],
                "further_parents": [parent for _, parent in further],
            },
        )
        stored = {}
        inserted = 0
        for id_, position, lo, hi, grandchildren, new in rows:
            child = children[id_]
            if position.bytes != child.key:
                raise CollisionError(f"two positions share the node id {id_}")
            stored[id_] = Node(id_, child.key, child.history, lo, hi, _tuple(grandchildren))
            inserted += new
        self._insert_histories([(id_, child.history) for id_, child in children.items()])
        self.connection.execute(query("count_tree_nodes"), (inserted, self.campaign))
        return stored

    def _insert_histories(self, histories: list[tuple[NodeId, bytes]]) -> None:
        told = [(id_, history) for id_, history in histories if history]
        if told:
            self.connection.execute(
                query("insert_histories"),
                {"ids": [id_ for id_, _ in told], "histories": [text for _, text in told]},
            )

    def _children_of(self, nodes: Sequence[Node], engine: Engine) -> list[list[_Child]]:
        if self.game.path_dependent:
            return [self._children_by_rules(node) for node in nodes]
        below = engine.expand(b"".join(node.key for node in nodes))
        # A second step tells which children are final: they have none themselves.
        final = [count == 0 for count in engine.expand(below.children).counts]
        keys = iter(zip(_split(below.children), final, strict=True))
        return [
            [_Child(key, b"", over) for key, over in _take(keys, count)] for count in below.counts
        ]

    def _children_by_rules(self, node: Node) -> list[_Child]:
        game = self.game
        position = self.position(node)
        below = {}
        for move in game.moves(position):
            child = game.canonical(game.play(position, move))
            below[game.encode(child), game.history(child)] = game.is_final(child)
        return [_Child(key, history, final) for (key, history), final in sorted(below.items())]

    def _score_of(self, key: Key, history: bytes) -> Bounds:
        score = self.game.score(self.game.decode(key, history))
        return Bounds(score, score)


def _split(keys: bytes) -> list[Key]:
    return [keys[at : at + KEY_BYTES] for at in range(0, len(keys), KEY_BYTES)]


def _take(items: Any, count: int) -> list[Any]:
    return [next(items) for _ in range(count)]


def _tuple(children: list[int] | None) -> tuple[int, ...] | None:
    return None if children is None else tuple(children)
