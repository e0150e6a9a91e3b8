"""The plot of a comparison: nodes and time, one row a way to search, both logarithmic."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from zermelo.cli.charts import text_bars
from zermelo.cli.plots import open_canvas, print_text_plot
from zermelo.engine import ALGORITHMS

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from zermelo.cli.engine.compare import Standing

_MARKERS = dict(zip(ALGORITHMS, "Xosd^", strict=True))
_COLOURS = dict(zip(ALGORITHMS, ("C7", "C0", "C1", "C2", "C3"), strict=True))
_ROW_INCHES, _MARGIN_INCHES = 0.26, 1.6


def open_plot(file: str) -> Callable[[str, list[Standing]], None]:
    """What will draw the plot; errors that can be known beforehand are raised here."""
    canvas = open_canvas(file)
    if canvas is None:
        return _draw_text

    def draw(title: str, standings: list[Standing]) -> None:
        # Rows from the top down in the order of the table; one row serves all algorithms.
        rows = list(dict.fromkeys(_row(standing) for standing in standings))
        figure = canvas.figure(11, _MARGIN_INCHES + _ROW_INCHES * len(rows))
        left, right = figure.subplots(1, 2, sharey=True)
        _scatter(left, rows, standings, [standing.nodes for standing in standings])
        _scatter(right, rows, standings, [standing.seconds for standing in standings])
        left.set_yticks(range(len(rows)), rows)
        left.invert_yaxis()
        left.set_xlabel("nodes")
        right.set_xlabel("seconds")
        figure.suptitle(title)
        handles, names = left.get_legend_handles_labels()
        figure.legend(handles, names, loc="outside lower center", ncols=len(names), frameon=False)
        canvas.save(figure)

    return draw


def _draw_text(title: str, standings: list[Standing]) -> None:
    rows = [(f"{_row(each)}, {each.contestant.algorithm}", float(each.nodes))
            for each in standings]
    print_text_plot(text_bars(f"{title}: nodes (logarithmic)", rows))


def _row(standing: Standing) -> str:
    contestant = standing.contestant
    return f"{contestant.kind}: {contestant.variant}"


def _scatter(
    axes: Axes, rows: list[str], standings: list[Standing], amounts: list[float]
) -> None:
    """One marker a contestant; hollow where the node limit made it a lower bound."""
    for algorithm in ALGORITHMS:
        ours = [(standing, amount) for standing, amount in zip(standings, amounts, strict=True)
                if standing.contestant.algorithm == algorithm]
        if not ours:
            continue
        axes.scatter(
            [amount for _, amount in ours],
            [rows.index(_row(standing)) for standing, _ in ours],
            marker=_MARKERS[algorithm],
            edgecolors=_COLOURS[algorithm],
            facecolors=["none" if standing.unfinished else _COLOURS[algorithm]
                        for standing, _ in ours],
            label=algorithm,
        )
    axes.set_xscale("log")
    axes.grid(axis="both", alpha=0.3)
