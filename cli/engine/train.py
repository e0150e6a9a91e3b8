"""`zermelo engine train`: make the weights of the reversi evaluation anew."""

from __future__ import annotations

import os
from pathlib import Path

import click

from zermelo.cli.options import json_option, option
from zermelo.cli.output import print_json, short_count
from zermelo.cli.plain_errors import CommandError
from zermelo.engine.weights import save_weights
from zermelo.games import open_game
from zermelo.games.reversi import Reversi


@click.command()
@click.argument("spec")
@option("--output", "-o", type=click.Path(dir_okay=False, path_type=Path), required=True,
        help="The weight file to write.")
@option("--positions", type=click.IntRange(1000),
        help="Positions for each phase of the game.  [default: 400000; large boards 150000]")
@option("--exact-empties", type=click.IntRange(6, 20),
        help="Solve positions exactly up to this many empty squares."
        "  [default: 12; large boards 10]")
@option("--depth", type=click.IntRange(4, 8),
        help="Plies of search that score earlier positions.  [default: 5; large boards 4]")
@option("--threads", type=click.IntRange(1), default=os.cpu_count() or 1)
@json_option
def train(
    spec: str,
    output: Path,
    positions: int | None,
    exact_empties: int | None,
    depth: int | None,
    threads: int,
    as_json: bool,
) -> None:
    """Train the evaluation for the board of SPEC from positions the engine solves itself.

    The scores of early positions rest on the weights of later phases, which is why the
    phases are trained from the end of the game backwards. The defaults are what the
    shipped weights were made with; boards of more than 49 squares are large.
    """
    try:
        from zermelo.engine.training import Effort, PhaseReport
        from zermelo.engine.training import train as train_weights
    except ImportError:
        raise CommandError("training needs numpy: pip install 'zermelo[train]'") from None
    game = open_game(spec)
    if not isinstance(game, Reversi):
        raise CommandError(f"{spec}: only reversi has a trained evaluation")

    def tell(report: PhaseReport) -> None:
        click.echo(
            f"{report.fewest_empties:2}-{report.most_empties:2} empties:"
            f" {short_count(report.positions)} positions, scores ± {report.deviation:.1f},"
            f" predicted to {report.error:.2f} discs",
            err=True,
        )

    usual = Effort.usual(game)
    effort = Effort(
        positions or usual.positions,
        exact_empties or usual.exact_empties,
        depth or usual.depth,
        threads,
    )
    weights, provenance = train_weights(game, effort, tell)
    save_weights(output, weights.astype("<i2").tobytes(), provenance)
    if as_json:
        print_json(provenance | {"file": str(output)})
    else:
        click.echo(f"{output}: weights for {game.short_spec}")
