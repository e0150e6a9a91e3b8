"""`zermelo engine train`: make the weights anew that tell the engines what to try first."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path

import click

from zermelo.cli.options import json_option, option
from zermelo.cli.output import print_json
from zermelo.cli.plain_errors import CommandError
from zermelo.engine.registry import Lessons, trainers
from zermelo.engine.weights import save_weights
from zermelo.games import open_game
from zermelo.parts import MissingPartError, install_command


@click.command()
@click.argument("spec")
@option("--output", "-o", type=click.Path(dir_okay=False, path_type=Path), required=True,
        help="The weight file to write.")
@option("--positions", type=click.IntRange(500),
        help="Reversi: positions for each phase of the game.  [default: 400000; large boards"
        " 150000, more than 48 squares 1000000, small ones 100000]  Go: lessons for each side and"
        " round.  [default: 30000]")
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
    backwards; boards of more than 42 squares are large, of at most 32
    small. Go: the priors of moves in the
    search for the whole board; one file serves all boards. The defaults are what the shipped
    weights were made with.
    """
    game = open_game(spec)
    lessons = Lessons(positions, exact_empties, depth, threads)
    try:
        trainer = trainers.find(game.family)
        if trainer is None:
            raise CommandError(f"{spec}: there is nothing to train for this game")
        weights, provenance = trainer(game, lessons, partial(click.echo, err=True))
    except ImportError:
        raise MissingPartError("numpy", install_command("train")) from None
    save_weights(output, weights, provenance)
    if as_json:
        print_json(provenance | {"file": str(output)})
    else:
        click.echo(f"{output}: weights for {game.short_spec}")
