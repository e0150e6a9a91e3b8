"""Charts as SVG, drawn here so that they need no script."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from zermelo.figures import clock, short

WIDTH, HEIGHT = 600, 190
LEFT, RIGHT, TOP, BOTTOM = 72, 10, 14, 26
MOST_TICKS = 5


@dataclass(frozen=True, slots=True)
class Series:
    """A line of the chart; None where nothing is known."""

    label: str
    numbers: Sequence[float | None]
    #: How it is drawn: first, second or third.
    style: str


@dataclass(frozen=True, slots=True)
class Chart:
    title: str
    #: The paths of the lines, each with its style and what it is called.
    lines: list[tuple[str, str, str]]
    #: Between the first two series, where that is meant.
    area: str
    #: Where lines of the grid are, and what stands beside them.
    y_ticks: list[tuple[float, str]]
    x_ticks: list[tuple[float, str, str]]
    left: int = LEFT
    width: int = WIDTH
    height: int = HEIGHT


def time_chart(
    title: str, seconds: Sequence[float], series: Sequence[Series], *,
    stepped: bool = False, between: bool = False, log: bool = False,
    write: Callable[[float], str] = short, write_x: Callable[[float], str] = clock,
) -> Chart | None:  # fmt: skip
    """Numbers over the time since the beginning; None where there is nothing to draw.

    `stepped`: a number holds until the next one. `between` fills what lies between the first
    two series. With `log`, numbers below 1 are drawn as 1.
    """
    known = [number for each in series for number in each.numbers if number is not None]
    if len(seconds) < 2 or not known:
        return None
    scale = (lambda number: math.log10(max(1.0, number))) if log else float
    low, high = min(map(scale, known)), max(map(scale, known))
    if not log:
        low = min(low, 0.0)
    if high == low:
        high = low + 1
    length = seconds[-1] - seconds[0] or 1.0
    xs = [LEFT + (WIDTH - LEFT - RIGHT) * (at - seconds[0]) / length for at in seconds]

    def y(number: float) -> float:
        return TOP + (HEIGHT - TOP - BOTTOM) * (high - scale(number)) / (high - low)

    lines = [(each.style, _path(xs, each.numbers, y, stepped), each.label) for each in series]
    area = ""
    if between:
        upper = _path(xs, series[1].numbers, y, stepped)
        lower = _path(xs, series[0].numbers, y, stepped)
        area = f"{lower}L{_reversed(upper)}z" if upper.count("M") == lower.count("M") == 1 else ""
    return Chart(title, lines, area, _y_ticks(low, high, log, y, write), _x_ticks(length, write_x))


def _path(
    xs: Sequence[float], numbers: Sequence[float | None], y: Callable[[float], float],
    stepped: bool,
) -> str:  # fmt: skip
    parts: list[str] = []
    before: float | None = None
    for x, number in zip(xs, numbers, strict=True):
        if number is None:
            before = None
            continue
        if before is None:
            parts.append(f"M{x:.1f} {y(number):.1f}")
        elif stepped:
            parts.append(f"L{x:.1f} {before:.1f}L{x:.1f} {y(number):.1f}")
        else:
            parts.append(f"L{x:.1f} {y(number):.1f}")
        before = y(number)
    return "".join(parts)


def _reversed(path: str) -> str:
    return "L".join(reversed(path.removeprefix("M").split("L")))


def _y_ticks(
    low: float, high: float, log: bool, y: Callable[[float], float],
    write: Callable[[float], str],
) -> list[tuple[float, str]]:  # fmt: skip
    if log:
        powers = range(math.ceil(low), math.floor(high) + 1)
        step = max(1, math.ceil(len(powers) / MOST_TICKS))
        numbers = [10.0**power for power in powers[::step]]
    else:
        step_size = _nice((high - low) / MOST_TICKS)
        first = math.ceil(low / step_size)
        numbers = [step_size * at for at in range(first, math.floor(high / step_size) + 1)]
    return [(round(y(number), 1), write(number)) for number in numbers]


def _nice(step: float) -> float:
    """A round number not below `step`."""
    power = 10.0 ** math.floor(math.log10(step))
    return next(power * times for times in (1, 2, 5, 10) if power * times >= step * 0.999)


def _x_ticks(length: float, write: Callable[[float], str]) -> list[tuple[float, str, str]]:
    middle = (LEFT + WIDTH - RIGHT) / 2
    return [(LEFT, write(0.0), "start"), (middle, write(length / 2), "middle"),
            (WIDTH - RIGHT, write(length), "end")]  # fmt: skip
