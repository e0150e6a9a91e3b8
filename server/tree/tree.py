"""The tree of one campaign in the database: loading nodes and expanding them.

Expansion goes through the engine for whole batches where a key says everything about
a position, and through the rules of the game, history and all, where it does not.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple
from uuid import UUID

from zermelo.engine import Engine
from zermelo.games import KEY_BYTES, Bounds, Game, Key
from zermelo.server.arrays import array
from zermelo.server.database import Connection
from zermelo.server.tree.identity import (
    ELSEWHERE,
    CampaignId,
    Names,
    NodeId,
    Place,
    find_names,
)
from zermelo.sql import query


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


class _Child(NamedTuple):
    place: Place
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
        rows = self.connection.execute(query("load_nodes"), (array(list(ids)),)).fetchall()
        return [_node(*row) for row in rows]

    def find(self, places: Sequence[Place]) -> list[Node | None]:
        """The nodes of canonical positions; None for those not in the tree."""
        found: dict[Place, Node] = {}
        self._names(places, found)
        return [found.get(place) for place in places]

    def plant(self, start: Any) -> NodeId:
        """Make this position the root, unless it is already; its id."""
        position = self.game.canonical(start)
        place = key, history = self.game.encode(position), self.game.history(position)
        names = self._names([place])
        root = names.ids[place]
        final = self.game.is_final(position)
        bounds = self._score_of(place) if final else self.game.score_range
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
        self._insert_displaced(names)
        return root

    def expand(self, nodes: Sequence[Node], engine: Engine) -> dict[NodeId, Node]:
        """Give frontier nodes their children, in place; every child as the database has it.

        The caller holds the tree lock and backs the nodes up afterwards.
        """
        if not nodes:
            return {}
        below = self._children_of(nodes, engine)
        names = self._names(child.place for children in below for child in children)
        first_parent: dict[NodeId, NodeId] = {}
        children: dict[NodeId, _Child] = {}
        further: list[tuple[NodeId, NodeId]] = []
        edges: list[tuple[NodeId, NodeId]] = []
        for node, met in zip(nodes, below, strict=True):
            ids = []
            for child in met:
                id_ = names.ids[child.place]
                children[id_] = child
                if first_parent.setdefault(id_, node.id) != node.id:
                    further.append((id_, node.id))
                ids.append(id_)
                edges.append((node.id, id_))
            node.children = tuple(ids)
        stored = self._insert(children, first_parent, further)
        self._insert_displaced(names)
        self.connection.execute(
            query("set_children"),
            {
                "parents": array([parent for parent, _ in edges]),
                "children": array([child for _, child in edges]),
            },
        )
        return stored

    def places_below(self, nodes: Sequence[Node], engine: Engine) -> list[list[Place]]:
        """The children of each node, whether or not they are in the tree."""
        return [[child.place for child in met] for met in self._children_of(nodes, engine)]

    def ids_below(self, nodes: Sequence[Node], engine: Engine) -> list[list[NodeId]]:
        """The names of the children of each node, whether or not they are in the tree."""
        below = self.places_below(nodes, engine)
        ids = self._names(place for places in below for place in places).ids
        return [[ids[place] for place in places] for places in below]

    # -- inside -----------------------------------------------------------------------

    def _insert(
        self,
        children: dict[NodeId, _Child],
        first_parent: dict[NodeId, NodeId],
        further: list[tuple[NodeId, NodeId]],
    ) -> dict[NodeId, Node]:
        rules = self.game.score_range
        bounds = [
            self._score_of(child.place) if child.final else rules for child in children.values()
        ]
        rows = self.connection.execute(
            query("insert_children"),
            {
                "campaign": self.campaign,
                "ids": array(list(children)),
                "parents": array([first_parent[id_] for id_ in children]),
                "positions": array([child.place[0].hex() for child in children.values()]),
                "lo": array([b.lo for b in bounds]),
                "hi": array([b.hi for b in bounds]),
                "final": array([child.final for child in children.values()]),
                "further_ids": array([id_ for id_, _ in further]),
                "further_parents": array([parent for _, parent in further]),
            },
        ).fetchall()
        stored = {}
        inserted = 0
        for id_, lo, hi, grandchildren, new in rows:
            key, history = children[id_].place
            stored[id_] = Node(id_, key, history, lo, hi, _tuple(grandchildren))
            inserted += new
        self._insert_histories([(id_, child.place[1]) for id_, child in children.items()])
        self.connection.execute(query("count_tree_nodes"), (inserted, self.campaign))
        return stored

    def _insert_histories(self, histories: list[tuple[NodeId, bytes]]) -> None:
        told = [(id_, history) for id_, history in histories if history]
        if told:
            self.connection.execute(
                query("insert_histories"),
                {"ids": [id_ for id_, _ in told], "histories": [text for _, text in told]},
            )

    def _insert_displaced(self, names: Names) -> None:
        if names.displaced:
            pairs = [
                (names.ids[place], held) for place, ids in names.displaced.items() for held in ids
            ]
            self.connection.execute(
                query("insert_displaced"),
                {"nodes": [node for node, _ in pairs], "held": [held for _, held in pairs]},
            )

    def _names(self, places: Iterable[Place], found: dict[Place, Node] | None = None) -> Names:
        """The names of places; `found` takes the nodes that were met in the tree."""

        def holders(ids: list[NodeId]) -> dict[NodeId, Place]:
            held: dict[NodeId, Place] = {}
            named = self.connection.execute(query("named_nodes"), (array(ids),)).fetchall()
            for campaign, *columns in named:
                node = _node(*columns)
                if campaign != self.campaign:
                    held[node.id] = ELSEWHERE
                    continue
                held[node.id] = place = node.key, node.history
                if found is not None:
                    found[place] = node
            return held

        return find_names(self.campaign, places, holders)

    def _children_of(self, nodes: Sequence[Node], engine: Engine) -> list[list[_Child]]:
        if self.game.path_dependent:
            return [self._children_by_rules(node) for node in nodes]
        below = engine.expand(b"".join(node.key for node in nodes))
        # A second step tells which children are final: they have none themselves.
        final = [count == 0 for count in engine.expand(below.children).counts]
        keys = iter(zip(_split(below.children), final, strict=True))
        return [
            [_Child((key, b""), over) for key, over in _take(keys, count)] for count in below.counts
        ]

    def _children_by_rules(self, node: Node) -> list[_Child]:
        game = self.game
        position = self.position(node)
        below = {}
        for move in game.moves(position):
            child = game.canonical(game.play(position, move))
            below[game.encode(child), game.history(child)] = game.is_final(child)
        return [_Child(place, final) for place, final in sorted(below.items())]

    def _score_of(self, place: Place) -> Bounds:
        score = self.game.score(self.game.decode(*place))
        return Bounds(score, score)


def _node(
    id_: NodeId, position: Key, history: bytes | None, lo: int, hi: int,
    children: list[NodeId] | None,
) -> Node:  # fmt: skip
    return Node(id_, position, history or b"", lo, hi, _tuple(children))


def _split(keys: bytes) -> list[Key]:
    return [keys[at : at + KEY_BYTES] for at in range(0, len(keys), KEY_BYTES)]


def _take(items: Any, count: int) -> list[Any]:
    return [next(items) for _ in range(count)]


def _tuple(children: list[int] | None) -> tuple[int, ...] | None:
    return None if children is None else tuple(children)
