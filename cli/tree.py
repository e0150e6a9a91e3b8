"""`zermelo tree`: the size and shape of game trees."""

from __future__ import annotations

import csv
import sys
from dataclasses import asdict, fields
from typing import TYPE_CHECKING, Any

import click

from zermelo.cli.options import json_option, option
from zermelo.cli.output import print_facts, print_json, print_table
from zermelo.cli.plain_errors import CommandError
from zermelo.cli.watch import Ticker
from zermelo.games import open_game

if TYPE_CHECKING:
    from zermelo.research.study import Study


@click.group()
def tree() -> None:
    """Study game trees."""


@tree.command()
@click.argument("spec")
@option("--exact", type=click.IntRange(0, 100), default=6,
        help="Count all positions to this ply; symmetric ones once.")
@option("--games", type=click.IntRange(0, 1_000_000), default=1000,
        help="Random games to sample.")
@option("--seed", type=click.IntRange(0), default=1, help="Repeats the random games.")
@option("--csv", "as_csv", is_flag=True, help="Print the table as CSV, for programs.")
@option("--plot", metavar="FILE", help="Draw it as well, into a .png or .svg file.")
@json_option
def study(
    spec: str, exact: int, games: int, seed: int, as_csv: bool, plot: str | None, as_json: bool
) -> None:
    """How many positions the game SPEC has at each ply, and how large its tree is."""
    from zermelo.research.study import study as make_study

    if as_json and as_csv:
        raise CommandError("--json and --csv exclude each other")
    draw = None
    if plot is not None:
        from zermelo.cli.study_plot import open_plot

        draw = open_plot(plot)
    with Ticker() as ticker:
        made = make_study(
            open_game(spec), exact=exact, games=games, seed=seed,
            report=lambda what, done: ticker.show(f"{what}: {done:,}"),
        )
    if draw is not None:
        draw(made)
    if as_json:
        print_json(_as_json(made))
    elif as_csv:
        _print_csv(made)
    else:
        _print(made)


def _print(made: Study) -> None:
    rows = []
    for ply in made.plies:
        branching = "" if ply.branching is None else f"{ply.branching:.2f}"
        if ply.branching_error:
            branching += f" ± {ply.branching_error:.2f}"
        rows.append([
            str(ply.ply), "" if ply.positions is None else f"{ply.positions:,}",
            "" if not ply.final else f"{ply.final:,}", branching, f"{ply.games:,}",
        ])
    print_table(
        open_game(made.game).short_spec,
        ["ply", "positions", "final", "branching", "games"], rows, words=0,
    )
    if made.games:
        print_facts([
            ("games", f"{made.games:,} random ones, {made.mean_length:.1f} plies long on average"),
            ("tree", f"about {made.tree_size:.1e} lines of play of any length (95 %:"
                     f" {made.tree_size_low:.1e} to {made.tree_size_high:.1e})"),
        ])


def _print_csv(made: Study) -> None:
    rows = [asdict(ply) for ply in made.plies]
    writer = csv.DictWriter(sys.stdout, [field.name for field in fields(made.plies[0])],
                            lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)


def _as_json(made: Study) -> dict[str, Any]:
    told = asdict(made)
    if not made.games:
        told |= {"tree_size": None, "tree_size_low": None, "tree_size_high": None}
    return told
