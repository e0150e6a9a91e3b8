"""Questions and formulas are compiled from plain Python: both must tell the same, to the last
bit."""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from zermelo.server.planning import costs, formulas, questions
from zermelo.server.planning.costs import CostModel
from zermelo.server.planning.planner import NEED_LEVELS

LIMIT = 9


@contextmanager
def plain(name: str) -> Iterator[ModuleType]:
    """A module of planning as it is without a compiler."""
    source = Path(costs.__file__).with_name(f"{name}.py")
    spec = spec_from_file_location(f"plain_{name}", source)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look there for the types of their fields
    spec.loader.exec_module(module)
    yield module
    del sys.modules[spec.name]


def _estimates(graph: Any) -> list[tuple[object, ...]]:
    return [
        (node.id, node.lo, node.hi, question.threshold, question.leaf, question.asked,
         question.chance, question.work, question.sharpened, question.reach,
         [child.key for child in question.children])
        for node in graph.nodes.values() for question in node.questions.values()
    ]  # fmt: skip


def _grow(module: Any, seed: int) -> Iterator[list[tuple[object, ...]]]:
    """The estimates of a random graph while it grows and answers come, transpositions included."""
    chance = random.Random(seed)
    graph = module.Questions(CostModel())
    graph.add_node(module.PlanNode(0, -LIMIT, LIMIT, 1, 30))
    root = graph.open_root(0, 1)
    for _ in range(60):
        leaves = [
            question for node in graph.nodes.values() for question in node.questions.values()
            if question.leaf
        ]  # fmt: skip
        if not leaves:
            break
        leaf = chance.choice(leaves)
        known = list(graph.nodes)
        match chance.randrange(5):
            case 0:
                graph.set_asked(leaf, not leaf.asked)
            case 1:
                graph.update_bounds(leaf.node.id, *chance.choice(
                    [(leaf.threshold, LIMIT), (-LIMIT, leaf.threshold - 1)]
                ))
            case 2:
                graph.ran_out(leaf, 10 ** chance.randrange(3, 9))
                graph.set_asked(leaf, False)
            case _:
                level = leaf.node.plies_left - 1
                below = {
                    chance.randrange(200) + 1000 * level: chance.randint(-4, 4) for _ in range(4)
                }
                graph.expand(leaf.node.id, [
                    graph.nodes.get(id_) or module.PlanNode(id_, -LIMIT, LIMIT, guess, level)
                    for id_, guess in below.items()
                ])
        yield [("unneeded", *graph.settle()), ("nodes", *known), *_estimates(graph)]
        whole = chance.choice([0.0, 1e9])
        free = graph.next_free([questions.Choice(root, 1.0)], NEED_LEVELS, 9, 1e6, whole)
        yield [(choice.question.key, choice.need) for choice in free]


@pytest.mark.parametrize("seed", range(20))
def test_compiled_and_plain_questions_tell_the_same(seed: int) -> None:
    told = list(_grow(questions, seed))
    with plain("questions") as module:
        assert told == list(_grow(module, seed))


def _evaluate(module: Any, seed: int) -> Iterator[float]:
    """Costs and chances of random questions, the extremes included."""
    chance = random.Random(seed)
    for _ in range(500):
        costs_by = tuple(chance.uniform(-2, 2) for _ in range(5))
        chance_by = tuple(chance.uniform(0, 2) for _ in range(3))
        plies_left, distance = chance.randrange(61), chance.randint(-64, 64)
        efforts = chance.uniform(0, 40), chance.uniform(0, 40)
        yield module.log_cost(costs_by, plies_left, distance, *efforts)
        yield module.typical_cost(costs_by, plies_left, distance, *efforts)
        yield module.chance(chance_by, distance, *efforts)


@pytest.mark.parametrize("seed", range(5))
def test_compiled_and_plain_formulas_tell_the_same(seed: int) -> None:
    with plain("formulas") as module:
        assert list(_evaluate(formulas, seed)) == list(_evaluate(module, seed))
