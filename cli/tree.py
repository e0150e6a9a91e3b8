"""`zermelo tree`: the size and shape of game trees."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from zermelo.cli.game_files import open_local_game
from zermelo.cli.options import database_options, json_option, open_connection, option
from zermelo.cli.output import print_facts, print_json, print_table
from zermelo.cli.plain_errors import CommandError
from zermelo.cli.records import print_csv
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
            open_local_game(spec), exact=exact, games=games, seed=seed,
            report=lambda what, done: ticker.show(f"{what}: {done:,}"),
        )
    if draw is not None:
        draw(made)
    if as_json:
        print_json(_as_json(made))
    elif as_csv:
        print_csv(made.plies)
    else:
        _print(made)


@tree.command()
@option("--depth", type=click.IntRange(1, 9), default=9, help="Moves of the lines to count.")
@option("--games", type=click.IntRange(1, 1_000_000), default=1000,
        help="Random games to sample.")
@option("--matches", type=click.IntRange(1, 1_000_000), default=400,
        help="Games of positional against random play.")
@option("--seed", type=click.IntRange(0), default=1, help="Repeats the random games.")
@option("--solved", is_flag=True,
        help="Read solved games and the size of nodes from the database.")
@option("--output", "-o", type=click.Path(path_type=Path, dir_okay=False), default=None,
        help="Write the document into this file.")
@database_options
@json_option
def founding(
    depth: int, games: int, matches: int, seed: int, solved: bool, output: Path | None,
    data_dir: Path, database: str | None, as_json: bool,
) -> None:
    """The numbers of the founding documents beside ours, as a document in Markdown."""
    from zermelo.cli.founding_document import document
    from zermelo.research.founding import measure

    with ExitStack() as stack:
        connection = None
        if solved:
            connection = stack.enter_context(open_connection(data_dir, database))
        ticker = stack.enter_context(Ticker())
        made = measure(
            depth=depth, games=games, matches=matches, seed=seed, connection=connection,
            report=lambda what, done: ticker.show(f"{what}: {done:,}"),
        )
    if output is not None:
        output.write_text(document(made, seed), "utf-8")
    if as_json:
        print_json(asdict(made))
    elif output is None:
        click.echo(document(made, seed), nl=False)


def _print(made: Study) -> None:
    rows = []
    for ply in made.plies:
        branching = "" if ply.branching is None else f"{ply.branching:.2f}"
        if ply.branching_error:
            branching += f" ± {ply.branching_error:.2f}"
        without_pass = ply.branching_without_pass
        rows.append([
            str(ply.ply), "" if ply.positions is None else f"{ply.positions:,}",
            "" if not ply.final else f"{ply.final:,}", branching,
            "" if without_pass is None else f"{without_pass:.2f}", f"{ply.games:,}",
        ])
    print_table(
        open_game(made.game).short_spec,
        ["ply", "positions", "final", "branching", "a pass = no move", "games"], rows, words=0,
    )
    if made.games:
        print_facts([
            ("games", f"{made.games:,} random ones, {made.mean_length:.1f} plies long on average"),
            ("tree", f"about {made.tree_size:.1e} lines of play of any length (95 %:"
                     f" {made.tree_size_low:.1e} to {made.tree_size_high:.1e}), by Knuth's"
                     " method"),
            ("", f"about {made.tree_size_of_means:.1e} by the sum of the products of mean"
                 " branching, a pass being no move"),
        ])


def _as_json(made: Study) -> dict[str, Any]:
    told = asdict(made)
    if not made.games:
        told |= {"tree_size": None, "tree_size_low": None, "tree_size_high": None,
                 "tree_size_of_means": None}
    return told
