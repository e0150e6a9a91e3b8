"""Who takes part in a comparison: algorithms, move orderings, techniques left out.

One contestant is one way to search. It solves a position exactly, from an empty table.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from zermelo.engine import ALGORITHMS, Engine, Status
from zermelo.engine.capabilities import Run, Switchable, Textbook

_LONGEST_LABEL = 4


@dataclass(frozen=True, slots=True)
class Contestant:
    #: ``textbook`` algorithms see every position; ``fast`` ones are what volunteers run,
    #: with techniques left out; ``whole`` is an engine that offers no choice.
    kind: str
    algorithm: str
    variant: str
    run: Callable[[Any, int], Run]
    #: Whether it runs over the reference rules, a thousand times slower.
    plain: bool = False


def contestants(engine: Engine) -> Iterator[Contestant]:
    """All that this engine can do, the simplest first."""
    if isinstance(engine, Textbook):
        for algorithm in ALGORITHMS:
            for orders in engine.orderings(algorithm):
                yield Contestant("textbook", algorithm, _label(orders),
                                 _by_textbook(engine, algorithm, orders))
    if isinstance(engine, Switchable):
        if not isinstance(engine, Textbook):
            for algorithm in _others(engine):
                yield Contestant("textbook", algorithm, "fewest replies",
                                 _solve(engine, algorithm), plain=True)
        for algorithm in engine.switched_algorithms():
            for variant, techniques in without_each_technique(engine):
                yield Contestant("fast", algorithm, variant,
                                 _switched(engine, algorithm, techniques))
    else:
        for algorithm in engine.algorithms:
            yield Contestant("whole", algorithm, "all techniques", _solve(engine, algorithm))


def _others(engine: Any) -> list[str]:
    """The algorithms that use no techniques."""
    return [name for name in engine.algorithms if name not in engine.switched_algorithms()]


def without_each_technique(engine: Switchable) -> Iterator[tuple[str, dict[str, bool]]]:
    """Switches for the engine: everything on, each technique off for itself, all off."""
    usable = engine.techniques()
    yield "all techniques", {}
    for technique in usable:
        yield f"without {technique}", {technique: False}
    yield "without all of them", dict.fromkeys(usable, False)


def _label(orders: tuple[str, ...]) -> str:
    if len(orders) > _LONGEST_LABEL:
        return "all features"
    return " + ".join(orders) or "none"


def _by_textbook(
    engine: Textbook, algorithm: str, orders: tuple[str, ...]
) -> Callable[[Any, int], Run]:
    def run(position: Any, node_budget: int) -> Run:
        return engine.search_by_textbook(position, algorithm, orders, node_budget)

    return run


def _switched(
    engine: Any, algorithm: str, techniques: dict[str, bool]
) -> Callable[[Any, int], Run]:
    solve = _solve(engine, algorithm)

    def run(position: Any, node_budget: int) -> Run:
        engine.switch(**techniques)
        return solve(position, node_budget)

    return run


def _solve(engine: Engine, algorithm: str) -> Callable[[Any, int], Run]:
    def run(position: Any, node_budget: int) -> Run:
        report = engine.solve(position, algorithm=algorithm, node_budget=node_budget)
        solved = report.status is Status.SOLVED
        return Run(report.bounds.lo if solved else None, report.nodes, report.seconds)

    return run
