"""The plot of a comparison: nodes and time, one row a way to search, both logarithmic."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from zermelo.cli.charts import text_bars
from zermelo.cli.plots import open_canvas, print_text_plot
from zermelo.engine import EVERY_ALGORITHM

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from zermelo.cli.engine.compare import Tally

_MARKERS = dict(zip(EVERY_ALGORITHM, "Xosd^v", strict=True))
_COLOURS = dict(zip(EVERY_ALGORITHM, ("C7", "C0", "C1", "C2", "C3", "C4"), strict=True))
_ROW_INCHES, _MARGIN_INCHES = 0.26, 1.6


def open_plot(file: str) -> Callable[[str, list[Tally]], None]:
    """What will draw the plot; errors that can be known beforehand are raised here."""
    canvas = open_canvas(file)
    if canvas is None:
        return _draw_text

    def draw(title: str, tallies: list[Tally]) -> None:
        # Rows from the top down in the order of the table; one row serves all algorithms.
        rows = list(dict.fromkeys(_row(tally) for tally in tallies))
        figure = canvas.figure(11, _MARGIN_INCHES + _ROW_INCHES * len(rows))
        left, right = figure.subplots(1, 2, sharey=True)
        _scatter(left, rows, tallies, [tally.nodes for tally in tallies])
        _scatter(right, rows, tallies, [tally.seconds for tally in tallies])
        left.set_yticks(range(len(rows)), rows)
        left.invert_yaxis()
        left.set_xlabel("nodes")
        right.set_xlabel("seconds")
        figure.suptitle(title)
        handles, names = left.get_legend_handles_labels()
        figure.legend(handles, names, loc="outside lower center", ncols=len(names), frameon=False)
        canvas.save(figure)

    return draw


def _draw_text(title: str, tallies: list[Tally]) -> None:
    rows = [(f"{_row(each)}, {each.contestant.algorithm}", float(each.nodes))
            for each in tallies]
    print_text_plot(text_bars(f"{title}: nodes (logarithmic)", rows))


def _row(tally: Tally) -> str:
    contestant = tally.contestant
    return f"{contestant.kind}: {contestant.variant}"


def _scatter(
    axes: Axes, rows: list[str], tallies: list[Tally], amounts: list[float]
) -> None:
    """One marker a contestant; hollow where the node budget made it a lower bound."""
    for algorithm in EVERY_ALGORITHM:
        ours = [(tally, amount) for tally, amount in zip(tallies, amounts, strict=True)
                if tally.contestant.algorithm == algorithm]
        if not ours:
            continue
        axes.scatter(
            [amount for _, amount in ours],
            [rows.index(_row(tally)) for tally, _ in ours],
            marker=_MARKERS[algorithm],
            edgecolors=_COLOURS[algorithm],
            facecolors=["none" if tally.unfinished else _COLOURS[algorithm]
                        for tally, _ in ours],
            label=algorithm,
        )
    axes.set_xscale("log")
    axes.grid(axis="both", alpha=0.3)
