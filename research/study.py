"""How large a game tree is: counted where that is possible, sampled beyond.

Positions are counted ply by ply, symmetric ones once. Beyond, random games tell the
branching factor at each ply; and, as Knuth observed in 1975, the product of the numbers
of moves met on a random way down is an unbiased estimate of the number of lines of play
of that length, so that their sum estimates the whole tree. Beside it stands the estimate that
is often printed: the sum of the products of mean branching factors. It is biased, because
the mean of a product is not the product of means.
"""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from zermelo.games import Game
from zermelo.proof.moves import MoveFinder, Place

#: Two-sided 95 % of a normal distribution.
_NORMAL_95 = 1.96
_LONGEST_GAME = 1000
#: How games call the move that changes nothing but whose turn it is.
PASS = "pass"  # noqa: S105 - the name of a move

#: Called now and then with what is being done and how far that is.
Report = Callable[[str, int], None]


@dataclass(frozen=True, slots=True)
class Ply:
    """What is known about positions at one distance from the start."""

    ply: int
    #: Distinct positions, symmetric ones counted once; None beyond the exact part.
    positions: int | None
    #: Of them (exactly) or of the games (sampled) that were over.
    final: int | None
    #: Mean number of moves of positions that are not final, in random games.
    branching: float | None
    #: Half the width of the 95 % confidence interval of `branching`.
    branching_error: float | None
    #: The same mean where a pass is no move; below 1 where many have to pass.
    branching_without_pass: float | None
    #: Random games that were not over at this ply.
    games: int


@dataclass(frozen=True, slots=True)
class Study:
    game: str
    plies: list[Ply]
    games: int
    mean_length: float
    #: Estimated number of nodes of the whole game tree: lines of play of any length.
    tree_size: float
    tree_size_low: float
    tree_size_high: float
    #: Sum of the products of `branching_without_pass` from the start down.
    tree_size_of_means: float


def study(
    game: Game[Any], *, exact: int, games: int, seed: int, report: Report = lambda what, done: None
) -> Study:
    """Count positions to the ply `exact`, and sample `games` random games."""
    counted = count_positions(game, exact, report)
    sampled = _Sample(game, random.Random(seed))  # noqa: S311
    for number in range(games):
        sampled.play()
        report("random games", number + 1)
    low, mean, high = sampled.tree_size()
    plies = []
    for ply in range(max(len(counted), len(sampled.moves))):
        positions, final = counted[ply] if ply < len(counted) else (None, None)
        branching, error = sampled.branching(ply)
        there = len(sampled.moves[ply]) if ply < len(sampled.moves) else 0
        plies.append(Ply(
            ply, positions, final, branching, error,
            None if branching is None else branching - sampled.passes[ply] / there, there,
        ))
    means = [ply.branching_without_pass for ply in plies if ply.branching_without_pass is not None]
    return Study(
        game.spec, plies, games, sampled.mean_length, mean, low, high, sum_of_products(means)
    )


def sum_of_products(factors: Iterable[float]) -> float:
    """The nodes of a tree in which every node of a ply has the same number of moves."""
    return 1.0 + sum(itertools.accumulate(factors, lambda product, factor: product * factor))


def count_positions(
    game: Game[Any], depth: int, report: Report = lambda what, done: None
) -> list[tuple[int, int]]:
    """Distinct positions at each ply to `depth`, and how many of them are final."""
    finder = MoveFinder(game)
    root = game.canonical(game.initial())
    level: dict[Place, bool] = {
        (game.encode(root), game.history(root)): game.is_final(root)
    }
    found = []
    for ply in range(depth + 1):
        if not level:
            break
        found.append((len(level), sum(level.values())))
        if ply == depth:
            break
        following: dict[Place, bool] = {}
        for number, (place, final) in enumerate(level.items()):
            if not final:
                for step in finder.steps(place):
                    following[step.after] = step.score is not None
            if not number % 4096:
                report(f"ply {ply + 1}", len(following))
        level = following
    return found


class _Sample:
    """Random games, move by move."""

    def __init__(self, game: Game[Any], choose: random.Random) -> None:
        self._game, self._choose = game, choose
        #: For each ply the numbers of moves that were met there, passes included.
        self.moves: list[list[int]] = []
        #: For each ply how many passes were among them.
        self.passes: list[int] = []
        self._lengths: list[int] = []
        self._sizes: list[float] = []

    @property
    def mean_length(self) -> float:
        return sum(self._lengths) / len(self._lengths) if self._lengths else 0.0

    def play(self) -> None:
        game, position = self._game, self._game.initial()
        lines, size = 1.0, 1.0
        for ply in range(_LONGEST_GAME):
            moves = game.moves(position)
            if not moves:
                self._lengths.append(ply)
                break
            if ply == len(self.moves):
                self.moves.append([])
                self.passes.append(0)
            self.moves[ply].append(len(moves))
            self.passes[ply] += PASS in game.line_names(moves)
            lines *= len(moves)
            size += lines
            position = game.play(position, self._choose.choice(moves))
        self._sizes.append(size)

    def branching(self, ply: int) -> tuple[float | None, float | None]:
        """The mean number of moves at a ply and the error of it."""
        numbers = self.moves[ply] if ply < len(self.moves) else []
        if not numbers:
            return None, None
        mean, error = _mean_and_error(numbers)
        return mean, error

    def tree_size(self) -> tuple[float, float, float]:
        """The estimate with its 95 % interval, low, mean and high.

        Sizes vary by orders of magnitude, so the interval is made for their logarithm's
        spread: a few large ones decide, and a symmetric interval would reach below zero.
        """
        if not self._sizes:
            return math.nan, math.nan, math.nan
        mean, error = _mean_and_error(self._sizes)
        factor = math.exp(error / mean) if error is not None and mean else math.inf
        return mean / factor, mean, mean * factor


def _mean_and_error(numbers: list[Any]) -> tuple[float, float | None]:
    mean = sum(numbers) / len(numbers)
    if len(numbers) < 2:
        return mean, None
    variance = sum((number - mean) ** 2 for number in numbers) / (len(numbers) - 1)
    return mean, _NORMAL_95 * math.sqrt(variance / len(numbers))
