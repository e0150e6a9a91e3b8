"""Who takes part in a comparison: algorithms, move orderings, techniques left out.

One contestant is one way to search. It solves a position exactly, from an empty table.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from zermelo.engine import ALGORITHMS, Engine, Status
from zermelo.engine.dispatch import compiled
from zermelo.engine.reversi import ReversiEngine
from zermelo.games import Score

FAST = ("negascout", "mtdf")
TRAINED = ("evaluation", "lookahead", "probable")  # what rests on the trained evaluation
TECHNIQUES = ("table", "symmetry", "stability", "enhanced", "parity", *TRAINED)

#: Orderings tried together, besides every one for itself.
COMBINATIONS = (
    ("killer", "history"),
    ("mobility", "corners"),
    ("killer", "history", "mobility"),
    ("killer", "history", "transposition", "mobility"),
    ("discs", "mobility", "corners", "c_squares", "x_squares", "frontier", "stable",
     "sandwiched", "wiped_out", "positional", "edges"),
    ("transposition", "trained"),
    ("killer", "history", "transposition", "trained"),
)
_LONGEST_LABEL = 4


class Run(NamedTuple):
    """One contestant on one position; no score if it met the node limit."""

    score: Score | None
    nodes: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Contestant:
    #: ``textbook`` algorithms see every position; ``fast`` ones are what volunteers run.
    kind: str
    algorithm: str
    variant: str
    run: Callable[[Any, int], Run]


def contestants(engine: Engine) -> Iterator[Contestant]:
    """All that this engine can do, the simplest first."""
    if not isinstance(engine, ReversiEngine):
        for algorithm in ALGORITHMS:
            yield Contestant("portable", algorithm, "mobility", _solve(engine, algorithm))
        return
    yield Contestant("textbook", "minimax", "none", _textbook(engine, "minimax", ()))
    for algorithm in ALGORITHMS[1:]:
        for orders in _orderings(engine, algorithm):
            yield Contestant("textbook", algorithm, _label(orders),
                             _textbook(engine, algorithm, orders))
    for algorithm in FAST:
        for variant, techniques in without_each_technique(engine):
            yield Contestant("fast", algorithm, variant, _solve(engine, algorithm, techniques))


def without_each_technique(engine: ReversiEngine) -> Iterator[tuple[str, dict[str, bool]]]:
    """Switches for the engine: everything on, each technique off for itself, all off."""
    usable = [name for name in TECHNIQUES if name not in TRAINED or has_weights(engine)]
    yield "all techniques", {}
    for technique in usable:
        yield f"without {technique}", {technique: False}
    yield "without all of them", dict.fromkeys(usable, False)


def has_weights(engine: ReversiEngine) -> bool:
    start = engine.game.initial()
    return engine.core.guess(start.own, start.opponent) is not None


def _orderings(engine: ReversiEngine, algorithm: str) -> Iterator[tuple[str, ...]]:
    single = [(order,) for order in compiled("reversi").ORDERS]
    for orders in ((), *single, *COMBINATIONS):
        if "trained" in orders and not has_weights(engine):
            continue
        if "transposition" in orders and algorithm == "alphabeta":
            continue  # the textbook's alpha-beta keeps no table
        yield orders


def _label(orders: tuple[str, ...]) -> str:
    if len(orders) > _LONGEST_LABEL:
        return "all features"
    return " + ".join(orders) or "none"


def _textbook(
    engine: ReversiEngine, algorithm: str, orders: tuple[str, ...]
) -> Callable[[Any, int], Run]:
    def run(position: Any, node_limit: int) -> Run:
        game, core = engine.game, engine.core
        if game.is_final(position):
            return Run(game.score(position), 1, 0.0)
        core.prepare(game.plies_left(position), node_limit)
        limits = game.score_range
        started = time.perf_counter()
        found = core.textbook(position.own, position.opponent, algorithm,
                              limits.lo - 1, limits.hi + 1, orders)
        seconds = time.perf_counter() - started
        return Run(None if found is None else found[0], core.nodes, seconds)

    return run


def _solve(
    engine: Engine, algorithm: str, techniques: dict[str, bool] | None = None
) -> Callable[[Any, int], Run]:
    def run(position: Any, node_limit: int) -> Run:
        if isinstance(engine, ReversiEngine):
            engine.core.set_options(**techniques or {})
        answer = engine.solve(position, algorithm=algorithm, node_limit=node_limit)
        solved = answer.status is Status.SOLVED
        return Run(answer.bounds.lo if solved else None, answer.nodes, answer.seconds)

    return run
