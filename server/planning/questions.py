"""The questions of a test, as a directed graph in memory.

A question (node, threshold) asks "is the score at least the threshold?". The child's
question is (child, 1 - threshold): the parent is a yes as soon as one child is a no,
and a no when all children are a yes. Every open question carries the chance of a yes
and the expected work to find out when its children are asked one after the other, the
most promising for the price first:

    work   = sum over the children in that order of (chance to get there) * work(child)
    chance = 1 - product over the children of chance(child)

This is proof-number search with costs and chances in place of counts: with certain
chances `work` is the minimum over the children for a yes and the sum for a no.

The graph is a cache. Everything in it can be rebuilt from the database.
"""

from __future__ import annotations

import heapq
import itertools
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from zermelo.engine import Efforts
from zermelo.games import Bounds
from zermelo.server.planning.costs import CostModel, Features, usual_efforts
from zermelo.server.tree.identity import NodeId

#: Siblings err together: only the best child's chance counts in full, the others' are
#: taken to this power.
SIBLING_INDEPENDENCE = 0.4
#: The share of a node's unexpected hardness that its children have, too.
HARDNESS_INHERITED = 0.6
#: Changes smaller than these are not passed on to the parents.
_SMALL_CHANCE, _SMALL_WORK = 0.002, 0.01

Key = tuple[NodeId, int]


@dataclass(slots=True, eq=False)
class PlanNode:
    """What planning needs to know about a node; all but its bounds and children are hints."""

    id: NodeId
    lo: int
    hi: int
    children: tuple[NodeId, ...] | None
    guess: int
    plies_left: int
    #: How much harder questions here are than the model thinks: an offset to ln(nodes).
    hardness: float = 0.0
    #: What the engine thinks that either answer to a question takes, by threshold.
    appraise: Callable[[int], Efforts | None] | None = None
    #: The position, where the engine may be asked about many at once.
    position: Any = None
    questions: dict[int, Question] = field(default_factory=dict)


@dataclass(slots=True, eq=False)
class Question:
    node: PlanNode
    threshold: int
    ply: int
    parents: list[Question] = field(default_factory=list)
    #: The open questions below, in the order to ask them; none below a leaf.
    children: list[Question] = field(default_factory=list)
    chance: float = 0.5
    work: float = 1.0
    #: True and False are answers; None is open.
    answer: bool | None = None
    #: Whether a client works on it, or soon will; possibly since before it was split for
    #: the sake of another threshold.
    asked: bool = False
    #: Looked for when a leaf is first evaluated.
    efforts: Efforts | None = None

    @property
    def features(self) -> Features:
        """What this leaf shows of its cost and its answer."""
        node = self.node
        distance = max(node.lo, min(node.hi, node.guess)) - self.threshold
        if self.efforts is None and node.appraise is not None:
            self.efforts = node.appraise(self.threshold)
        efforts = self.efforts or usual_efforts(node.plies_left, distance)
        return Features(node.plies_left, distance, efforts)

    @property
    def key(self) -> Key:
        return self.node.id, self.threshold

    @property
    def leaf(self) -> bool:
        return self.node.children is None


class Questions:
    """All open questions, kept consistent with the bounds of the nodes."""

    def __init__(self, model: CostModel) -> None:
        self.model = model
        self.nodes: dict[NodeId, PlanNode] = {}
        #: Nodes that open questions lead to and that have not been loaded yet.
        self.missing: dict[NodeId, list[Question]] = {}
        self.open_count = 0
        self._roots: set[Question] = set()
        self._dirty: list[tuple[int, int, Question]] = []
        self._queued: set[Question] = set()
        self._turn = itertools.count()
        #: Asked questions that nobody needs, in order, until somebody does again.
        self._dropped: dict[Key, None] = {}

    # -- what the driver tells -----------------------------------------------------------

    def add_node(self, node: PlanNode) -> None:
        """A node was loaded; questions that waited for it go on below it."""
        if node.id in self.nodes:
            self.update_bounds(node.id, node.lo, node.hi)
            return
        self.nodes[node.id] = node
        for parent in self.missing.pop(node.id, []):
            self._ask_below(parent, node)

    def open_root(self, node: NodeId, threshold: int) -> Question:
        question = self._open(self.nodes[node], threshold, 0)
        self._roots.add(question)
        return question

    def close_root(self, question: Question) -> None:
        self._roots.discard(question)
        self._drop_if_unneeded(question)

    def update_bounds(self, node: NodeId, lo: int, hi: int) -> None:
        """The bounds of a node are at least this tight now."""
        known = self.nodes.get(node)
        if known is None:
            return
        known.lo, known.hi = max(known.lo, lo), min(known.hi, hi)
        for question in list(known.questions.values()):
            self._answer_by_bounds(question)
            self._touch(question)

    def expand(self, node: NodeId, children: Iterable[PlanNode]) -> None:
        """A frontier node was expanded: its questions go on at the children."""
        children = list(children)
        expanded = self.nodes[node]
        expanded.children = tuple(child.id for child in children)
        expanded.appraise = expanded.position = None  # nobody will ask it whole
        for child in children:
            child.hardness = HARDNESS_INHERITED * expanded.hardness
            self.add_node(child)
        for question in list(expanded.questions.values()):
            self._grow(question)

    def unappraised(self) -> list[Question]:
        """The leaves about to be evaluated whose efforts the engine has not told yet."""
        return [
            question
            for _, _, question in self._dirty
            if question.leaf and question.efforts is None and question.node.appraise is not None
        ]

    def settle(self) -> list[Key]:
        """Pass all changes on to the top; the asked questions that nobody needs any more."""
        while self._dirty:
            _, _, question = heapq.heappop(self._dirty)
            self._queued.discard(question)
            if self.is_open(question):
                self._evaluate(question)
        unneeded = list(self._dropped)
        self._dropped.clear()
        return unneeded

    def reestimate(self, model: CostModel) -> None:
        """Evaluate every open question again, by a new model."""
        self.model = model
        for node in self.nodes.values():
            for question in node.questions.values():
                if question.leaf:
                    self._touch(question)

    # -- what the driver asks ------------------------------------------------------------

    def get(self, key: Key) -> Question | None:
        """The open question with this key."""
        node = self.nodes.get(key[0])
        return node.questions.get(key[1]) if node else None

    def is_open(self, question: Question) -> bool:
        """Whether somebody still needs this question's answer."""
        return self.get(question.key) is question

    def typical_work(self, question: Question) -> float:
        """The median of the nodes that this leaf takes; its `work` is the mean."""
        return question.work / self.model.surcharge

    def ran_out(self, question: Question, nodes: int) -> None:
        """A leaf took more than `nodes`: what is below it is probably harder than usual, too."""
        node = question.node
        expected = self.model.log_cost(question.features) + node.hardness
        node.hardness += self.model.log_cost_beyond(expected, nodes) - expected

    # -- growth ---------------------------------------------------------------------------

    def _open(self, node: PlanNode, threshold: int, ply: int) -> Question:
        """The question, with everything below it; possibly answered already."""
        question = node.questions.get(threshold)
        if question is not None:
            return question
        question = Question(node, threshold, ply)
        question.answer = Bounds(node.lo, node.hi).answers(threshold)
        if question.answer is not None:
            return question
        node.questions[threshold] = question
        self.open_count += 1
        if question.key in self._dropped:
            del self._dropped[question.key]
            question.asked = True
        self._grow(question)
        return question

    def _grow(self, question: Question) -> None:
        for child in question.node.children or ():
            node = self.nodes.get(child)
            if node is None:
                self.missing.setdefault(child, []).append(question)
            else:
                self._ask_below(question, node)
        self._touch(question)

    def _ask_below(self, question: Question, node: PlanNode) -> None:
        if not self.is_open(question):
            return
        child = self._open(node, 1 - question.threshold, question.ply + 1)
        if not self.is_open(question):
            # What was found while opening the child has settled the question itself.
            self._drop_if_unneeded(child)
        elif child.answer is None:
            child.parents.append(question)
            question.children.append(child)
            self._touch(question)
        else:
            self._heard(question, child)

    # -- answers -----------------------------------------------------------------------------

    def _answer_by_bounds(self, question: Question) -> None:
        if question.answer is None:
            answer = Bounds(question.node.lo, question.node.hi).answers(question.threshold)
            if answer is not None:
                self._close(question, answer)

    def _close(self, question: Question, answer: bool) -> None:
        node = question.node
        question.answer = answer
        if answer:
            node.lo = max(node.lo, question.threshold)
        else:
            node.hi = min(node.hi, question.threshold - 1)
        self._forget(question)
        for parent in question.parents:
            if parent.answer is None:
                self._heard(parent, question)
        question.parents.clear()
        for other in list(node.questions.values()):
            self._answer_by_bounds(other)

    def _heard(self, question: Question, child: Question) -> None:
        """A child of an open question has its answer."""
        if child in question.children:
            question.children.remove(child)
        if child.answer is False:
            self._close(question, True)
        elif not question.children and not self._waits_for_nodes(question):
            if self._all_children_yes(question):
                self._close(question, False)
        else:
            self._touch(question)

    def _all_children_yes(self, question: Question) -> bool:
        """Whether every child's bounds make it a yes; false while children are being added."""
        threshold = 1 - question.threshold
        children = question.node.children or ()
        return all(self.nodes[child].lo >= threshold for child in children)

    def _waits_for_nodes(self, question: Question) -> bool:
        return any(child not in self.nodes for child in question.node.children or ())

    def _forget(self, question: Question) -> None:
        """Take a question out of the graph, and everything below that only it needed."""
        stack = [question]
        while stack:
            gone = stack.pop()
            if not self.is_open(gone):
                continue
            del gone.node.questions[gone.threshold]
            self.open_count -= 1
            if gone.asked:
                self._dropped[gone.key] = None
            for child in gone.children:
                if gone in child.parents:
                    child.parents.remove(gone)
                if not self._alive(child):
                    stack.append(child)
            gone.children = []

    def _drop_if_unneeded(self, question: Question) -> None:
        if not self._alive(question):
            self._forget(question)

    def _alive(self, question: Question) -> bool:
        return question in self._roots or bool(question.parents)

    # -- estimates ---------------------------------------------------------------------------

    def _touch(self, question: Question) -> None:
        """Something changed that its estimates depend on."""
        if not question.children:
            self._evaluate(question)
        elif question not in self._queued:
            self._queued.add(question)
            # Deepest first, so that a parent is evaluated once for all its children.
            heapq.heappush(self._dirty, (-question.ply, next(self._turn), question))

    def _evaluate(self, question: Question) -> None:
        before = question.chance, question.work
        if question.children:
            self._evaluate_from_children(question)
        else:
            question.chance, expected_cost = self.model.outlook(question.features)
            question.work = expected_cost * math.exp(question.node.hardness)
        if (
            abs(question.chance - before[0]) > _SMALL_CHANCE
            or abs(question.work - before[1]) > _SMALL_WORK * before[1]
        ):
            for parent in question.parents:
                self._touch(parent)

    def _evaluate_from_children(self, question: Question) -> None:
        # The order that minimises the expected work: chance of success per unit of work.
        question.children.sort(key=lambda child: (child.chance - 1) / child.work)
        work, reach, best, others = 0.0, 1.0, 1.0, 1.0
        for child in question.children:
            work += reach * child.work
            reach *= child.chance
            if child.chance < best:
                best, others = child.chance, others * best
            else:
                others *= child.chance
        question.work = work
        question.chance = 1 - best * others**SIBLING_INDEPENDENCE
