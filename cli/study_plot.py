"""The plot of a study: positions by ply (logarithmic) and the branching factor."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from zermelo.cli.charts import text_plot
from zermelo.cli.plots import open_canvas, print_text_plot
from zermelo.games import open_game

if TYPE_CHECKING:
    from zermelo.research.study import Study


def open_plot(file: str) -> Callable[[Study], None]:
    """What will draw the plot; errors that can be known beforehand are raised here."""
    canvas = open_canvas(file)
    if canvas is None:
        return _draw_text

    def draw(made: Study) -> None:
        figure = canvas.figure(9, 4)
        left, right = figure.subplots(1, 2)
        counted = [(ply.ply, ply.positions) for ply in made.plies if ply.positions]
        left.plot([ply for ply, _ in counted], [number for _, number in counted], "o-")
        left.set_yscale("log")
        left.set_ylabel("distinct positions")
        sampled = [ply for ply in made.plies if ply.branching is not None]
        right.errorbar(
            [ply.ply for ply in sampled], [ply.branching for ply in sampled],
            yerr=[ply.branching_error or 0.0 for ply in sampled], fmt=".", capsize=2,
        )
        right.set_ylabel("moves, mean and 95 % interval")
        for axes in (left, right):
            axes.set_xlabel("ply")
            axes.grid(alpha=0.3)
        figure.suptitle(open_game(made.game).short_spec)
        canvas.save(figure)

    return draw


def _draw_text(made: Study) -> None:
    counted = [ply.positions or 0 for ply in made.plies if ply.positions is not None]
    sampled = [ply.branching for ply in made.plies if ply.branching is not None]
    print_text_plot(
        text_plot("distinct positions by ply (logarithmic)", counted, log=True),
        text_plot("moves by ply, mean of random games", sampled),
    )
