"""`zermelo engine train`: make the weights anew that tell the engines what to try first."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import click

from zermelo.cli.options import json_option, option
from zermelo.cli.output import print_json, short_count
from zermelo.cli.plain_errors import CommandError
from zermelo.engine.conquest import Conquest
from zermelo.engine.weights import save_weights
from zermelo.games import open_game
from zermelo.games.go import Go
from zermelo.games.reversi import Reversi

Trained = tuple[bytes, dict[str, Any]]  # weights, and where they come from
NODES_PER_LESSON = 400  # of the search that finds the positions


@click.command()
@click.argument("spec")
@option("--output", "-o", type=click.Path(dir_okay=False, path_type=Path), required=True,
        help="The weight file to write.")
@option("--positions", type=click.IntRange(500),
        help="Reversi: positions for each phase of the game.  [default: 400000; large boards"
        " 150000]  Go: lessons for each side and round.  [default: 30000]")
@option("--exact-empties", type=click.IntRange(6, 20),
        help="Reversi: solve positions exactly up to this many empty squares."
        "  [default: 12; large boards 10]")
@option("--depth", type=click.IntRange(4, 8),
        help="Reversi: plies of search that score earlier positions."
        "  [default: 5; large boards 4]")
@option("--threads", type=click.IntRange(1), default=os.cpu_count() or 1, help="Reversi only.")
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
    """Train what the engine tries first, from positions it solves itself.

    Reversi: the evaluation for the board of SPEC. The scores of early positions rest on the
    weights of later phases, which is why the phases are trained from the end of the game
    backwards; boards of more than 49 squares are large. Go: the promises of moves in the
    search for the whole board; one file serves all boards. The defaults are what the shipped
    weights were made with.
    """
    game = open_game(spec)
    try:
        if isinstance(game, Reversi):
            weights, provenance = _train_reversi(game, positions, exact_empties, depth, threads)
        elif isinstance(game, Go) and Conquest.suits(game):
            if exact_empties is not None or depth is not None:
                raise CommandError("--exact-empties and --depth are for reversi")
            weights, provenance = _train_conquest(game, positions)
        else:
            raise CommandError(f"{spec}: there is nothing to train for this game")
    except ImportError:
        raise CommandError("training needs numpy: pip install 'zermelo[train]'") from None
    save_weights(output, weights, provenance)
    if as_json:
        print_json(provenance | {"file": str(output)})
    else:
        click.echo(f"{output}: weights for {game.short_spec}")


def _train_reversi(
    game: Reversi,
    positions: int | None,
    exact_empties: int | None,
    depth: int | None,
    threads: int,
) -> Trained:
    from zermelo.engine.training import Effort, PhaseReport, train

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
    weights, provenance = train(game, effort, tell)
    return weights.astype("<i2").tobytes(), provenance


def _train_conquest(game: Go, lessons: int | None) -> Trained:
    from zermelo.engine.conquest_training import Effort, RoundReport, train

    def tell(report: RoundReport) -> None:
        click.echo(
            f"round {report.round}, {report.side}: {short_count(report.lessons)} lessons, the"
            f" most promising move right in {report.first:.0%}, one of the first three in"
            f" {report.first_three:.0%}",
            err=True,
        )

    effort = Effort() if lessons is None else Effort(lessons, lessons * NODES_PER_LESSON)
    weights, provenance = train(game, effort, tell)
    return weights.astype("<i2").tobytes(), provenance
