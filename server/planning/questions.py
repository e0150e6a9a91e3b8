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

Estimates are brought up to date by `refresh`, all changes together: new leaves are shown to the
engine in one call, and every question above is evaluated once.

The graph is a cache. Everything in it can be rebuilt from the database. It holds only what was
looked into: below any other question, however large the tree is there, the node's own bounds and
the engine's idea of it stand for all of it. So a new test begins as a single leaf, too.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from zermelo.engine import Efforts
from zermelo.server.planning import formulas
from zermelo.server.planning.costs import CostModel, Features, usual_efforts
from zermelo.server.tree.identity import NodeId

#: Siblings err together: only the best child's chance counts in full, the others' are
#: taken to this power.
SIBLING_INDEPENDENCE = 0.4
#: The share of a node's unexpected hardness that its children have, too.
HARDNESS_INHERITED = 0.6
#: The odds that a question is needed besides its elder siblings are taken to this power. The
#: order of moves is better than chances say: of first moves whose chance was about even, where
#: a refutation existed, seven in a hundred failed.
CONFIDENCE = 2.5
#: Idle clients help below a question that somebody works on; that makes their work less needed.
HELP_DISCOUNT = 0.3
#: Changes smaller than these are not passed on to the parents.
_SMALL_CHANCE, _SMALL_WORK, _SMALL_REACH = 0.002, 0.01, 0.002

Key = tuple[NodeId, int]


@dataclass(eq=False)
class PlanNode:
    """What planning needs to know about a node; all but its bounds and children are hints."""

    id: NodeId
    lo: int
    hi: int
    guess: int
    plies_left: int
    #: Whether the tree has children of it, and these, once planning has looked into them.
    expanded: bool = False
    children: tuple[NodeId, ...] | None = None
    #: How much harder questions here are than the model thinks: an offset to ln(nodes).
    hardness: float = 0.0
    #: The position, where the engine is to be asked about the efforts.
    position: Any = None
    questions: dict[int, Question] = field(default_factory=dict)

    def answers(self, threshold: int) -> bool | None:
        """Is the score at least `threshold`? As `Bounds.answers`, for which generators have
        no time: they ask this of every node they open."""
        lo, hi = self.lo, self.hi
        if lo > hi:
            raise ValueError(f"contradictory bounds: {lo} > {hi}")
        if lo >= threshold:
            return True
        return False if hi < threshold else None


@dataclass(eq=False)
class Question:
    node: PlanNode
    threshold: int
    ply: int
    parents: list[Question] = field(default_factory=list)
    #: The open questions below, in the order to ask them; none below a leaf.
    children: list[Question] = field(default_factory=list)
    #: Whether planning has not looked below it.
    leaf: bool = True
    chance: float = 0.5
    work: float = 1.0
    #: The chance as the order of asking takes it: its odds to the power of CONFIDENCE.
    sharpened: float = 0.5
    #: The greatest need of a leaf below that nobody works on, where this question's is 1.
    reach: float = 0.0
    #: True and False are answers; None is open.
    answer: bool | None = None
    #: Whether a client works on it, or soon will; possibly since before it was split for
    #: the sake of another threshold.
    asked: bool = False
    #: Whether a search for it ran out of its budget.
    exhausted: bool = False
    #: When it was asked, in seconds on the driver's clock.
    asked_at: float = 0.0
    #: What the engine thinks that either answer takes, once a leaf was shown to it.
    efforts: Efforts | None = None
    #: The last walk that came by, and the last choice that it was part of.
    walk: int = 0
    chosen: int = 0

    @property
    def features(self) -> Features:
        """What this leaf shows of its cost and its answer."""
        distance = self.distance()
        efforts = self.efforts or usual_efforts(self.node.plies_left, distance)
        return Features(self.node.plies_left, distance, efforts)

    def distance(self) -> int:
        """How far the guess, as far as bounds allow it, lies above the threshold."""
        node = self.node
        guess = node.guess
        if not node.lo <= guess <= node.hi:
            guess = node.lo if guess < node.lo else node.hi
        return guess - self.threshold

    @property
    def key(self) -> Key:
        return self.node.id, self.threshold


class Choice(NamedTuple):
    """A question worth asking, and how likely its answer is needed."""

    question: Question
    need: float


#: Asks the engine about the efforts of many leaves.
Appraise = Callable[[Sequence[Question]], Sequence[Efforts | None]]


class Questions:
    """All open questions, kept consistent with the bounds of the nodes."""

    def __init__(self, model: CostModel, appraise: Appraise | None = None) -> None:
        self.model = model
        self._appraise = appraise
        self.nodes: dict[NodeId, PlanNode] = {}
        self.open_count = 0
        self._roots: set[Question] = set()
        #: What is to be evaluated again: leaves, and questions above others with their turn.
        self._dirty_leaves: dict[Question, None] = {}
        self._dirty: list[tuple[int, int, Question]] = []
        self._queued: set[Question] = set()
        self._turn = 0
        #: How many walks and choices there were so far.
        self._walks = self._choices = 0
        #: Asked questions that nobody needs, in order, until somebody does again, and when they
        #: were asked.
        self._dropped: dict[Key, float] = {}

    # -- what the driver tells -----------------------------------------------------------

    def add_node(self, node: PlanNode) -> None:
        """A node was loaded, possibly again."""
        if self.nodes.setdefault(node.id, node) is not node:
            self.update_bounds(node.id, node.lo, node.hi)

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
        """A node was expanded, or its children were loaded: its questions go on at those."""
        children = list(children)
        expanded = self.nodes[node]
        expanded.children, expanded.expanded = tuple(child.id for child in children), True
        for child in children:
            if child.id not in self.nodes:
                child.hardness = HARDNESS_INHERITED * expanded.hardness
            self.add_node(child)
        self.open(node)

    def open(self, node: NodeId) -> None:
        """Let all questions of a node go on at its children, which are known."""
        for question in list(self.nodes[node].questions.values()):
            if question.leaf:
                self._grow(question)

    def set_asked(self, question: Question, asked: bool, now: float = 0.0) -> None:
        """A client works on it, or soon will; or nobody does any more."""
        question.asked, question.asked_at = asked, now
        self._touch(question)

    def refresh(self) -> None:
        """Bring all estimates up to date."""
        while self._dirty_leaves or self._dirty:
            if self._dirty_leaves:
                self._evaluate_leaves()
            else:
                _, _, question = heapq.heappop(self._dirty)
                self._queued.discard(question)
                if self.is_open(question):
                    self._evaluate(question)

    def settle(self) -> list[Key]:
        """Bring all estimates up to date; the asked questions that nobody needs any more."""
        self.refresh()
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
        # Asked more often than anything else: without a key, and without `get`.
        return question.node.questions.get(question.threshold) is question

    def typical_work(self, question: Question) -> float:
        """The median of the nodes that this leaf takes; its `work` is the mean."""
        return question.work / self.model.surcharge

    def ran_out(self, question: Question, nodes: int) -> None:
        """A leaf took more than `nodes`: what is below it is probably harder than usual, too."""
        node = question.node
        expected = self.model.log_cost(question.features) + node.hardness
        node.hardness += self.model.log_cost_beyond(expected, nodes) - expected

    def next_free(
        self, tests: Sequence[Choice], levels: Sequence[float], count: int, size: float,
        whole: float,
    ) -> list[Choice]:
        """Leaves below these tests that nobody works on, and what was split and fits into `whole`,
        in the order in which they would be asked one after the other, each once: first those that
        will be needed if all goes as expected, which is with the first of these chances, then
        others. Only so many as make `count` workunits that typically take `size`.
        """
        found: list[Choice] = []
        self._choices += 1
        workunits = 0.0
        for least_need in levels:
            if workunits < count:
                workunits = self._next_free(
                    found, tests, least_need, workunits, count, size, whole
                )
        return found

    def _next_free(
        self, found: list[Choice], tests: Sequence[Choice], least_need: float, workunits: float,
        count: int, size: float, whole: float,
    ) -> float:
        """Find more of the same that are needed with at least that chance, depth first; how many
        workunits that makes together.

        Only those parts of the graph are visited that lead to one.
        """
        self._walks += 1
        surcharge = self.model.surcharge
        stack: list[Question] = []
        needs: list[float] = []
        for question, need in reversed(tests):
            if need * question.reach >= least_need:
                stack.append(question)
                needs.append(need)
        while stack:
            question, need = stack.pop(), needs.pop()
            if question.walk == self._walks:
                continue
            question.walk = self._walks
            if question.leaf or _fits(question, whole):
                if question.chosen != self._choices:
                    question.chosen = self._choices
                    found.append(Choice(question, need))
                    pieces = question.work / surcharge / size
                    workunits += pieces if question.leaf and pieces > 1.0 else 1.0
                    if workunits >= count:
                        break
                continue
            if question.asked:
                need *= HELP_DISCOUNT
            first = len(stack)
            for child in question.children:
                if need < least_need:
                    break
                if need * child.reach >= least_need:
                    stack.insert(first, child)
                    needs.insert(first, need)
                need *= child.sharpened
        return workunits

    # -- growth ---------------------------------------------------------------------------

    def _open(self, node: PlanNode, threshold: int, ply: int) -> Question:
        """The question, a leaf if it is new; possibly answered already."""
        question = node.questions.get(threshold)
        if question is not None:
            return question
        question = Question(node, threshold, ply)
        question.answer = node.answers(threshold)
        if question.answer is not None:
            return question
        node.questions[threshold] = question
        self.open_count += 1
        if question.key in self._dropped:
            question.asked, question.asked_at = True, self._dropped.pop(question.key)
        self._touch(question)
        return question

    def _grow(self, question: Question) -> None:
        question.leaf = False
        for child in question.node.children or ():
            self._ask_below(question, self.nodes[child])
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
            answer = question.node.answers(question.threshold)
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
        elif not question.children:
            if self._all_children_yes(question):
                self._close(question, False)
        else:
            self._touch(question)

    def _all_children_yes(self, question: Question) -> bool:
        """Whether every child's bounds make it a yes; false while children are being added."""
        threshold = 1 - question.threshold
        children = question.node.children or ()
        return all(self.nodes[child].lo >= threshold for child in children)

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
                self._dropped[gone.key] = gone.asked_at
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
            self._dirty_leaves[question] = None
        elif question not in self._queued:
            self._queued.add(question)
            self._turn += 1
            # Deepest first, so that a parent is evaluated once for all its children.
            heapq.heappush(self._dirty, (-question.ply, self._turn, question))

    def _evaluate_leaves(self) -> None:
        leaves = [question for question in self._dirty_leaves if self.is_open(question)]
        self._dirty_leaves.clear()
        if self._appraise is not None:
            fresh = [
                leaf for leaf in leaves if leaf.efforts is None and leaf.node.position is not None
            ]
            for leaf, efforts in zip(fresh, self._appraise(fresh), strict=True):
                leaf.efforts = efforts
                if efforts is None:
                    leaf.node.position = None  # the engine has no idea: it is not asked again
        for leaf in leaves:
            self._evaluate(leaf)

    def _evaluate(self, question: Question) -> None:
        chance, work, reach = question.chance, question.work, question.reach
        if question.children:
            self._evaluate_from_children(question)
        else:
            self._evaluate_leaf(question)
        if question.chance != chance:
            question.sharpened = _sharpened(question.chance)
        if (
            abs(question.chance - chance) > _SMALL_CHANCE
            or abs(question.work - work) > _SMALL_WORK * work
            or abs(question.reach - reach) > _SMALL_REACH
            or (question.reach > 0) != (reach > 0)
        ):
            for parent in question.parents:
                self._touch(parent)

    def _evaluate_leaf(self, question: Question) -> None:
        node, model = question.node, self.model
        plies_left, distance = node.plies_left, question.distance()
        yes, no = question.efforts or usual_efforts(plies_left, distance)
        question.chance = formulas.chance(model.chance_weights, distance, yes, no)
        typical = formulas.typical_cost(model.cost_weights, plies_left, distance, yes, no)
        question.work = typical * model.surcharge
        if node.hardness:
            question.work *= math.exp(node.hardness)
        question.reach = 1.0 if question.leaf and not question.asked else 0.0

    def _evaluate_from_children(self, question: Question) -> None:
        # The order that minimises the expected work: chance of success per unit of work.
        question.children.sort(key=_price)
        work, before, best, others = 0.0, 1.0, 1.0, 1.0
        need, reach = 1.0, 0.0
        for child in question.children:
            chance = child.chance
            work += before * child.work
            before *= chance
            if chance < best:
                best, others = chance, others * best
            else:
                others *= chance
            if need * child.reach > reach:
                reach = need * child.reach
            need *= child.sharpened
        question.work = work
        question.chance = 1 - best * others**SIBLING_INDEPENDENCE
        question.reach = HELP_DISCOUNT * reach if question.asked else reach


def _fits(question: Question, whole: float) -> bool:
    """Whether a question that was split may be asked whole all the same; a test never is."""
    if question.asked or question.exhausted:
        return False
    return question.work <= whole and bool(question.parents)


def _price(question: Question) -> float:
    """By this, the smallest first, siblings are asked."""
    return (question.chance - 1) / question.work


def _sharpened(chance: float) -> float:
    """The chance whose odds are the given ones to the power of CONFIDENCE."""
    if not 0 < chance < 1:
        return chance
    odds_against: float = ((1 - chance) / chance) ** CONFIDENCE
    return 1 / (1 + odds_against)
