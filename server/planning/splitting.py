"""Splitting: a node that is too hard to be asked whole is expanded.

What exhausted searches had proved below it is not lost: bounds of its children become evidence,
bounds of its grandchildren the seeds of the workunits about its children.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

from zermelo.engine import Engine
from zermelo.engine.capabilities import AppraisesMany
from zermelo.games import Bounds
from zermelo.proto.known import KnownBounds, pack, unpack
from zermelo.server.campaigns import Campaign
from zermelo.server.database import Connection
from zermelo.server.planning.questions import PlanNode, Questions
from zermelo.server.tree.backup import Evidence, add_evidence, back_up
from zermelo.server.tree.identity import NodeId, node_id
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

    known: dict[NodeId, KnownBounds]
    result: int


class Splitter:
    def __init__(
        self, connection: Connection, campaign: Campaign, tree: Tree, engine: Engine
    ) -> None:
        self._connection, self._campaign = connection, campaign.id
        self._tree, self._engine = tree, engine
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
        for node, below in zip(told, self._tree.ids_below(told, self._engine), strict=True):
            known, result = self._told[node.id]
            if items := [known[id_] for id_ in below if id_ in known]:
                seeds[node.id] = Seeds(pack(items), result)
        return seeds

    def split(self, questions: Questions, nodes: list[NodeId]) -> None:
        """Expand nodes, with the bounds that earlier searches proved below them.

        For nodes that are expanded already, only those bounds are taken over.
        """
        if not nodes:
            return
        parents = self._tree.load(nodes)
        frontier = [node for node in parents if node.children is None]
        children = self._tree.expand(frontier, self._engine)
        evidence = self._gather_proved(parents)
        changed = add_evidence(self._connection, self._campaign, evidence)
        changed |= back_up(self._connection, self._campaign, [node.id for node in parents])
        planned = self.plan_nodes(list(children.values()))
        plan_children = dict(zip(children, planned, strict=True))
        for parent in frontier:
            below = [plan_children[id_] for id_ in parent.children or ()]
            questions.expand(parent.id, below)
        for node in self._tree.load(changed):
            questions.update_bounds(node.id, node.lo, node.hi)
        self.appraise(questions)

    def plan_nodes(self, nodes: list[Node], *, always: bool = False) -> list[PlanNode]:
        """The nodes with their hints, which only the frontier needs (or `always`)."""
        planned = [
            PlanNode(node.id, node.lo, node.hi, node.children, guess=node.lo, plies_left=0)
            for node in nodes
        ]
        hinted = []
        for node, known in zip(nodes, planned, strict=True):
            if node.children is None or always:
                position = self._tree.position(node)
                known.plies_left = self._tree.game.plies_left(position)
                if node.lo < node.hi:
                    known.position = position
                    known.appraise = partial(self._engine.efforts, position)
                    hinted.append(known)
        for known, guess in zip(hinted, self._guess_all(hinted), strict=True):
            known.guess = guess
        return planned

    def _guess_all(self, nodes: list[PlanNode]) -> list[int]:
        positions = [node.position for node in nodes]
        if isinstance(self._engine, AppraisesMany):
            return self._engine.guess_all(positions)
        return [self._engine.guess(position) for position in positions]

    def appraise(self, questions: Questions) -> None:
        """Ask the engine about all new leaves in one call, where it can answer that."""
        fresh = questions.unappraised()
        if fresh and isinstance(self._engine, AppraisesMany):
            asked = [(question.node.position, question.threshold) for question in fresh]
            told = self._engine.efforts_all(asked)
            if told is not None:
                for question, efforts in zip(fresh, told, strict=True):
                    question.efforts = efforts

    def _gather_proved(self, parents: list[Node]) -> list[Evidence]:
        """Evidence about the children; what is about grandchildren is kept for their seeds."""
        rows = self._connection.execute(
            query("proved_below"), ([node.id for node in parents],)
        ).fetchall()
        evidence: dict[tuple[NodeId, int], Evidence] = {}
        for node, threshold, result, proved in rows:
            known = {
                node_id(self._campaign, item.key, item.history): item for item in unpack(proved)
            }
            (parent,) = (parent for parent in parents if parent.id == node)
            for child in parent.children or ():
                if child in known:
                    item = self._checkable(known.pop(child), 1 - threshold)
                    if item is not None:
                        evidence[child, result] = Evidence(child, result, item.lo, item.hi)
            known = {
                id_: item
                for id_, told in known.items()
                if (item := self._checkable(told, threshold)) is not None
            }
            if known:
                self._told.update((id_, _Told(known, result)) for id_ in parent.children or ())
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
