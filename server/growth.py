"""Growing a new campaign's tree a number of moves deep, for games too large to start from the root.

Move by move every position is met, folded and hashed in memory; then all rows are
written in the order of their ids, each once and complete. No row is ever updated, so
that the pages of the table and of its index stay full.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from uuid import UUID

from zermelo.engine import Engine
from zermelo.games import KEY_BYTES, Key
from zermelo.server.campaigns import Campaign, CampaignError
from zermelo.server.database import Connection
from zermelo.server.tree.backup import back_up
from zermelo.server.tree.identity import CampaignId, NodeId, node_id
from zermelo.sql import query

CHUNK = 20_000

#: Called after each step with the number of moves made and of the positions reached.
Report = Callable[[int, int], None]


@dataclass(slots=True)
class _Positions:
    """All positions met; columns of equal length, in the order they were met.

    Tens of millions have to fit into memory: what each has is packed into arrays.
    """

    #: Places in the columns, by id.
    places: dict[NodeId, int] = field(default_factory=dict)
    keys: bytearray = field(default_factory=bytearray)
    ids: array[int] = field(default_factory=lambda: array("q"))
    parent: array[int] = field(default_factory=lambda: array("q"))
    #: The rarer further parents, by place in the columns.
    parents: dict[int, array[int]] = field(default_factory=dict)
    #: The children of all that was expanded, and by place where they begin and how many they
    #: are; -1 on the frontier.
    children: array[int] = field(default_factory=lambda: array("q"))
    first_child: array[int] = field(default_factory=lambda: array("q"))
    child_count: array[int] = field(default_factory=lambda: array("h"))
    #: Nodes whose hash was another's name already, with that name.
    displaced: list[tuple[NodeId, NodeId]] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.ids)

    def key(self, place: int) -> Key:
        return bytes(self.keys[place * KEY_BYTES : (place + 1) * KEY_BYTES])

    def meet(self, key: Key, id_: NodeId) -> None:
        self.places[id_] = len(self)
        self.keys += key
        self.ids.append(id_)
        self.parent.append(id_)
        self.first_child.append(0)
        self.child_count.append(-1)

    def below(self, place: int) -> list[NodeId] | None:
        """The children at a place; None on the frontier."""
        count = self.child_count[place]
        if count < 0:
            return None
        first = self.first_child[place]
        return list(self.children[first : first + count])

    def expand(self, place: int, ids: list[NodeId], first_new: int) -> list[int]:
        """Give a place its children; where those are that nobody had until now.

        From `first_new` on, nodes have no parent until they get their first one here.
        """
        self.first_child[place], self.child_count[place] = len(self.children), len(ids)
        self.children.extend(ids)
        parent, new = self.ids[place], []
        for id_ in ids:
            child = self.places[id_]
            if child >= first_new and self.parent[child] == id_:
                self.parent[child] = parent
                new.append(child)
            elif (further := self.parents.get(child)) is not None:
                further.append(parent)
            else:
                self.parents[child] = array("q", (parent,))
        return new

    def final(self) -> Iterator[int]:
        """The places where the game is over."""
        return (place for place, count in enumerate(self.child_count) if not count)


def grow(
    connection: Connection,
    campaign: Campaign,
    engine: Engine,
    moves: int,
    report: Report = lambda moves, count: None,
) -> int:
    """Expand the tree of a campaign that has only its root; the number of its nodes.

    A forced pass does not count as a move.
    """
    game = campaign.game
    if game.path_dependent:
        raise CampaignError(f"{game.short_spec} positions depend on history; it cannot be grown")
    with connection.transaction():
        connection.execute(query("lock_tree"), (campaign.id,))
        removed = connection.execute(
            query("remove_lonely_root"), {"root": campaign.root, "campaign": campaign.id}
        ).rowcount
        if removed != 1:
            raise CampaignError(f"campaign {campaign.name!r} has grown already")
        found = _Positions()
        found.meet(game.encode(game.canonical(campaign.start)), campaign.root)
        names = _Names(connection, campaign.id, found)
        wave: Sequence[int] = array("q", (0,))
        for made in range(moves):
            wave, count = _expand(campaign, engine, found, names, wave)
            report(made, count)
        report(moves, len(wave))
        _find_final(engine, found, wave)
        _write(connection, campaign, found)
        back_up(connection, campaign.id, _above_final(found))
        connection.execute(query("count_tree_nodes"), (len(found) - 1, campaign.id))
    return len(found)


class _Names:
    """The ids of positions, those of other campaigns in mind."""

    def __init__(self, connection: Connection, campaign: CampaignId, found: _Positions) -> None:
        self._connection, self._campaign, self._found = connection, campaign, found

    def of(self, keys: list[Key]) -> list[NodeId]:
        """The ids of positions, whether they were met or not; those that were not are met now,
        without parents."""
        hashes = [node_id(self._campaign, (key, b"")) for key in keys]
        held = self._held(hashes)
        return [self._of(key, id_, held) for key, id_ in zip(keys, hashes, strict=True)]

    def _of(self, key: Key, id_: NodeId, held: set[NodeId]) -> NodeId:
        displaced: list[NodeId] = []
        while True:
            place = self._found.places.get(id_)
            if place is None and id_ not in held:
                self._found.meet(key, id_)
                self._found.displaced += [(id_, name) for name in displaced]
                return id_
            if place is not None and self._found.key(place) == key:
                return id_
            displaced.append(id_)
            id_ = node_id(self._campaign, (key, b""), len(displaced))
            held = self._held([id_])

    def _held(self, ids: list[NodeId]) -> set[NodeId]:
        """Those that are names in the database, which this campaign has none in yet."""
        return {row[0] for row in self._connection.execute(query("held_names"), (ids,))}


def _expand(
    campaign: Campaign, engine: Engine, found: _Positions, names: _Names, wave: Sequence[int]
) -> tuple[Sequence[int], int]:
    """The positions one move further, and how many there were at this one, passes included."""
    following = array("q")
    count = 0
    while wave:
        count += len(wave)
        passes = array("q")
        for at in range(0, len(wave), CHUNK):
            chunk = wave[at : at + CHUNK]
            expansion = engine.expand(b"".join(map(found.key, chunk)))
            first_new = len(found)
            ids = iter(names.of(list(_split(expansion.children))))
            for place, number in zip(chunk, expansion.counts, strict=True):
                below = list(islice(ids, number))
                new = found.expand(place, below, first_new)
                passed = number == 1 and new and _is_pass(campaign, found, place, new[0])
                (passes if passed else following).extend(new)
        wave = passes
    return following, count


def _is_pass(campaign: Campaign, found: _Positions, place: int, child: int) -> bool:
    game = campaign.game
    before, after = (game.decode(found.key(at)) for at in (place, child))
    return game.plies_left(after) >= game.plies_left(before)


def _find_final(engine: Engine, found: _Positions, wave: Sequence[int]) -> None:
    for at in range(0, len(wave), CHUNK):
        chunk = wave[at : at + CHUNK]
        counts = engine.expand(b"".join(map(found.key, chunk))).counts
        for place, count in zip(chunk, counts, strict=True):
            if not count:
                found.expand(place, [], len(found))


def _above_final(found: _Positions) -> set[NodeId]:
    final = list(found.final())
    parents = {found.parent[place] for place in final}
    return parents.union(*(found.parents.get(place, ()) for place in final))


def _write(connection: Connection, campaign: Campaign, found: _Positions) -> None:
    game = campaign.game
    with connection.cursor().copy(query("copy_nodes")) as copy:
        copy.set_types(["int8", "int8", "uuid", "int2", "int2", "int2", "int8[]", "int8[]"])
        for place in sorted(range(len(found)), key=found.ids.__getitem__):
            key, below = found.key(place), found.below(place)
            lo, hi = -game.max_score, game.max_score
            if below == []:
                lo = hi = game.score(game.decode(key))
            parents = found.parents.get(place)
            copy.write_row((
                found.ids[place], found.parent[place], UUID(bytes=key), campaign.id, lo, hi,
                below, None if parents is None else list(parents),
            ))
    if found.displaced:
        connection.execute(
            query("insert_displaced"),
            {
                "nodes": [node for node, _ in found.displaced],
                "held": [held for _, held in found.displaced],
            },
        )


def _split(keys: bytes) -> Iterator[Key]:
    return (keys[at : at + KEY_BYTES] for at in range(0, len(keys), KEY_BYTES))
