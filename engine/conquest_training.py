"""Training the priors of moves in the conquest, from searches of the engine itself.

A search records states whose answer it found. Each becomes a lesson: every move is searched
by itself, and so it comes out which of them serve their side. The weights are fitted so that
a move that serves gets the highest sum (a softmax over the moves of a lesson). With these
weights the next search goes farther, and its states are the lessons of the next round.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from zermelo import __version__
from zermelo.cext import go_conquest
from zermelo.engine.conquest import Conquest
from zermelo.engine.interface import EngineError
from zermelo.engine.registry import Lessons, Tell, Trained
from zermelo.games.go import Go

SEED = 19550101
HASH_MB = 1024
SIDES = ("prover", "opponent")
ROUNDS = ((7, 14), (8, 22))  # how near and how far from the end states are taken, in plies
EVERY = 3  # one state in this number may become a lesson
LESSON_NODES = 20_000
STEPS = 300
RATE = 0.05
RIDGE = 1.0
NODES_PER_LESSON = 400  # of the search that finds the states
HELD_BACK = 10  # one lesson in this many checks the fit instead of making it

Floats = npt.NDArray[np.float32]
Lesson = list[tuple[list[int], bool]]


@dataclass(frozen=True)
class Effort:
    """How much work to put into training."""

    lessons: int = 30_000  # for each side and round
    nodes: int = 12_000_000  # of the search that finds the states; three times as many later

    @classmethod
    def of(cls, lessons: int | None) -> Effort:
        return cls() if lessons is None else cls(lessons, lessons * NODES_PER_LESSON)


class RoundReport(NamedTuple):
    """How well the weights tell right moves in lessons they were not made from."""

    round: int
    side: str
    lessons: int
    first: float  # share of lessons in which the move of highest prior is right
    first_three: float

    def __str__(self) -> str:
        return (
            f"round {self.round}, {self.side}: {self.lessons:,} lessons, the likeliest move"
            f" right in {self.first:.0%}, one of the first three in {self.first_three:.0%}"
        )


def train_go(game: Go, lessons: Lessons, tell: Tell) -> Trained:
    """The priors of moves in the search for the whole board; one file serves all boards."""
    if not Conquest.suits(game):
        raise EngineError(f"{game.short_spec}: there is nothing to train for this game")
    if lessons.exact_empties is not None or lessons.depth is not None:
        raise EngineError("--exact-empties and --depth are for reversi")
    effort = Effort.of(lessons.positions)
    weights, provenance = train(game, effort, lambda report: tell(str(report)))
    return weights.astype("<i2").tobytes(), provenance


def train(
    game: Go, effort: Effort, report: Callable[[RoundReport], None]
) -> tuple[npt.NDArray[np.int16], dict[str, Any]]:
    """The weights of both sides, prover first, and where they come from."""
    rng = np.random.default_rng(SEED)
    lessons: tuple[list[Lesson], list[Lesson]] = ([], [])
    weights = np.zeros((len(SIDES), go_conquest.WEIGHTS), np.int16)
    quality = {}
    for number, plies in enumerate(ROUNDS):
        search = go_conquest.Conquest(game.rows, game.cols, HASH_MB)
        if number:
            search.learned(*weights)
        states = _states(game, search, plies, effort.nodes * 3**number)
        for side, name in enumerate(SIDES):
            chosen = [state for state in states if state[2] == side]
            rng.shuffle(chosen)
            for state in chosen[: effort.lessons]:
                lesson = search.lesson(*state, LESSON_NODES)
                if len({serves for _, serves in lesson}) == 2:
                    lessons[side].append(lesson)
            weights[side], first, first_three = _fit(lessons[side])
            quality[f"{name}_{number + 1}"] = [round(first, 3), round(first_three, 3)]
            report(RoundReport(number + 1, name, len(lessons[side]), first, first_three))
    provenance = {
        "game": game.short_spec,
        "zermelo": __version__,
        "seed": SEED,
        "lessons": effort.lessons,
        "nodes": effort.nodes,
        "right_among_first_and_first_three": quality,
    }
    return weights, provenance


def _states(
    game: Go, search: go_conquest.Conquest, plies: tuple[int, int], nodes: int
) -> list[go_conquest.Sample]:
    """States from a search for the whole board after an opening in the centre."""
    centre = 1 << 8 * (game.rows // 2) + game.cols // 2
    states = search.sample(
        centre, 0, False, go_conquest.DEEPEST, nodes, nodes // 4, EVERY, *plies, SEED
    )
    return sorted(set(states))


def _fit(lessons: list[Lesson]) -> tuple[npt.NDArray[np.int16], float, float]:
    """The weights, and how often a right move is the first, or among the first three."""
    of = np.concatenate([np.full(len(lesson), i) for i, lesson in enumerate(lessons)])
    shown = np.array([move for lesson in lessons for move, _ in lesson])
    serves = np.array([serves for lesson in lessons for _, serves in lesson])
    held = of % HELD_BACK == 0
    weights = _climb(shown[~held], of[~held], serves[~held], len(lessons))
    ranks = _ranks(weights[shown[held]].sum(axis=1), of[held], serves[held])
    rounded: npt.NDArray[np.int16] = np.round(weights * go_conquest.UNIT).astype(np.int16)
    return rounded, float((ranks == 0).mean()), float((ranks < 3).mean())


def _climb(
    shown: npt.NDArray[Any], of: npt.NDArray[Any], serves: npt.NDArray[Any], lessons: int
) -> Floats:
    """Make it likely that a move drawn by its prior serves (steps as Adam takes them)."""
    size = go_conquest.WEIGHTS
    weights, mean, square = (np.zeros(size, np.float32) for _ in range(3))
    for step in range(1, STEPS + 1):
        chance = _softmax(weights[shown].sum(axis=1), of, lessons)
        right = np.bincount(of, chance * serves, lessons)
        excess = chance - np.where(serves, chance / np.maximum(right[of], 1e-9), 0)
        slope = RIDGE * weights
        for column in shown.T:
            slope += np.bincount(column, excess, size).astype(np.float32)
        mean = 0.9 * mean + 0.1 * slope
        square = 0.99 * square + 0.01 * slope**2
        scale = np.sqrt(square / (1 - 0.99**step)) + 1
        weights -= RATE * (mean / (1 - 0.9**step)) / scale
    return weights


def _softmax(prior: Floats, of: npt.NDArray[Any], lessons: int) -> Floats:
    highest = np.full(lessons, -np.inf, np.float32)
    np.maximum.at(highest, of, prior)
    grown = np.exp(prior - highest[of])
    share: Floats = grown / np.bincount(of, grown, lessons)[of]
    return share


def _ranks(prior: Floats, of: npt.NDArray[Any], serves: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """For each lesson, how many moves have a higher prior than the first that serves."""
    best: dict[int, float] = {}
    for lesson, value, right in zip(of, prior, serves, strict=True):
        if right:
            best[lesson] = max(best.get(lesson, -np.inf), value)
    above = dict.fromkeys(best, 0)
    for lesson, value in zip(of, prior, strict=True):
        above[lesson] += bool(value > best[lesson])
    return np.array(list(above.values()))
