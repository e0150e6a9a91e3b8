"""What a question costs and how it will probably be answered, learned from results.

The logarithm of the nodes a question takes is modelled as linear in the plies left and
in how far the guess lies above or below the threshold, with a normal error; the chance
of a yes is logistic in that distance. Both start from a prior worth a few samples and
are refitted from the results in the database. Nothing here is ever part of a proof.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

#: ln(nodes) at 0 plies left, per ply, per point of distance, per point above the threshold.
PRIOR_COST = (-3.9, 0.715, -0.03, 0.0)
PRIOR_SPREAD = 1.3
#: The mean of a log-normal distribution that is wider than this hangs on a tail that nobody
#: sees: what takes that long is split.
WIDEST_SPREAD = 2.0
PRIOR_CHANCE = (0.0, 0.25)
PRIOR_SAMPLES = 8.0
#: The prior was seen to hold at so many plies left.
PRIOR_PLIES = 15.0
#: How wrong the growth per ply may be: at first, and however many answers were seen.
PRIOR_GROWTH_ERROR, LEAST_GROWTH_ERROR = 0.2, 0.05
#: How wrong the level of the prior may be for a game that was never seen.
PRIOR_LEVEL_ERROR = 2.5
#: How wrong the logarithm of a sum is though each cost is known: which questions will be
#: needed is not. (Estimates for 6x6 were off by 0.4 to 0.9, once the model had settled.)
LEAST_ERROR = 0.6

_LEAST_CHANCE = 0.02
_DAMPING = 20.0  # the largest exponents taken, so that nothing overflows
_LARGEST_LOG_COST = 60.0
_SLOWEST_GROWTH, _FASTEST_GROWTH = 0.05, 2.5


class Sample(NamedTuple):
    """One result, as the model sees it. `yes` is None when the budget ran out first."""

    plies_left: int
    distance: int
    nodes: int
    yes: bool | None


class Outlook(NamedTuple):
    """What is to be expected of a question."""

    chance: float
    #: The median and the mean of the nodes it takes.
    typical_cost: float
    expected_cost: float


@dataclass(frozen=True, slots=True)
class CostModel:
    cost_weights: tuple[float, float, float, float] = PRIOR_COST
    spread: float = PRIOR_SPREAD
    chance_weights: tuple[float, float] = PRIOR_CHANCE
    samples: int = field(default=0, compare=False)
    #: How many typical answers the samples are worth, and the mean plies left of all that is
    #: known, the prior included.
    evidence: float = field(default=0.0, compare=False)
    familiar_plies: float = field(default=PRIOR_PLIES, compare=False)
    #: Questions look alike by the thousand: what was worked out for one serves all of them.
    _outlooks: dict[tuple[int, int], Outlook] = field(
        default_factory=dict, init=False, compare=False, repr=False
    )

    def outlook(self, plies_left: int, distance: int) -> Outlook:
        outlook = self._outlooks.get((plies_left, distance))
        if outlook is None:
            outlook = self._outlooks[plies_left, distance] = Outlook(
                self.chance(distance),
                self.typical_cost(plies_left, distance),
                self.expected_cost(plies_left, distance),
            )
        return outlook

    def log_cost(self, plies_left: int, distance: int) -> float:
        return _dot(self.cost_weights, _features(plies_left, distance))

    def typical_cost(self, plies_left: int, distance: int) -> float:
        """The median of the nodes that such a question takes."""
        return math.exp(min(self.log_cost(plies_left, distance), _LARGEST_LOG_COST)) + 1.0

    def expected_cost(self, plies_left: int, distance: int) -> float:
        """The mean of the nodes that such a question takes."""
        spread = min(self.spread, WIDEST_SPREAD)
        return self.typical_cost(plies_left, distance) * math.exp(spread**2 / 2)

    def chance(self, distance: int) -> float:
        """How likely the score reaches the threshold when the guess is `distance` above it."""
        bias, slope = self.chance_weights
        chance = _logistic(bias + slope * (distance + 0.5))
        return min(1 - _LEAST_CHANCE, max(_LEAST_CHANCE, chance))

    def error(self, plies_left: float) -> float:
        """How wrong ln(nodes) of work at so many plies left probably is: one standard deviation.

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
        a, b, c, d, spread, bias, slope = parameters
        return cls((a, b, c, d), spread, (bias, slope), samples)

    def refitted(self, samples: Sequence[Sample]) -> CostModel:
        """The model that explains `samples` best, held by the prior where they are few."""
        if not samples:
            return self
        weights, spread = self._fit_cost(samples)
        evidence, familiar = _evidence(samples)
        return CostModel(
            weights, spread, _fit_chance(samples), len(samples), evidence, familiar
        )

    def _fit_cost(
        self, samples: Sequence[Sample]
    ) -> tuple[tuple[float, float, float, float], float]:
        """Least squares with a ridge towards the prior, which counts as PRIOR_SAMPLES rows.

        Plies are taken from their mean, so that the ridge holds the growth per ply and
        the level at the mean, not their combination.
        """
        middle = sum(sample.plies_left for sample in samples) / len(samples)
        prior = (PRIOR_COST[0] + PRIOR_COST[1] * middle, *PRIOR_COST[1:])
        rows = [_features(s.plies_left - middle, s.distance) for s in samples]
        targets = [self._log_nodes(s) for s in samples]
        ridge = [
            PRIOR_SAMPLES * max(1.0, sum(row[i] ** 2 for row in rows) / len(rows))
            for i in range(4)
        ]
        matrix = [
            [sum(row[i] * row[j] for row in rows) + (ridge[i] if i == j else 0) for j in range(4)]
            for i in range(4)
        ]
        vector = [
            sum(row[i] * target for row, target in zip(rows, targets, strict=True))
            + ridge[i] * prior[i]
            for i in range(4)
        ]
        a, b, c, d = _solve(matrix, vector)
        b = min(_FASTEST_GROWTH, max(_SLOWEST_GROWTH, b))
        errors = sum(
            (_dot((a, b, c, d), row) - target) ** 2 + self._unseen_variance(sample)
            for row, target, sample in zip(rows, targets, samples, strict=True)
        )
        variance = (errors + PRIOR_SAMPLES * PRIOR_SPREAD**2) / (len(rows) + PRIOR_SAMPLES)
        return (a - b * middle, b, c, d), math.sqrt(variance)

    def log_cost_beyond(self, log_cost: float, nodes: int) -> float:
        """The mean of ln(nodes) of a question of this log-cost that took more than `nodes`."""
        z = self._beyond(log_cost, nodes)
        return max(math.log(nodes + 1), log_cost + self.spread * _hazard(z))

    def _beyond(self, log_cost: float, nodes: int) -> float:
        """How many standard deviations so many nodes are above a log-cost."""
        return min(4.0, (math.log(nodes + 1) - log_cost) / self.spread)

    def _unseen_variance(self, sample: Sample) -> float:
        """How far ln(nodes) may be from where it is taken to be, if the budget ran out first."""
        if sample.yes is not None:
            return 0.0
        z = self._beyond(self.log_cost(sample.plies_left, sample.distance), sample.nodes)
        hazard = _hazard(z)
        return self.spread**2 * max(0.0, 1 + z * hazard - hazard**2)

    def _log_nodes(self, sample: Sample) -> float:
        if sample.yes is not None:
            return math.log(sample.nodes + 1)
        expected = self.log_cost(sample.plies_left, sample.distance)
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
    plies = [sample.plies_left for sample in samples if sample.yes is not None]
    if not plies:
        return 0.0, PRIOR_PLIES
    typical = len(plies) / len(samples)
    known = PRIOR_SAMPLES * PRIOR_PLIES + typical * sum(plies)
    return typical * len(plies), known / (PRIOR_SAMPLES + typical * len(plies))


def _features(plies_left: float, distance: int) -> tuple[float, float, float, float]:
    return 1.0, float(plies_left), float(abs(distance)), float(distance)


def _dot(weights: Sequence[float], features: Sequence[float]) -> float:
    return sum(weight * feature for weight, feature in zip(weights, features, strict=True))


def _logistic(x: float) -> float:
    return 1 / (1 + math.exp(-max(-_DAMPING, min(_DAMPING, x))))


def _fit_chance(samples: Sequence[Sample], steps: int = 8) -> tuple[float, float]:
    """Newton's method for the logistic curve through the answers, with a ridge."""
    answered = [(s.distance + 0.5, s.yes) for s in samples if s.yes is not None]
    if not answered:
        return PRIOR_CHANCE
    bias, slope = PRIOR_CHANCE
    width = max(1.0, sum(x * x for x, _ in answered) / len(answered))
    ridge = (PRIOR_SAMPLES, PRIOR_SAMPLES * width)
    for _ in range(steps):
        gradient = [ridge[0] * (PRIOR_CHANCE[0] - bias), ridge[1] * (PRIOR_CHANCE[1] - slope)]
        curve = [[ridge[0], 0.0], [0.0, ridge[1]]]
        for x, yes in answered:
            chance = _logistic(bias + slope * x)
            gradient[0] += yes - chance
            gradient[1] += (yes - chance) * x
            weight = chance * (1 - chance)
            curve[0][0] += weight
            curve[0][1] += weight * x
            curve[1][1] += weight * x * x
        curve[1][0] = curve[0][1]
        step = _solve(curve, gradient)
        bias, slope = bias + step[0], max(0.01, slope + step[1])
    return bias, slope


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
