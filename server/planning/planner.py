"""Deciding what to ask next: pure logic, driven by the generator, tests and simulations.

A campaign asks a series of tests at its root, as MTD(f) does. Below the current test
the planner gives every open leaf the chance that its answer will be *needed* when
questions are asked in the best order. Clients together do what one of them would do
alone: the leaves that will be needed if all goes as expected are asked in the order of a
depth-first search, so that what is begun is finished, and disappoints, before more is
begun. A leaf that is being worked on keeps its place in that order. Only when such leaves
run out do less likely ones come.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from operator import attrgetter
from typing import NamedTuple

from zermelo.games import Bounds
from zermelo.server.goals import Aim, next_guess
from zermelo.server.planning.costs import CostModel
from zermelo.server.planning.questions import (
    HELP_DISCOUNT,
    Appraise,
    Choice,
    PlanNode,
    Question,
    Questions,
)

#: Leaves are asked in turn, first those that are needed with at least the first chance, then
#: those of the next level. Below the last they are not worth a client's electricity.
NEED_LEVELS = (0.5, 0.2, 0.05, 0.02)
#: Pieces of the remaining work for each client that would wait for the last one: more make it
#: even, fewer repeat less and are planned and handed out sooner.
PIECES_PER_OTHER = 8
#: A client that is alone is asked for at most this share of a test at once. Below that its engine
#: chooses moves better than planning does, and what looks like all of a test is looked into first:
#: from afar it looks a few times too easy. (On 6x6 smaller shares take more nodes.)
SHARE_ALONE = 0.5
#: The services' time for a piece as large as pieces are cut: they take a millisecond for one, and
#: most are about half as large.
SERVICE_SECONDS = 0.002
#: At least this share of what a test has cost is believed to remain.
DOUBT = 0.05
#: A test is believed to cost at least this share of what it looked like before its root was
#: split, once MANY_OPEN questions are open. (The share is what tests of 6x6 and 6x7 cost.)
AFAR, MANY_OPEN = 0.125, 10_000
#: A workunit may take this many times the size it was cut to before it counts as too hard.
BUDGET_FACTOR = 4.0
#: Idle clients help with what takes at least this many of the smallest workunits.
HELP_FROM = 4.0
#: How much less likely the test after the current one is needed than its forecast says.
NEXT_TEST_DISCOUNT = 0.5


class Estimate(NamedTuple):
    """Nodes that are expected, and how wrong their logarithm probably is."""

    nodes: float
    error: float


class _Beginning(NamedTuple):
    """When the current test began: the nodes spent until then, and how hard it looked."""

    spent: float
    work: float


@dataclass(slots=True)
class Plan:
    """What to do now: leaves to ask a client, leaves that are too hard to be asked whole, and
    leaves that the tree has expanded already, to be looked into."""

    ask: list[Choice] = field(default_factory=list)
    split: list[Choice] = field(default_factory=list)
    open: list[Choice] = field(default_factory=list)
    #: How many workunits all of that will probably make.
    workunits: float = 0.0


class Planner:
    """The current test of one campaign and everything below it."""

    def __init__(
        self, root: PlanNode, goal: Aim, model: CostModel, appraise: Appraise | None = None,
        parity: int = 0,
    ) -> None:  # fmt: skip
        """Scores are usually odd or even as `parity` is."""
        self.root, self.goal, self._parity = root, goal, parity
        self.questions = Questions(model, appraise)
        self.questions.add_node(root)
        self.test: Question | None = None
        self._next_tests: list[Question] = []
        self._began: _Beginning | None = None
        #: The most nodes that were ever expected for the current test.
        self._hardest = 0.0
        self.advance()

    @property
    def bounds(self) -> Bounds:
        return Bounds(self.root.lo, self.root.hi)

    @property
    def finished(self) -> bool:
        return self.goal.reached(self.bounds)

    def advance(self) -> bool:
        """Go on to the next test if the current one is answered; whether it was."""
        open_still = self.test is not None and self.test.answer is None
        if open_still or (self.test is None and self.finished):
            return False
        former, self.test = self.test, None
        self._began, self._hardest = None, 0.0
        if not self.finished:
            if former is None:
                threshold = self.goal.threshold(self.bounds, self.root.guess)
            else:
                threshold = self._following(self.bounds, reached=bool(former.answer))
            self.test = self.questions.open_root(self.root.id, threshold)
        for test in [former, *self._next_tests]:
            if test is not None and test is not self.test:
                self.questions.close_root(test)
        self._next_tests = []
        return True

    def choose(self, count: int, size: float, whole: float = 0.0) -> Plan:
        """The first `count` leaves in turn that nobody works on.

        Leaves that typically take more than `size` are to be split instead, and those that the
        tree has expanded are to be opened: call again when they are. Whose turn it is may have
        changed then. What was split and typically takes no more than `whole`, nor more than a
        lone client's share of the test, is asked instead of what is below it.
        """
        self.questions.refresh()
        whole = min(whole * self.questions.model.surcharge, self._share_alone())
        plan = self._choose(count, size, whole)
        if plan.workunits >= count or not self._forecast():
            return plan
        self.questions.refresh()
        return self._choose(count, size, whole)

    def stakes(self, question: Question) -> float:
        """The expected nodes that a wrong answer to a leaf could make the campaign skip.

        An answer closes what it alone decides: every parent by a no, a parent without other
        open children by a yes, and so on upwards. Infinite where that ends a test.
        """
        most = question.work
        for answer in (True, False):
            closed = [(question, answer)]
            seen = {question}
            while closed:
                child, answered = closed.pop()
                most = max(most, math.inf if child.node is self.root else child.work)
                for parent in child.parents:
                    if parent not in seen and (not answered or len(parent.children) == 1):
                        seen.add(parent)
                        closed.append((parent, not answered))
        return most

    def help(self, count: int, least: float, speed: float, now: float) -> list[Choice]:
        """Leaves to be split although clients work on them, so that idle ones can help.

        The hardest come first; `least` is what a workunit should hold at least. What a client has
        searched in vain since it was asked, `speed` nodes a second until `now`, tells how hard a
        leaf is as well as its looks do.
        """
        self.questions.refresh()

        def hardness(question: Question) -> float:
            return max(question.work, speed * (now - question.asked_at))

        asked = [
            Choice(question, need)
            for question, need in self._walk(NEED_LEVELS[-1], attrgetter("sharpened"))
            if question.asked and question.leaf and hardness(question) > HELP_FROM * least
        ]
        return heapq.nlargest(count, asked, key=lambda choice: hardness(choice.question))

    def remaining(self) -> Estimate:
        """The expected nodes still to search, counting shared positions once."""
        self.questions.refresh()
        nodes = weighed_plies = 0.0
        for question, need in self._walk(NEED_LEVELS[-1], attrgetter("chance")):
            if not question.children:
                nodes += need * question.work
                weighed_plies += need * question.work * question.node.plies_left
        plies_left = weighed_plies / nodes if nodes else 0.0
        return Estimate(nodes, self.questions.model.error(plies_left))

    def size(self, clients: int, spent: float, least: float, most: float) -> float:
        """How much typical work one workunit should hold, when `spent` nodes were searched.

        Estimates are too low where it matters, because the moves that look cheapest are
        asked first, the more so the more of the tree is open. What the test has cost already
        and what it looked like from afar are evidence of what it will cost.
        """
        if self.test is None:
            return least
        if clients <= 1:
            return most  # nobody else would idle at the end
        self.questions.refresh()
        if self._began is None:
            self._began = _Beginning(spent, self.test.work)
        spent -= self._began.spent
        afar = AFAR * self._began.work * min(1.0, self.questions.open_count / MANY_OPEN)
        remaining = max(self.test.work, DOUBT * spent, afar - spent)
        return max(least, min(most, remaining / ((clients - 1) * PIECES_PER_OTHER)))

    def size_for_idle(self, clients: int, speed: float, least: float, most: float) -> float:
        """As `size`, while clients of this speed are idle because there is nothing else to ask.

        Then nothing is kept back for what may be found later: however hard a leaf turns out to be,
        it is known soon. The services' time for all pieces and a client's time for one that runs
        out have the least sum where pieces are as large as the root of what remains.
        """
        if self.test is None:
            return least
        if clients <= 1:
            return most
        self.questions.refresh()
        remaining = self.test.work
        even = remaining / ((clients - 1) * PIECES_PER_OTHER)
        soon = math.sqrt(remaining * SERVICE_SECONDS * speed / BUDGET_FACTOR)
        return max(least, min(most, max(even, soon)))

    # -- inside ----------------------------------------------------------------------

    def _share_alone(self) -> float:
        """The most nodes that a lone client is expected to search at once."""
        if self.test is None:
            return 0.0
        self._hardest = max(self._hardest, self.test.work)
        return SHARE_ALONE * self._hardest

    def _choose(self, count: int, size: float, whole: float) -> Plan:
        plan = Plan()
        tests = list(self._tests())
        for choice in self.questions.next_free(tests, NEED_LEVELS, count, size, whole):
            if not choice.question.leaf:
                plan.ask.append(choice)
                plan.workunits += 1.0
                continue
            pieces = self.questions.typical_work(choice.question) / size
            if choice.question.node.expanded:
                plan.open.append(choice)
            else:
                (plan.split if pieces > 1 else plan.ask).append(choice)
            plan.workunits += max(1.0, pieces)
        return plan

    def _walk(
        self, least_need: float, chance: Callable[[Question], float]
    ) -> Iterator[Choice]:
        """Open questions needed with at least that chance, depth first, each once."""
        seen: set[Question] = set()
        stack = [choice for choice in self._tests() if choice.need >= least_need]
        stack.reverse()
        while stack:
            choice = stack.pop()
            question, need = choice
            if question in seen:
                continue
            seen.add(question)
            yield choice
            if question.asked:
                need *= HELP_DISCOUNT
            below = []
            for child in question.children:
                if need < least_need:
                    break
                below.append(Choice(child, need))
                need *= chance(child)
            stack.extend(reversed(below))

    def _tests(self) -> Iterator[Choice]:
        """The tests worth working for, with the chance that they are needed."""
        if self.test is None or self.test.answer is not None:
            return
        yield Choice(self.test, 1.0)
        for test in self._next_tests:
            if test.answer is None:
                likely = test.threshold > self.test.threshold
                chance = self.test.chance if likely else 1 - self.test.chance
                yield Choice(test, chance * NEXT_TEST_DISCOUNT)

    def _forecast(self) -> bool:
        """Open the tests that may follow, for clients without work; whether any was new."""
        if self.test is None or self._next_tests:
            return False
        threshold = self.test.threshold
        after_yes = Bounds(threshold, max(threshold, self.root.hi))
        after_no = Bounds(min(self.root.lo, threshold - 1), threshold - 1)
        for bounds, reached in ((after_yes, True), (after_no, False)):
            if not self.goal.reached(bounds):
                following = self._following(bounds, reached=reached)
                self._next_tests.append(self.questions.open_root(self.root.id, following))
        return bool(self._next_tests)

    def _following(self, bounds: Bounds, *, reached: bool) -> int:
        """The test after one that was reached, or was not, and left these bounds."""
        return self.goal.threshold(bounds, next_guess(bounds, reached, self._parity))


def speculation(need: float) -> int:
    """How speculative work of such a need is: 0 for what will be needed if all goes well."""
    return sum(need < level for level in NEED_LEVELS)


def budget_of(size: float) -> int:
    """The most nodes a client may spend on a workunit cut to this size."""
    return max(1, round(size * BUDGET_FACTOR))
