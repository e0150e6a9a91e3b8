"""What the planner asks the reversi engine about: how fast it tells, and how well.

Both can be compared with another revision: single calls with those of that revision, one right
after the other; efforts with the nodes that the revision's own search takes for the same questions.
"""

from __future__ import annotations

import math
import random
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from against import HERE, Solver

from zermelo.engine.reversi import ReversiEngine
from zermelo.games import open_game
from zermelo.games.reversi import Reversi, ReversiPosition

APPRAISED = 1000  # positions in one call
#: Board, and empties of the positions appraised.
BOARDS = (("reversi:6x7", 23), ("reversi:8x8,scoring=wof", 29))
LEAST_SECONDS = 2.0
SMALL_TABLE_MB = 16
#: Efforts are compared with the nodes of these questions.
ASKED_BOARD, QUESTIONS = "reversi:6x7", HERE / "questions-6x7.txt"

Question = tuple[ReversiPosition, int]


@dataclass(frozen=True, slots=True)
class Rate:
    """Seconds for a position: in one call, one by one, and one by one in another revision."""

    what: str
    together: float
    alone: float
    before: float | None


@dataclass(frozen=True, slots=True)
class Accuracy:
    """How well efforts tell nodes: the line through ln(nodes) by the lesser effort."""

    questions: int
    mean_nodes: float
    slope: float
    #: The standard deviation of ln(nodes) from that line.
    error: float
    #: How often the lesser effort is that of the answer found.
    right: float


def _engine(spec: str) -> ReversiEngine:
    game = open_game(spec)
    assert isinstance(game, Reversi)  # noqa: S101
    return ReversiEngine(game, hash_mb=SMALL_TABLE_MB)


def random_positions(engine: ReversiEngine, empties: int, count: int) -> list[ReversiPosition]:
    """Positions by random play, the same in every run."""
    game, rng = engine.game, random.Random(count)
    found: list[ReversiPosition] = []
    while len(found) < count:
        position = game.initial()
        while game.plies_left(position) > empties and not game.is_final(position):
            position = game.play(position, rng.choice(list(game.moves(position))))
        if not game.is_final(position):
            found.append(position)
    return found


def _written(engine: ReversiEngine, asked: Sequence[Question]) -> list[tuple[str, int]]:
    return [(engine.game.format(position), threshold) for position, threshold in asked]


def _seconds_each(call: Callable[[], Any], count: int) -> float:
    """What `call` takes for each of `count` positions, over at least LEAST_SECONDS. It is called
    once before, because the first call makes what later ones share."""
    call()
    calls, started = 0, time.perf_counter()
    while time.perf_counter() - started < LEAST_SECONDS:
        call()
        calls += 1
    return (time.perf_counter() - started) / calls / count


def rates(other: Path | None) -> Iterator[Rate]:
    """Guess and efforts on each board; single calls in turns with the revision in `other`."""
    solvers = [Solver(tree) for tree in (HERE.parent, other) if tree is not None]
    try:
        for spec, empties in BOARDS:
            engine = _engine(spec)
            asked = [(position, 0) for position in random_positions(engine, empties, APPRAISED)]
            positions = [position for position, _ in asked]
            for what, call in (
                ("guess", lambda: engine.guess_all(positions)),  # noqa: B023
                ("efforts", lambda: engine.efforts_all(asked)),  # noqa: B023
            ):
                task = {"what": what, "questions": _written(engine, asked),
                        "seconds": LEAST_SECONDS, "hash_mb": SMALL_TABLE_MB}
                together = _seconds_each(call, APPRAISED)
                single = [solver.call("rate", spec, **task)["seconds"] for solver in solvers]
                board = spec.partition(",")[0]
                yield Rate(f"{what}, {board}, {empties} empties", together, single[0],
                           single[1] if other else None)
    finally:
        for solver in solvers:
            solver.close()


def asked_questions() -> list[tuple[str, int]]:
    """Questions of a proof of 6x7, each with the score that is or is not reached."""
    lines = [line for line in QUESTIONS.read_text().splitlines() if not line.startswith("#")]
    return [(text, int(threshold)) for text, _, threshold in (
        line.rpartition(" ") for line in lines
    )]


def accuracy(answers: Sequence[tuple[float, float, int, bool]]) -> Accuracy:
    told = [min(yes, no) for yes, no, _, _ in answers]
    taken = [math.log(nodes) for _, _, nodes, _ in answers]
    line = statistics.linear_regression(told, taken)
    errors = [taken_ - line.intercept - line.slope * told_
              for told_, taken_ in zip(told, taken, strict=True)]
    return Accuracy(
        len(answers),
        statistics.fmean(nodes for _, _, nodes, _ in answers),
        line.slope,
        math.sqrt(statistics.fmean(error * error for error in errors)),
        statistics.fmean((yes < no) == reached for yes, no, _, reached in answers),
    )


def accuracies(trees: Sequence[Path]) -> Iterator[Accuracy]:
    """How well the engine of each folder tells what the same questions take its own search."""
    questions = asked_questions()
    for tree in trees:
        solver = Solver(tree)
        try:
            told = solver.call("answer", ASKED_BOARD, questions=questions, hash_mb=SMALL_TABLE_MB)
        finally:
            solver.close()
        yield accuracy(told["answers"])
