"""What a question costs and how it will probably be answered, learned from results.

A question shows the efforts that the engine expects either answer to take, the plies
left, and how far the guess lies above or below the threshold. The logarithm of the nodes it
takes is modelled as linear in these, with a normal error; the chance of a yes is logistic in
the distance and in how much more effort a no would take. Both start from a prior worth a few
samples, which takes the efforts at their word, and are refitted from the results in the
database. Nothing here is ever part of a proof.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from zermelo.engine import Efforts
from zermelo.server.planning.formulas import CLEAR, Weights, chance, log_cost, typical_cost

#: ln(nodes) where an engine has no idea of efforts: at 0 plies left, per ply, per point of
#: distance.
USUAL_EFFORT = (-3.9, 0.715, -0.03)
#: ln(nodes): a constant, per ply left, per point of distance, per point above the threshold,
#: per unit of the lesser effort.
PRIOR_COST = (0.0, 0.0, 0.0, 0.0, 1.0)
PRIOR_SPREAD = 1.3
#: The mean of a log-normal distribution that is wider than this hangs on a tail that nobody
#: sees: what takes that long is split.
WIDEST_SPREAD = 2.0
#: Of the logit: a constant, per point above the threshold, per unit that a no takes more.
PRIOR_CHANCE = (0.0, 0.25, 0.5)
PRIOR_SAMPLES = 8.0
#: The plies left at which the prior was seen to hold.
PRIOR_PLIES = 15.0
#: How wrong the growth per ply may be: at first, and however many answers were seen.
PRIOR_GROWTH_ERROR, LEAST_GROWTH_ERROR = 0.2, 0.05
#: How wrong the level of the prior may be for a game that was never seen.
PRIOR_LEVEL_ERROR = 2.5
#: How wrong the logarithm of a sum is though each cost is known: which questions will be
#: needed is not. (Estimates for 6x6 were off by 0.4 to 0.9, once the model had settled.)
LEAST_ERROR = 0.6

#: Models that tell ln(nodes) and chances this far apart, on average, tell the same.
_SAME_LOG_COST, _SAME_CHANCE = 0.1, 0.02

_DAMPING = 20.0  # the largest exponents taken, so that nothing overflows
#: How far the data may change the weight of efforts, and what a point and a difference of
#: efforts must at least say about the answer.
_EFFORT_WEIGHTS = (0.25, 2.0)
_LEAST_SLOPES = (-math.inf, 0.01, 0.0)


class Features(NamedTuple):
    """What a question shows before anybody has searched."""

    plies_left: int
    #: How far the guess lies above the threshold.
    distance: int
    efforts: Efforts

    def of_cost(self) -> Weights:
        distance = float(self.distance)
        return 1.0, float(self.plies_left), abs(distance), distance, min(self.efforts)

    def of_chance(self) -> Weights:
        yes, no = self.efforts
        return 1.0, self.distance + 0.5, max(-CLEAR, min(CLEAR, no - yes))


class Sample(NamedTuple):
    """One result, as the model sees it. `yes` is None when the budget ran out first."""

    features: Features
    nodes: int
    yes: bool | None


@dataclass(frozen=True, slots=True)
class CostModel:
    cost_weights: Weights = PRIOR_COST
    spread: float = PRIOR_SPREAD
    chance_weights: Weights = PRIOR_CHANCE
    samples: int = field(default=0, compare=False)
    #: How many typical answers the samples are worth, and the mean plies left of all that is
    #: known, the prior included.
    evidence: float = field(default=0.0, compare=False)
    familiar_plies: float = field(default=PRIOR_PLIES, compare=False)
    #: The mean of the nodes that questions take, by their median.
    surcharge: float = field(init=False, compare=False)

    def __post_init__(self) -> None:
        surcharge = math.exp(min(self.spread, WIDEST_SPREAD) ** 2 / 2)
        object.__setattr__(self, "surcharge", surcharge)

    def expected_cost(self, features: Features) -> float:
        """The mean of the nodes that such a question takes."""
        plies_left, distance, (yes, no) = features
        return typical_cost(self.cost_weights, plies_left, distance, yes, no) * self.surcharge

    def log_cost(self, features: Features) -> float:
        """The median of ln(nodes) that such a question takes."""
        plies_left, distance, (yes, no) = features
        return log_cost(self.cost_weights, plies_left, distance, yes, no)

    def chance(self, features: Features) -> float:
        """How likely the score reaches the threshold."""
        _, distance, (yes, no) = features
        return chance(self.chance_weights, distance, yes, no)

    def error(self, plies_left: float) -> float:
        """How wrong ln(nodes) of work at `plies_left` probably is: one standard deviation.

        Only answers make it smaller, and what lies beyond them is extrapolated.
        """
        certainty = math.sqrt(1 + self.evidence / 10)
        growth_error = max(LEAST_GROWTH_ERROR, PRIOR_GROWTH_ERROR / certainty)
        return math.hypot(
            LEAST_ERROR,
            PRIOR_LEVEL_ERROR / certainty**2,
            self.spread / certainty,
            max(0.0, self.spread - WIDEST_SPREAD),
            growth_error * max(0.0, plies_left - self.familiar_plies),
        )

    @property
    def parameters(self) -> list[float]:
        return [*self.cost_weights, self.spread, *self.chance_weights]

    @classmethod
    def from_parameters(cls, parameters: Sequence[float], samples: int) -> CostModel:
        costs = len(PRIOR_COST)
        return cls(
            tuple(parameters[:costs]), parameters[costs], tuple(parameters[costs + 1 :]), samples
        )

    def refitted(self, samples: Sequence[Sample]) -> CostModel:
        """The model that explains `samples` best, held by the prior where they are few."""
        if not samples:
            return self
        weights, spread = self._fit_cost(samples)
        evidence, familiar = _evidence(samples)
        return CostModel(
            weights, spread, _fit_chance(samples), len(samples), evidence, familiar
        )

    def agrees(self, other: CostModel, samples: Sequence[Sample]) -> bool:
        """Whether it makes no difference which of the two tells what such questions cost."""
        costs = chances = 0.0
        for features, _, _ in samples:
            costs += abs(self.log_cost(features) - other.log_cost(features))
            chances += abs(self.chance(features) - other.chance(features))
        most = len(samples)
        return (
            costs <= most * _SAME_LOG_COST
            and chances <= most * _SAME_CHANCE
            and abs(math.log(self.surcharge / other.surcharge)) <= _SAME_LOG_COST
        )

    def supported_like(self, other: CostModel) -> CostModel:
        """The same costs and chances, resting on as many answers as another model."""
        return replace(
            self, samples=other.samples, evidence=other.evidence,
            familiar_plies=other.familiar_plies,
        )  # fmt: skip

    def _fit_cost(self, samples: Sequence[Sample]) -> tuple[Weights, float]:
        """Least squares with a ridge towards the prior, which counts as PRIOR_SAMPLES rows.

        Features are taken from their means, so that the ridge holds the level there and how
        it grows, not their combination.
        """
        rows = [sample.features.of_cost() for sample in samples]
        targets = [self._log_nodes(sample) for sample in samples]
        means = (0.0, *[sum(column) / len(rows) for column in list(zip(*rows, strict=True))[1:]])
        centred = [tuple(map(operator.sub, row, means)) for row in rows]
        errors = [target - _dot(PRIOR_COST, row) for row, target in zip(rows, targets, strict=True)]
        change = _solve(
            _curvature(centred, [1.0] * len(rows), _ridge(centred)),
            [_dot(column, errors) for column in zip(*centred, strict=True)],
        )
        least, most = _EFFORT_WEIGHTS
        change[-1] = min(most, max(least, PRIOR_COST[-1] + change[-1])) - PRIOR_COST[-1]
        change[0] -= _dot(change, means)
        weights = tuple(map(operator.add, PRIOR_COST, change))
        squares = sum(
            (_dot(weights, row) - target) ** 2 + self._unseen_variance(sample)
            for row, target, sample in zip(rows, targets, samples, strict=True)
        )
        variance = (squares + PRIOR_SAMPLES * PRIOR_SPREAD**2) / (len(rows) + PRIOR_SAMPLES)
        return weights, math.sqrt(variance)

    def log_cost_beyond(self, log_cost: float, nodes: int) -> float:
        """The mean of ln(nodes) of a question of this log-cost that took more than `nodes`."""
        z = self._beyond(log_cost, nodes)
        return max(math.log(nodes + 1), log_cost + self.spread * _hazard(z))

    def _beyond(self, log_cost: float, nodes: int) -> float:
        """How many standard deviations `nodes` are above a log-cost."""
        return min(4.0, (math.log(nodes + 1) - log_cost) / self.spread)

    def _unseen_variance(self, sample: Sample) -> float:
        """How far ln(nodes) may be from where it is taken to be, if the budget ran out first."""
        if sample.yes is not None:
            return 0.0
        z = self._beyond(self.log_cost(sample.features), sample.nodes)
        hazard = _hazard(z)
        return self.spread**2 * max(0.0, 1 + z * hazard - hazard**2)

    def _log_nodes(self, sample: Sample) -> float:
        if sample.yes is not None:
            return math.log(sample.nodes + 1)
        expected = self.log_cost(sample.features)
        return self.log_cost_beyond(expected, sample.nodes)


def _hazard(z: float) -> float:
    """The mean of what exceeds `z` in a standard normal distribution."""
    density = math.exp(-z * z / 2) / math.sqrt(2 * math.pi)
    return density / max(1e-9, 0.5 * math.erfc(z / math.sqrt(2)))


def _evidence(samples: Sequence[Sample]) -> tuple[float, float]:
    """How many typical answers the samples are worth, and the plies left that they are about.

    A budget that ran out says little about how much was missing; and where many ran out, those
    that were answered are the easy ones.
    """
    plies = [sample.features.plies_left for sample in samples if sample.yes is not None]
    if not plies:
        return 0.0, PRIOR_PLIES
    typical = len(plies) / len(samples)
    known = PRIOR_SAMPLES * PRIOR_PLIES + typical * sum(plies)
    return typical * len(plies), known / (PRIOR_SAMPLES + typical * len(plies))


def usual_efforts(plies_left: int, distance: int) -> Efforts:
    """What questions usually take, for engines that have no idea."""
    level, growth, slope = USUAL_EFFORT
    effort = level + growth * plies_left + slope * abs(distance)
    return Efforts(effort, effort)


def _dot(weights: Sequence[float], features: Sequence[float]) -> float:
    total: float = sum(map(operator.mul, weights, features))
    return total


def _logistic(x: float) -> float:
    return 1 / (1 + math.exp(-max(-_DAMPING, min(_DAMPING, x))))


def _ridge(rows: Sequence[Weights]) -> list[float]:
    """How much of a prior each weight has: as much as PRIOR_SAMPLES typical rows."""
    return [
        PRIOR_SAMPLES * max(1.0, _dot(column, column) / len(rows))
        for column in zip(*rows, strict=True)
    ]


def _curvature(
    rows: Sequence[Weights], counts: Sequence[float], ridge: Sequence[float]
) -> list[list[float]]:
    """The sum of the squares of rows, weighted by `counts`, as a matrix, and the ridge."""
    columns = list(zip(*rows, strict=True))
    counted = [list(map(operator.mul, column, counts)) for column in columns]
    matrix = [[_dot(one, other) for other in columns] for one in counted]
    for at, held in enumerate(ridge):
        matrix[at][at] += held
    return matrix


def _fit_chance(samples: Sequence[Sample], steps: int = 8) -> Weights:
    """Newton's method for the logistic curve through the answers, with a ridge."""
    answered = [sample for sample in samples if sample.yes is not None]
    if not answered:
        return PRIOR_CHANCE
    rows = [sample.features.of_chance() for sample in answered]
    ridge = _ridge(rows)
    fitted = PRIOR_CHANCE
    for _ in range(steps):
        chances = [_logistic(_dot(fitted, row)) for row in rows]
        errors = [
            bool(sample.yes) - chance for sample, chance in zip(answered, chances, strict=True)
        ]
        gradient = [
            _dot(column, errors) + held * (prior - weight)
            for column, held, prior, weight in zip(
                zip(*rows, strict=True), ridge, PRIOR_CHANCE, fitted, strict=True
            )
        ]
        curve = _curvature(rows, [chance * (1 - chance) for chance in chances], ridge)
        moved = map(operator.add, fitted, _solve(curve, gradient))
        fitted = tuple(map(max, moved, _LEAST_SLOPES))
    return fitted


def _solve(matrix: list[list[float]], vector: list[float]) -> list[float]:
    """Gaussian elimination for the small positive definite systems above."""
    size = len(vector)
    rows = [[*row, value] for row, value in zip(matrix, vector, strict=True)]
    for i in range(size):
        pivot = rows[i][i]
        for j in range(i + 1, size):
            factor = rows[j][i] / pivot
            rows[j] = [x - factor * y for x, y in zip(rows[j], rows[i], strict=True)]
    solution = [0.0] * size
    for i in reversed(range(size)):
        known = sum(rows[i][j] * solution[j] for j in range(i + 1, size))
        solution[i] = (rows[i][size] - known) / rows[i][i]
    return solution
