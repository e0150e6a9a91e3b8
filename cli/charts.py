"""Charts of characters for terminals."""

from __future__ import annotations

import itertools
import math
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


def text_plot(
    title: str, numbers: Sequence[float], *, first: int = 0, log: bool = False, height: int = 10
) -> str:
    """A chart with a column for each number; `first` is what the first one stands for.

    With `log` the heights are those of the logarithms; numbers below 1 have none.
    """
    if not numbers:
        return f"{title}\n(nothing to show)"
    heights = [math.log10(max(1.0, number)) if log else max(0.0, number) for number in numbers]
    top = max(heights)
    labels = [f"{(10 ** (top * (row + 1) / height) if log else top * (row + 1) / height):.3g}"
              for row in range(height)]
    room = max(map(len, labels))
    lines = [title]
    for row in reversed(range(height)):
        eighths = [round(8 * (height * each / top - row)) if top else 0 for each in heights]
        cells = "".join(_HEIGHTS[min(8, max(0, each))] for each in eighths)
        label = labels[row] if row == height - 1 or row % 3 == 0 else ""
        lines.append(f"{label:>{room}} ┤{cells}".rstrip())
    last = str(first + len(numbers) - 1)
    below = f"{first}{last:>{max(0, len(numbers) - len(str(first)))}}"
    return "\n".join([*lines, f"{'':>{room}} └{'─' * len(numbers)}", f"{'':>{room}}  {below}"])


def text_bars(title: str, rows: Sequence[tuple[str, float]]) -> str:
    """A bar for each row; their lengths are those of the logarithms."""
    room = max((len(name) for name, _ in rows), default=0)
    most = max((math.log10(1 + number) for _, number in rows), default=0.0)
    return "\n".join([title, *(
        f"{name:<{room}} {bar(math.log10(1 + number), most, 40):<40} {number:.3g}".rstrip()
        for name, number in rows
    )])
