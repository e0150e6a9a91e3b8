"""The planner alone, on random graphs: it ends with the true value whatever the order."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zermelo.engine import Efforts
from zermelo.games import Bounds
from zermelo.server.goals import Goal
from zermelo.server.planning.costs import CostModel, Features, Sample, usual_efforts
from zermelo.server.planning.drift import Drift
from zermelo.server.planning.planner import AFAR, MANY_OPEN, SERVICE_SECONDS, Planner, budget_of
from zermelo.server.planning.questions import HELP_DISCOUNT, PlanNode, Question

LIMIT = 6
MOST_STEPS = 2000


class World:
    """A random graph of positions, its true scores, and a frontier that moves down."""

    def __init__(self, seed: int, size: int) -> None:
        self.random = chance = random.Random(seed)
        self.children = [
            sorted(chance.sample(range(node + 1, size), min(size - node - 1, chance.randint(0, 3))))
            for node in range(size)
        ]
        self.scores = [0] * size
        for node in reversed(range(size)):
            below = self.children[node]
            self.scores[node] = (
                max(-self.scores[child] for child in below) if below
                else chance.randint(-LIMIT, LIMIT)
            )

    def node(self, node: int) -> PlanNode:
        final = not self.children[node]
        score = self.scores[node]
        return PlanNode(
            node, score if final else -LIMIT, score if final else LIMIT,
            guess=score + self.random.randint(-2, 2), plies_left=self.random.randint(1, 12),
        )


@settings(max_examples=150)
@given(st.integers(0, 10**6), st.integers(2, 60), st.sampled_from(list(Goal)), st.integers(1, 6))
def test_any_order_of_answers_proves_the_goal(
    seed: int, size: int, goal: Goal, clients: int
) -> None:
    world = World(seed, size)
    planner = Planner(world.node(0), goal, CostModel())
    working: dict[tuple[int, int], None] = {}
    for _ in range(MOST_STEPS):
        for key in planner.questions.settle():
            del working[key]
        planner.advance()
        if planner.finished:
            break
        assert_reach(planner)
        free, whole = clients - len(working), 20.0 if clients == 1 else 0.0
        while (plan := planner.choose(free, size=20.0, whole=whole)).open:
            for choice in plan.open:
                planner.questions.open(choice.question.node.id)
        for node in {choice.question.node.id: None for choice in plan.split}:
            split(world, planner, node)
        if world.random.random() < 0.2:
            for helped in planner.help(2, least=1.0, speed=1.0, now=0.0):
                assert helped.question.asked
                if helped.question.leaf:
                    split(world, planner, helped.question.node.id)
        for choice in plan.ask:
            key = choice.question.key
            still = choice.question.leaf or whole
            if not (planner.questions.is_open(choice.question) and still):
                continue  # a split has settled it meanwhile
            assert key not in working, "asked twice at the same time"
            planner.questions.set_asked(choice.question, True)
            working[key] = None
        if working and world.random.random() < 0.7:
            answer(world, planner, working)
    assert planner.finished
    assert planner.bounds.lo <= world.scores[0] <= planner.bounds.hi
    planner.advance()
    for key in planner.questions.settle():
        del working[key]
    assert not working, "work that nobody needs was not withdrawn"
    assert planner.questions.open_count == 0


def assert_reach(planner: Planner) -> None:
    """Every question knows the need of the free leaf below it that is needed most."""
    planner.questions.refresh()
    for node in planner.questions.nodes.values():
        for question in node.questions.values():
            need, reach = 1.0, 0.0
            for child in question.children:
                reach = max(reach, need * child.reach)
                need *= child.sharpened
            if question.leaf:
                reach = 0.0 if question.asked else 1.0
            elif question.asked:
                reach *= HELP_DISCOUNT
            assert question.reach == pytest.approx(reach, abs=0.05)
            assert (question.reach > 0) == (reach > 0)


def split(world: World, planner: Planner, node: int) -> None:
    planner.questions.expand(node, [world.node(child) for child in world.children[node]])


def answer(world: World, planner: Planner, working: dict[tuple[int, int], None]) -> None:
    """One client comes back: with an answer, or because the question was too hard."""
    node, threshold = world.random.choice(list(working))
    question = planner.questions.get((node, threshold))
    if question is None:
        return  # nobody needs it any more, and the next settlement says so
    del working[node, threshold]
    score = world.scores[node]
    if world.random.random() < 0.3:
        planner.questions.set_asked(question, False)
        question.exhausted = True
        if question.leaf:
            planner.questions.ran_out(question, 50)
            split(world, planner, node)
    else:
        planner.questions.set_asked(question, False)
        lo, hi = (threshold, LIMIT) if score >= threshold else (-LIMIT, threshold - 1)
        planner.questions.update_bounds(node, lo, hi)


def test_the_most_promising_child_comes_first() -> None:
    planner = Planner(PlanNode(0, -9, 9, 1, 10), Goal.OUTCOME, CostModel())
    guesses = {1: 1, 2: -2, 3: 0}
    planner.questions.expand(
        0, [PlanNode(child, -9, 9, guess, 9) for child, guess in guesses.items()]
    )
    planner.questions.settle()
    plan = planner.choose(3, size=1e9)
    assert [choice.question.node.id for choice in plan.ask] == [2, 3, 1]
    assert plan.ask[0].need == pytest.approx(1.0)
    assert plan.ask[0].need > plan.ask[1].need > plan.ask[2].need


def test_the_order_is_trusted_more_than_chances_say_but_what_remains_is_told_by_chances() -> None:
    planner = Planner(PlanNode(0, -9, 9, 1, 10), Goal.OUTCOME, CostModel())
    planner.questions.expand(0, [PlanNode(1, -9, 9, -1, 9), PlanNode(2, -9, 9, 0, 9)])
    planner.questions.settle()
    assert planner.test is not None
    likely, second = planner.test.children
    first, choice = planner.choose(2, size=1e9).ask
    assert (first.question, choice.question) == (likely, second)
    assert choice.need < likely.chance < 0.5
    assert planner.remaining().nodes == pytest.approx(planner.test.work)


def test_what_is_begun_is_finished_before_more_is_begun() -> None:
    """Every reply is answered by a move that five leaves would prove, or by a dearer one."""
    planner = Planner(PlanNode(0, -9, 9, -1, 12), Goal.OUTCOME, CostModel())
    replies = (100, 200, 300)
    planner.questions.expand(0, [PlanNode(reply, -9, 9, 3, 11) for reply in replies])
    for reply in replies:
        move, dearer = (PlanNode(reply + i, -9, 9, -4, 10) for i in (10, 20))
        planner.questions.expand(reply, [move, dearer])
        dearer.hardness = 3.0
        planner.questions.expand(
            move.id, [PlanNode(move.id + i, -9, 9, 6, 9) for i in range(1, 6)]
        )
    planner.questions.reestimate(CostModel())
    planner.questions.settle()
    choices = planner.choose(15, size=1e9).ask
    assert [choice.question.node.id for choice in choices] == [
        reply + 10 + i for reply in replies for i in range(1, 6)
    ]
    needs = [choice.need for choice in choices]
    assert needs != sorted(needs, reverse=True), "not the most needed first"


def test_what_is_too_large_is_split() -> None:
    planner = Planner(PlanNode(0, -9, 9, 1, 40), Goal.SCORE, CostModel())
    plan = planner.choose(1, size=1e6)
    assert [choice.question.node.id for choice in plan.split] == [0]
    assert not plan.ask


def small_tree() -> Planner:
    """The last test of a root whose two children nobody works on yet."""
    planner = Planner(PlanNode(0, 0, 1, 1, 10), Goal.OUTCOME, CostModel())
    planner.questions.expand(0, [PlanNode(1, -9, 9, 0, 9), PlanNode(2, -9, 9, 0, 9)])
    planner.questions.settle()
    return planner


def test_idle_clients_help_with_the_hardest_question() -> None:
    planner = small_tree()
    for choice in planner.choose(2, size=1e9).ask:
        planner.questions.set_asked(choice.question, True)
    planner.questions.nodes[2].hardness = 2.0
    planner.questions.update_bounds(2, -9, 9)
    planner.questions.settle()
    assert planner.choose(2, size=1e9).ask == []
    (helped,) = planner.help(1, least=0.0, speed=1.0, now=0.0)
    assert helped.question.node.id == 2
    assert planner.help(9, least=1e9, speed=1.0, now=0.0) == []
    planner.questions.expand(2, [PlanNode(3, -9, 9, 0, 8)])
    planner.questions.settle()
    (choice,) = planner.choose(2, size=1e9).ask
    assert choice.question.node.id == 3
    assert choice.need < helped.need


def test_a_lone_client_is_asked_for_half_of_a_test_but_not_again_for_what_ran_out() -> None:
    planner = Planner(PlanNode(0, 0, 1, 1, 10), Goal.OUTCOME, CostModel())
    planner.questions.expand(0, [PlanNode(node, -9, 9, 0, 9) for node in (1, 2, 5)])
    planner.questions.expand(1, [PlanNode(3, -9, 9, 0, 7), PlanNode(4, -9, 9, 0, 7)])
    planner.questions.settle()
    half = planner.questions.get((1, 0))
    assert planner.test
    assert half
    assert not half.leaf
    assert 0.1 * planner.test.work < half.work < 0.5 * planner.test.work

    def chosen(whole: float) -> set[int]:
        return {choice.question.node.id for choice in planner.choose(9, 1e9, whole).ask}

    assert chosen(0.0) == {2, 3, 4, 5}
    assert chosen(1.0) == {2, 3, 4, 5}
    assert chosen(1e9) == {1, 2, 5}
    half.exhausted = True
    assert chosen(1e9) == {2, 3, 4, 5}


def test_a_search_that_goes_on_for_long_is_hard_however_easy_it_looked() -> None:
    planner = small_tree()
    planner.questions.nodes[2].hardness = 2.0
    planner.questions.update_bounds(2, -9, 9)
    planner.questions.settle()
    for choice in planner.choose(2, size=1e9).ask:
        asked_at = 5.0 if choice.question.node.id == 1 else 9.0
        planner.questions.set_asked(choice.question, True, asked_at)
    looks = max(question.work for question in planner.questions.nodes[2].questions.values())
    soon, late = (
        planner.help(1, least=0.0, speed=looks, now=now)[0].question.node.id for now in (5.5, 9.0)
    )
    assert (soon, late) == (2, 1)


def test_a_question_that_is_needed_again_was_asked_when_it_was_asked() -> None:
    planner = small_tree()
    question = planner.choose(1, size=1e9).ask[0].question
    planner.questions.set_asked(question, True, 3.0)
    assert planner.test is not None
    planner.questions.close_root(planner.test)
    planner.questions.open_root(0, planner.test.threshold)
    planner.questions.open(0)
    again = planner.questions.get(question.key)
    assert again is not None
    assert again is not question
    assert again.asked
    assert again.asked_at == 3.0
    assert planner.questions.settle() == []


def test_last_pieces_are_as_small_as_they_look() -> None:
    """While clients are idle nothing is kept back for what may be found later."""
    planner = small_tree()
    start = planner.size(3, 0, 0.0, 1e9)
    assert planner.size(3, 1e9, 0.0, 1e9) > start
    assert planner.size_for_idle(3, 0.0, 0.0, 1e9) == pytest.approx(start)
    assert planner.size_for_idle(1024, 1.0, 1e9, 1e9) == 1e9
    assert planner.size_for_idle(1, 1.0, 0.0, 1e9) == 1e9


def test_last_pieces_take_the_services_as_long_as_the_client_who_has_the_last() -> None:
    planner, speed = small_tree(), 100_000.0
    assert planner.test is not None
    size = planner.size_for_idle(10**9, speed, 0.0, 1e9)
    handed_out = planner.test.work / size * SERVICE_SECONDS
    assert handed_out == pytest.approx(budget_of(1.0) * size / speed)


def test_workunits_grow_with_what_a_test_has_cost() -> None:
    planner = small_tree()
    start = planner.size(10, 0, 1.0, 1e9)
    assert planner.size(10, 1e6, 1.0, 1e9) > start
    assert planner.size(1, 1e6, 1.0, 1e9) == 1e9


def test_workunits_are_cut_for_those_who_would_wait() -> None:
    planner = small_tree()
    two, three = (planner.size(clients, 1e6, 1.0, 1e9) for clients in (2, 3))
    assert two == pytest.approx(2 * three)


@pytest.mark.parametrize(("bounds", "reached"), [
    (Bounds(1, 9), True), (Bounds(-9, -1), True), (Bounds(0, 0), True),
    (Bounds(0, 1), False), (Bounds(-1, 0), False), (Bounds(-9, 9), False),
])
def test_the_outcome_needs_only_the_sign(bounds: Bounds, reached: bool) -> None:
    assert Goal.OUTCOME.reached(bounds) is reached
    if not reached:
        assert Goal.OUTCOME.threshold(bounds, 5) in (0, 1)


@pytest.mark.parametrize(("guess", "score", "parity", "tests"), [
    (0, -4, 0, [0, -2, -4, -3]), (-2, -4, 0, [-2, -4, -3]), (-3, -4, 0, [-3, -4]),
    (-4, -4, 0, [-4, -3]), (0, 4, 0, [0, 1, 3, 5, 4]), (1, -3, 1, [1, -1, -3, -2]),
    # Unusual scores take a test more, and are found as well.
    (0, -1, 0, [0, -2, -1]), (0, -3, 0, [0, -2, -4, -3]),
    # At the ends of the scores nothing is skipped.
    (-9, -9, 0, [-8]), (9, 9, 0, [9]), (-8, -8, 0, [-8, -7]),
])  # fmt: skip
def test_tests_step_over_unusual_scores(
    guess: int, score: int, parity: int, tests: list[int]
) -> None:
    planner = Planner(
        PlanNode(0, -9, 9, guess, 10), Goal.SCORE, CostModel(), parity=parity
    )
    asked = []
    while planner.test is not None:
        asked.append(planner.test.threshold)
        assert len(asked) < 20
        reached = score >= planner.test.threshold
        bounds = (planner.test.threshold, 9) if reached else (-9, planner.test.threshold - 1)
        planner.questions.update_bounds(0, *bounds)
        planner.advance()
    assert planner.bounds == Bounds(score, score)
    assert asked == tests


def features(plies_left: int, distance: int = 0) -> Features:
    """A question to an engine that has no idea of efforts."""
    return Features(plies_left, distance, usual_efforts(plies_left, distance))


def test_the_model_learns_growth_and_chances() -> None:
    chance = random.Random(1)
    samples = []
    for _ in range(400):
        plies, distance = chance.randint(5, 20), chance.randint(-8, 8)
        nodes = round(2.718 ** (0.5 * plies + chance.gauss(0, 0.5)))
        yes = distance + chance.gauss(0, 3) > 0
        samples.append(Sample(features(plies, distance), nodes, yes))
    model = CostModel().refitted(samples)
    growth = model.log_cost(features(20)) - model.log_cost(features(10))
    assert growth == pytest.approx(5, abs=0.3)
    assert model.spread < 0.8
    assert model.chance(features(10, 8)) > 0.9 > 0.5 > model.chance(features(10, -2))
    assert CostModel.from_parameters(model.parameters, 400) == model


def test_the_model_learns_how_far_to_believe_the_engine() -> None:
    """Efforts that are off by a factor and by a power are set right, others are ignored."""
    chance = random.Random(2)
    samples = []
    for _ in range(400):
        yes, plies = chance.random() < 0.5, chance.randint(10, 20)
        easy = chance.uniform(4, 12)
        told = Efforts(easy, easy + 6) if yes else Efforts(easy + 6, easy)
        nodes = round(2.718 ** (1 + 0.8 * easy + chance.gauss(0, 0.3)))
        samples.append(Sample(Features(plies, 0, told), nodes, yes))
    model = CostModel().refitted(samples)
    for yes in (True, False):
        told = Efforts(10, 16) if yes else Efforts(16, 10)
        assert model.log_cost(Features(15, 0, told)) == pytest.approx(9, abs=0.2)
        assert (model.chance(Features(15, 0, told)) > 0.9) == yes
    assert model.spread < 0.5


def test_the_cheapest_refutation_is_asked_first() -> None:
    calls = []

    def appraise(leaves: Sequence[Question]) -> list[Efforts]:
        calls.append(len(leaves))
        return [leaf.node.position for leaf in leaves]

    planner = Planner(PlanNode(0, -9, 9, 1, 10), Goal.OUTCOME, CostModel(), appraise)
    efforts = [Efforts(20, 9), Efforts(20, 6), Efforts(6, 20)]
    planner.questions.expand(0, [
        PlanNode(child, -9, 9, 0, 9, position=told) for child, told in enumerate(efforts, 1)
    ])  # fmt: skip
    planner.questions.settle()
    assert planner.test is not None
    first, second, hopeless = planner.test.children
    assert [first.node.id, second.node.id, hopeless.node.id] == [2, 1, 3]
    assert first.chance == second.chance < 0.5 < hopeless.chance
    assert first.work < second.work
    assert [count for count in calls if count] == [3], "the engine is asked once about all"


def test_a_budget_that_ran_out_makes_the_model_expect_more() -> None:
    short = [Sample(features(10), 1000, None)] * 50
    model = CostModel()
    for _ in range(5):
        model = model.refitted(short)
    assert model.log_cost(features(10)) > CostModel().log_cost(features(10)) + 1.6


def test_only_answers_lessen_the_doubt() -> None:
    prior = CostModel()
    too_hard, solved = Sample(features(40), 1000, None), Sample(features(40), 1000, True)
    ran_out = prior.refitted([too_hard] * 200)
    answered = prior.refitted([solved] * 200)
    few = prior.refitted([solved, *[too_hard] * 199])
    assert prior.error(60) > prior.error(40) > prior.error(10)
    assert ran_out.error(40) == pytest.approx(prior.error(40))
    assert few.error(40) > 0.9 * prior.error(40)
    assert answered.error(40) < 0.5 * prior.error(40)
    assert answered.error(60) > answered.error(40)  # nobody has been there


def test_an_estimate_is_as_doubtful_as_it_was_fickle() -> None:
    steady, fickle = Drift(), Drift()
    for spent in range(0, 1000, 100):
        assert steady.error(1, spent, 1000 - spent) == pytest.approx(0, abs=1e-6)
        doubt = fickle.error(1, spent, 2.0 ** (spent // 100))
    assert doubt > 2
    assert fickle.error(2, 1000, 500) > 1  # another test, the same game
    for _ in range(100):
        doubt = fickle.error(2, 1000, 500)
    assert doubt < 1


def test_a_test_that_looks_easy_from_close_up_is_not_cut_to_dust() -> None:
    planner = Planner(PlanNode(0, -9, 9, 0, 30), Goal.OUTCOME, CostModel())
    assert planner.test is not None
    afar = planner.size(1024, spent=0, least=1.0, most=1e12)
    planner.test.work /= 1000
    few_open = planner.size(1024, spent=0, least=1.0, most=1e12)
    planner.questions.open_count = MANY_OPEN
    many_open = planner.size(1024, spent=0, least=1.0, most=1e12)
    assert few_open == pytest.approx(afar / 1000)
    assert many_open == pytest.approx(afar * AFAR)


def test_hard_leaves_are_split_no_further_than_clients_need() -> None:
    """What a split will yield counts: below two hard leaves there is work for all."""
    planner = Planner(PlanNode(0, -9, 9, 1, 24), Goal.OUTCOME, CostModel())
    planner.questions.expand(0, [PlanNode(child, -9, 9, 0, 23) for child in range(1, 9)])
    planner.questions.settle()
    assert planner.test is not None
    (question, *_) = planner.test.children
    size = planner.questions.typical_work(question) / 5
    plan = planner.choose(10, size)
    assert len(plan.split) == 2
    assert not plan.ask


def frontier(node: int) -> PlanNode:
    return PlanNode(node, -LIMIT, LIMIT, guess=0, plies_left=10)


def test_stakes_are_what_a_wrong_answer_closes() -> None:
    planner = Planner(frontier(0), Goal.SCORE, CostModel())
    test = planner.test
    assert test is not None
    assert planner.stakes(test) == math.inf
    questions = planner.questions
    questions.expand(0, [frontier(1), frontier(2)])
    questions.expand(1, [frontier(3), frontier(4)])
    questions.expand(2, [frontier(5)])
    questions.settle()

    def stakes(node: int, threshold: int) -> float:
        question = questions.get((node, threshold))
        assert question is not None
        return planner.stakes(question)

    above = questions.get((1, 1 - test.threshold))
    assert above is not None
    # A no closes the parent as a yes, which the other parent still stands against.
    assert stakes(3, test.threshold) == above.work
    # The only reply: a yes to it closes its parent as a no, and that ends the test.
    assert stakes(5, test.threshold) == math.inf
    questions.update_bounds(4, test.threshold, LIMIT)
    questions.settle()
    assert stakes(3, test.threshold) == math.inf


def test_costs_and_chances_are_products_of_weights_and_features() -> None:
    model = CostModel((0.5, 0.1, -0.2, 0.05, 0.9), 1.0, (0.3, 0.2, 0.4))
    shown = (features(12, 3), Features(9, -4, Efforts(7.5, 5.0)), Features(9, 2, Efforts(1, 90)))
    for asked in shown:
        cost = sum(map(math.prod, zip(model.cost_weights, asked.of_cost(), strict=True)))
        assert model.log_cost(asked) == pytest.approx(cost)
        logit = sum(map(math.prod, zip(model.chance_weights, asked.of_chance(), strict=True)))
        chance = 1 / (1 + math.exp(-logit))
        assert model.chance(asked) == pytest.approx(min(0.98, max(0.02, chance)))


def test_a_model_that_hardly_differs_changes_no_estimate() -> None:
    model = CostModel((0.5, 0.1, -0.2, 0.05, 0.9), 1.0, (0.3, 0.2, 0.4))
    seen = [Sample(features(plies, plies % 5 - 2), 1000, True) for plies in range(6, 20)]
    close = replace(model, cost_weights=(0.55, *model.cost_weights[1:]), samples=99, evidence=50.0)
    assert close.agrees(model, seen)
    assert model.supported_like(close) == model
    assert model.supported_like(close).error(15) == close.error(15)
    for other in (
        replace(model, cost_weights=(0.8, *model.cost_weights[1:])),
        replace(model, chance_weights=(0.9, 0.2, 0.4)),
        replace(model, spread=1.2),
    ):
        assert not other.agrees(model, seen)
