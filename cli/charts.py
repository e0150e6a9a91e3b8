"""Little charts of characters for terminals."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

_HEIGHTS = " ▁▂▃▄▅▆▇█"
_EIGHTHS = " ▏▎▍▌▋▊▉█"


def sparkline(numbers: Sequence[float], width: int = 60) -> str:
    """A curve on one line; each character stands for the mean of its numbers."""
    if not numbers:
        return ""
    width = min(width, len(numbers))
    edges = [round(at * len(numbers) / width) for at in range(width + 1)]
    means = [sum(numbers[a:b]) / (b - a) for a, b in itertools.pairwise(edges)]
    top = max(means)
    if top <= 0:
        return _HEIGHTS[1] * width
    return "".join(_HEIGHTS[max(1, round(8 * max(0.0, mean) / top))] for mean in means)


def bar(number: float, most: float, width: int = 20) -> str:
    """A bar as long as the number is of the largest one."""
    eighths = round(8 * width * number / most) if most > 0 else 0
    whole, rest = divmod(eighths, 8)
    return "█" * whole + (_EIGHTHS[rest] if rest else "")
