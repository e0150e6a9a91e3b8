"""Splitting: a node that is too hard to be asked whole is expanded.

What exhausted searches had proved below it is not lost: bounds of its children become evidence,
bounds of its grandchildren the seeds of the workunits about its children.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from zermelo.engine import Efforts, Engine
from zermelo.engine.capabilities import AppraisesMany
from zermelo.games import Bounds
from zermelo.proto.known import MOST_SEED_BYTES, KnownBounds, pack, unpack
from zermelo.server.arrays import array
from zermelo.server.campaigns import Campaign
from zermelo.server.database import Connection
from zermelo.server.planning.questions import PlanNode, Question, Questions
from zermelo.server.tree.backup import Evidence, add_evidence, back_up
from zermelo.server.tree.identity import NodeId, Place
from zermelo.server.tree.tree import Node, Tree
from zermelo.server.trust.voting import question_alone
from zermelo.server.vocabulary import Replication
from zermelo.sql import query


class Seeds(NamedTuple):
    """Bounds proved below a node, and the result that proves them."""

    known: bytes
    result: int


class _Told(NamedTuple):
    """Bounds of many nodes, by one result."""

    known: dict[Place, KnownBounds]
    result: int


class Splitter:
    def __init__(
        self, connection: Connection, campaign: Campaign, tree: Tree, engine: Engine
    ) -> None:
        self._connection, self._campaign = connection, campaign.id
        self._tree, self._engine = tree, engine
        #: The same engine, where it looks at many positions at once.
        self._appraiser = engine if isinstance(engine, AppraisesMany) else None
        self._compared = campaign.replication is not Replication.NONE
        #: What searches proved below the parent of a node, some of it below the node.
        self._told: dict[NodeId, _Told] = {}

    def forget(self) -> None:
        """Nothing that was told before is to be believed."""
        self._told.clear()

    def seeds_of(self, nodes: list[NodeId]) -> dict[NodeId, Seeds]:
        """What is known below nodes that are about to be asked, for those where it is anything."""
        told = self._tree.load([node for node in nodes if node in self._told])
        seeds = {}
        for node, below in zip(told, self._tree.places_below(told, self._engine), strict=True):
            known, result = self._told[node.id]
            if items := [known[place] for place in below if place in known]:
                seeds[node.id] = Seeds(pack(items, MOST_SEED_BYTES), result)
        return seeds

    def split(self, questions: Questions, nodes: list[NodeId]) -> None:
        """Expand nodes, with the bounds that earlier searches proved below them.

        For nodes that are expanded already, only those bounds are taken over.
        """
        if not nodes:
            return
        parents = self._tree.load(nodes)
        children = self._tree.expand(
            [node for node in parents if node.children is None], self._engine
        )
        evidence = self._gather_proved(parents, children)
        changed = add_evidence(self._connection, self._campaign, evidence)
        changed |= back_up(self._connection, self._campaign, self._told_by(parents, children))
        self._look_below(questions, parents, children)
        for id_ in nodes:
            questions.open(id_)
        for node in self._tree.load(changed):
            questions.update_bounds(node.id, node.lo, node.hi)

    def _told_by(self, parents: list[Node], children: dict[NodeId, Node]) -> list[NodeId]:
        """The parents that children may tell anything; children of whom nothing is known do not."""
        rules = self._tree.game.score_range
        silent = {
            child.id for child in children.values() if child.lo == rules.lo and child.hi == rules.hi
        }
        return [node.id for node in parents if not silent.issuperset(node.children or ())]

    def open(self, questions: Questions, nodes: list[NodeId]) -> None:
        """Look below nodes that the tree has expanded."""
        unknown = [node for node in nodes if questions.nodes[node].children is None]
        self._look_below(questions, self._tree.load(unknown), {})
        for node in nodes:
            questions.open(node)

    def _look_below(
        self, questions: Questions, parents: list[Node], children: dict[NodeId, Node]
    ) -> None:
        """Let planning go on at the children of nodes; those `children` are at hand."""
        closed = [node for node in parents if questions.nodes[node.id].children is None]
        below = dict.fromkeys(id_ for node in closed for id_ in node.children or ())
        new = [id_ for id_ in below if id_ not in questions.nodes]
        loaded = self._tree.load([id_ for id_ in new if id_ not in children])
        children = children | {node.id: node for node in loaded}
        for planned in self._plan_nodes([children[id_] for id_ in new]):
            questions.add_node(planned)
        for node in closed:
            questions.expand(node.id, [questions.nodes[id_] for id_ in node.children or ()])

    def plan_root(self, root: Node) -> PlanNode:
        """The root with its hints. It is looked at more closely than others: a first test that is
        off by two discs costs a whole test more."""
        (planned,) = self._plan_nodes([root])
        if planned.position is not None:
            planned.guess = self._engine.guess(planned.position)
        return planned

    def _plan_nodes(self, nodes: list[Node]) -> list[PlanNode]:
        """The nodes with their hints, which those whose value is known do not need."""
        planned = [
            PlanNode(
                node.id, node.lo, node.hi, guess=node.lo, plies_left=0, expanded=bool(node.children)
            )
            for node in nodes
        ]
        hinted = []
        for node, known in zip(nodes, planned, strict=True):
            if node.lo < node.hi:
                known.position = self._tree.position(node)
                known.plies_left = self._tree.game.plies_left(known.position)
                hinted.append(known)
        for known, guess in zip(hinted, self._guess_all(hinted), strict=True):
            known.guess = guess
        return planned

    def _guess_all(self, nodes: list[PlanNode]) -> list[int]:
        positions = [node.position for node in nodes]
        if self._appraiser is not None:
            return self._appraiser.guess_all(positions)
        return [self._engine.guess(position) for position in positions]

    def appraise(self, leaves: Sequence[Question]) -> Sequence[Efforts | None]:
        """What the engine thinks that either answer to each of them takes."""
        asked = [(leaf.node.position, leaf.threshold) for leaf in leaves]
        if self._appraiser is not None:
            told = self._appraiser.efforts_all(asked)
            return told if told is not None else [None] * len(asked)
        return [self._engine.efforts(position, threshold) for position, threshold in asked]

    def _gather_proved(
        self, parents: list[Node], children: dict[NodeId, Node]
    ) -> list[Evidence]:
        """Evidence about the children; what is about grandchildren is kept for their seeds.

        Those `children` are at hand; the others are loaded if they are needed.
        """
        rows = self._connection.execute(
            query("proved_below"), {"nodes": array([node.id for node in parents])}
        ).fetchall()
        if not rows:
            return []
        told = {row[0] for row in rows}
        by_id = {parent.id: parent for parent in parents if parent.id in told}
        missing = [
            id_ for parent in by_id.values() for id_ in parent.children or ()
            if id_ not in children
        ]  # fmt: skip
        children = children | {node.id: node for node in self._tree.load(missing)}
        evidence: dict[tuple[NodeId, int], Evidence] = {}
        for node, threshold, result, proved in rows:
            known: dict[Place, KnownBounds] = {
                (item.key, item.history): item for item in unpack(proved)
            }
            below = by_id[node].children or ()
            for id_ in below:
                child = children[id_]
                found = known.pop((child.key, child.history), None)
                item = None if found is None else self._checkable(found, 1 - threshold)
                if item is not None:
                    evidence[id_, result] = Evidence(id_, result, item.lo, item.hi)
            known = {
                place: item
                for place, bounds in known.items()
                if (item := self._checkable(bounds, threshold)) is not None
            }
            if known:
                self._told.update((id_, _Told(known, result)) for id_ in below)
        return list(evidence.values())

    def _checkable(self, item: KnownBounds, threshold: int) -> KnownBounds | None:
        """What is believed of bounds below an exhausted search; None when that is nothing.

        Where answers are compared, only what another host's search for the same question
        would have to agree with.
        """
        if not self._compared:
            return item
        rules = self._tree.game.score_range
        bounds = question_alone(Bounds(item.lo, item.hi), threshold, rules)
        return None if bounds == rules else item._replace(lo=bounds.lo, hi=bounds.hi)
