"""The plot of a study: positions by ply (logarithmic) and the branching factor."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from zermelo.cli.plots import Canvas
from zermelo.games import open_game

if TYPE_CHECKING:
    from zermelo.research.study import Study


def open_plot(file: str) -> Callable[[Study], None]:
    """What will draw the plot; errors that can be known beforehand are raised here."""
    canvas = Canvas(file)

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
