"""`zermelo theatre`: an algorithm at work on a small game, step by step."""

from __future__ import annotations

import textwrap
from dataclasses import astuple
from pathlib import Path

import click

from zermelo.cli.game_files import open_local_game
from zermelo.cli.options import json_option, option
from zermelo.cli.output import print_facts, print_json, print_table
from zermelo.cli.plain_errors import CommandError
from zermelo.cli.suite import find_position
from zermelo.theatre import ALGORITHMS, Direction, GameTree, Kind, Order, Performance, perform
from zermelo.theatre.drawing import draw
from zermelo.theatre.evaluation import Evaluation
from zermelo.theatre.messages import languages, messages
from zermelo.theatre.performance import as_data
from zermelo.theatre.story import tell
from zermelo.theatre.tour import stops

COLOURS = {Kind.PASS: "magenta", Kind.HIT: "cyan", Kind.BEST: "green", Kind.CUT: "red"}
#: Explanations are broken between words at this column.
WIDTH = 96
COLUMNS = ("algorithm", "value", "entered", "visited", "cut", "table hits", "passes")


@click.command()
@click.argument("spec")
@option("--algorithm", type=click.Choice([*ALGORITHMS, "all"]), default="alphabeta",
        help="Which search to watch; all: their numbers side by side.")
@option("--position", default=None, metavar="TEXT", help="Where to start.  [default: the start]")
@option("--horizon", type=click.IntRange(1, 64), default=None, metavar="PLIES",
        help="How deep to search.  [default: to the end of the game]")
@option("--table", is_flag=True, help="Remember positions, up to symmetry.")
@option("--killer", is_flag=True, help="Try first the move of the latest cut on this ply.")
@option("--history", is_flag=True, help="Try first the moves that made most cuts.")
@option("--order", type=click.Choice([order.value for order in Order]), default="given",
        help="Order in which moves are tried.")
@option("--evaluation", type=click.Choice([kind.value for kind in Evaluation]), default="score",
        help="How leaves are valued; heaps: 0 to 3, for games with heaps and a horizon.")
@option("--seed", type=int, default=1, help="Seed of the random order.")
@option("--steps", type=click.IntRange(0), default=None, help="Stop after this many events.")
@option("--svg", type=click.Path(path_type=Path, dir_okay=False), default=None,
        help="Write the tree after these steps into a file, instead of telling the story.")
@option("--tour", is_flag=True, help="First explain the game and the algorithm.")
@option("--language", type=click.Choice(languages()), default="en",
        help="Language of the explanations.")
@json_option
def theatre(
    spec: str, algorithm: str, position: str | None, horizon: int | None, table: bool,
    killer: bool, history: bool, order: str, evaluation: str, seed: int, steps: int | None,
    svg: Path | None, tour: bool, language: str, as_json: bool,
) -> None:  # fmt: skip
    """Watch a search work on the small game SPEC, such as grundy:9 or subtraction:10,k=3.

    MAX moves at the root. The story tells every step: nodes with their windows, values, cuts.
    """
    game = open_local_game(spec)
    tree = GameTree(game, None if position is None else find_position(game, position), horizon)
    names = list(ALGORITHMS) if algorithm == "all" else [algorithm]
    played = [
        perform(tree, Direction(
            name, table, killer, history, Order(order), Evaluation(evaluation), seed
        ))
        for name in names
    ]  # fmt: skip
    if as_json:
        print_json({"performances": [as_data(performance) for performance in played]})
    elif svg is not None:
        _write(svg, draw(played[0], steps))
    elif algorithm == "all":
        _compare(played)
    else:
        if tour:
            _explain(game.name, algorithm, language)
        _tell(played[0], steps, language)


def _explain(game: str, algorithm: str, language: str) -> None:
    """The rules and the algorithm, five steps each."""
    words = messages(language)["page"]
    for tour in ("rules", "minimax" if algorithm == "minimax" else "alphabeta"):
        for stop in stops(tour, game, language):
            title = words["tour_step"].format(title=words[f"tour_{tour}"], number=stop.number)
            for line in textwrap.wrap(f"{title}: {stop.text}", WIDTH, break_long_words=False,
                                      break_on_hyphens=False,
                                      subsequent_indent="    "):  # fmt: skip
                click.echo(line)
        click.echo()


def _tell(performance: Performance, steps: int | None, language: str) -> None:
    for line in tell(performance, steps, language):
        click.secho("  " * line.ply + line.text, fg=COLOURS.get(line.kind))
    if steps is None or steps >= len(performance.events):
        counters, best = performance.counters, performance.best
        print_facts([
            ("value", f"{performance.value} for MAX"),
            ("best move", "none" if best is None else performance.tree.move_name(best)),
            ("nodes", f"{len(performance.tree):,} in the tree, {counters.visited:,} visited"
                      f" ({counters.entered:,} times), {counters.cut:,} cut"),
        ])  # fmt: skip


def _compare(played: list[Performance]) -> None:
    tree = played[0].tree
    distinct = len(set(tree.representatives))
    click.echo(f"{tree.game.short_spec}: {len(tree):,} nodes, {distinct:,} distinct positions")
    print_table("", COLUMNS, [
        (item.algorithm, str(item.value), *map(str, astuple(item.counters))) for item in played
    ])  # fmt: skip


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise CommandError(f"{path}: {error.strerror or error}") from None
    click.echo(f"wrote {path}")
