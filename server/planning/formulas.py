"""The formulas of the cost model: plain Python, compiled with the types of formulas.pxd.

Generators evaluate them for every leaf whenever anything about it changes. The model itself, and
how its weights are learned, is in costs.py.
"""

from __future__ import annotations

import math

Weights = tuple[float, ...]

_LEAST_CHANCE = 0.02
#: The logit of the greatest chance.
_LARGEST_LOGIT = math.log((1 - _LEAST_CHANCE) / _LEAST_CHANCE)
_LARGEST_LOG_COST = 60.0
#: A larger difference of efforts says nothing more about the answer.
CLEAR = _CLEAR = 15.0


def log_cost(
    weights: Weights, plies_left: int, distance: int, effort_yes: float, effort_no: float
) -> float:
    """The median of ln(nodes) that such a question takes."""
    # The product of the weights and `Features.of_cost`, written out.
    level, per_ply, per_point, per_point_above, per_effort = weights
    return (
        level + per_ply * plies_left + per_point * abs(distance) + per_point_above * distance
        + per_effort * (effort_yes if effort_yes < effort_no else effort_no)
    )  # fmt: skip


def typical_cost(
    weights: Weights, plies_left: int, distance: int, effort_yes: float, effort_no: float
) -> float:
    """The median of the nodes that such a question takes."""
    logarithm = log_cost(weights, plies_left, distance, effort_yes, effort_no)
    return math.exp(logarithm if logarithm < _LARGEST_LOG_COST else _LARGEST_LOG_COST) + 1.0


def chance(weights: Weights, distance: int, effort_yes: float, effort_no: float) -> float:
    """How likely the score reaches the threshold."""
    level, per_point, per_effort = weights
    clear = effort_no - effort_yes
    if not -_CLEAR < clear < _CLEAR:
        clear = math.copysign(_CLEAR, clear)
    logit = level + per_point * (distance + 0.5) + per_effort * clear
    if not -_LARGEST_LOGIT < logit < _LARGEST_LOGIT:
        logit = math.copysign(_LARGEST_LOGIT, logit)
    return 1 / (1 + math.exp(-logit))
