"""Growing a new campaign's tree a number of moves deep, for games too large to start from the root.

Move by move every position is met, folded and hashed in memory; then all rows are
written in the order of their ids, each once and complete. No row is ever updated, so
that the pages of the table and of its index stay full.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from uuid import UUID

from zermelo.engine import Engine
from zermelo.games import KEY_BYTES, Key
from zermelo.server.campaigns import Campaign, CampaignError
from zermelo.server.database import Connection
from zermelo.server.tree.backup import back_up
from zermelo.server.tree.identity import NodeId, node_id
from zermelo.sql import query

CHUNK = 20_000

#: Called after each step with the number of moves made and of the positions reached.
Report = Callable[[int, int], None]


@dataclass(slots=True)
class _Positions:
    """All positions met; columns of equal length, in the order they were met."""

    places: dict[Key, int] = field(default_factory=dict)
    keys: list[Key] = field(default_factory=list)
    ids: array[int] = field(default_factory=lambda: array("q"))
    parent: array[int] = field(default_factory=lambda: array("q"))
    #: The rarer further parents, by place in the columns.
    parents: dict[int, list[NodeId]] = field(default_factory=dict)
    #: By place, in the order of expansion; empty where the game is over.
    children: dict[int, list[NodeId]] = field(default_factory=dict)

    def meet(self, key: Key, id_: NodeId, parent: NodeId) -> None:
        self.places[key] = len(self.keys)
        self.keys.append(key)
        self.ids.append(id_)
        self.parent.append(parent)


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
        found.meet(game.encode(game.canonical(campaign.start)), campaign.root, campaign.root)
        wave = [0]
        for made in range(moves):
            wave, count = _expand(campaign, engine, found, wave)
            report(made, count)
        report(moves, len(wave))
        _find_final(engine, found, wave)
        _write(connection, campaign, found)
        back_up(connection, campaign.id, _above_final(found))
        connection.execute(query("count_tree_nodes"), (len(found.keys) - 1, campaign.id))
    return len(found.keys)


def _expand(
    campaign: Campaign, engine: Engine, found: _Positions, wave: list[int]
) -> tuple[list[int], int]:
    """The positions one move further, and how many there were at this one, passes included."""
    following: list[int] = []
    count = 0
    while wave:
        count += len(wave)
        passes: list[int] = []
        for at in range(0, len(wave), CHUNK):
            chunk = wave[at : at + CHUNK]
            expansion = engine.expand(b"".join(found.keys[place] for place in chunk))
            children = _split(expansion.children)
            for place, number in zip(chunk, expansion.counts, strict=True):
                first = len(found.keys)
                _meet(campaign, found, place, [next(children) for _ in range(number)])
                new = range(first, len(found.keys))
                passed = number == 1 and new and _is_pass(campaign, found, place, first)
                (passes if passed else following).extend(new)
        wave = passes
    return following, count


def _meet(campaign: Campaign, found: _Positions, place: int, children: list[Key]) -> None:
    parent = found.ids[place]
    ids = []
    for key in children:
        known = found.places.get(key)
        if known is None:
            id_ = node_id(campaign.id, key)
            found.meet(key, id_, parent)
        else:
            id_ = found.ids[known]
            found.parents.setdefault(known, []).append(parent)
        ids.append(id_)
    found.children[place] = ids


def _is_pass(campaign: Campaign, found: _Positions, place: int, child: int) -> bool:
    game = campaign.game
    before, after = (game.decode(found.keys[at]) for at in (place, child))
    return game.plies_left(after) >= game.plies_left(before)


def _find_final(engine: Engine, found: _Positions, wave: list[int]) -> None:
    for at in range(0, len(wave), CHUNK):
        chunk = wave[at : at + CHUNK]
        counts = engine.expand(b"".join(found.keys[place] for place in chunk)).counts
        found.children.update(
            (place, []) for place, count in zip(chunk, counts, strict=True) if not count
        )


def _above_final(found: _Positions) -> set[NodeId]:
    final = [place for place, children in found.children.items() if not children]
    parents = {found.parent[place] for place in final}
    return parents.union(*(found.parents.get(place, ()) for place in final))


def _write(connection: Connection, campaign: Campaign, found: _Positions) -> None:
    game = campaign.game
    with connection.cursor().copy(query("copy_nodes")) as copy:
        copy.set_types(["int8", "int8", "uuid", "int2", "int2", "int2", "int8[]", "int8[]"])
        for place in sorted(range(len(found.keys)), key=found.ids.__getitem__):
            key, below = found.keys[place], found.children.get(place)
            lo, hi = -game.max_score, game.max_score
            if below == []:
                lo = hi = game.score(game.decode(key))
            copy.write_row((
                found.ids[place], found.parent[place], UUID(bytes=key), campaign.id, lo, hi,
                below, found.parents.get(place),
            ))


def _split(keys: bytes) -> Iterator[Key]:
    return (keys[at : at + KEY_BYTES] for at in range(0, len(keys), KEY_BYTES))
