"""`zermelo engine compare`: what each algorithm and each heuristic is worth."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any

import click

from zermelo.cli.engine.contestants import Contestant, contestants
from zermelo.cli.game_files import open_local_game, split_file
from zermelo.cli.options import json_option, node_budget_option, option
from zermelo.cli.output import print_json, print_table, short_count, short_time
from zermelo.cli.suite import Listed, Suite, load_suite
from zermelo.cli.watch import Ticker, watch
from zermelo.engine import EVERY_ALGORITHM, Engine, open_engine
from zermelo.games import Score

WRONG = 1  # exit code: somebody got another value than the suite lists
NODE_BUDGET = 50_000_000
PLAIN_NODE_BUDGET = 20_000  # of searches over the reference rules
TABLE_MB = 4  # plenty for suites that textbook algorithms can finish, and quickly cleared


@dataclass(slots=True)
class Tally:
    """What one contestant spent on the whole suite."""

    contestant: Contestant
    nodes: int = 0
    seconds: float = 0.0
    #: Positions given up at the node budget: nodes and seconds are then lower bounds.
    unfinished: int = 0
    wrong: int = 0
    #: For each position the score found; None if it was given up.
    scores: list[Score | None] = field(default_factory=list)


@click.command()
@click.argument("suite")
@option("--game", "spec", metavar="SPEC",
        help="The game of the suite, if the suite does not name it.")
@option("--algorithm", "algorithms", type=click.Choice(EVERY_ALGORITHM), multiple=True,
        help="Compare only these; may be repeated.")
@node_budget_option(type=click.IntRange(1, 2**63 - 1), default=None,
                    help="Give a position up after this number of nodes."
                    f"  [default: {NODE_BUDGET}; {PLAIN_NODE_BUDGET} by plain rules]")
@option("--plot", metavar="FILE", help="Draw the comparison as well, into a .png or .svg file.")
@json_option
def compare(
    suite: str,
    spec: str | None,
    algorithms: tuple[str, ...],
    node_budget: int | None,
    plot: str | None,
    as_json: bool,
) -> None:
    """Solve all positions of SUITE in every way there is, and compare the effort.

    SUITE is an OBF file, the name of a suite that comes with Zermelo, such as
    reversi-6x6-12, or a game, such as go:2x3 or mygame.toml, for its initial position.
    Algorithms take part in their textbook form with each move ordering, and the fast searches
    with each technique left out.

    Exit codes: 0, 1 somebody got a wrong value, or two got different ones, 2 wrong input,
    130 interrupted.
    """
    loaded = _load(suite, spec)
    draw = None
    if plot is not None:
        # Loads matplotlib, which is optional, and takes a second; and fails before the work.
        from zermelo.cli.engine.comparison_plot import open_plot

        draw = open_plot(plot)
    engine = open_engine(loaded.game, hash_mb=TABLE_MB)
    taking_part = [
        one for one in contestants(engine) if not algorithms or one.algorithm in algorithms
    ]
    tallies = _hold(engine, loaded, taking_part, node_budget)
    if as_json:
        print_json(_as_json(loaded, tallies, node_budget))
    else:
        _print(loaded, tallies)
    if draw is not None:
        draw(f"{loaded.name}, {loaded.game.short_spec}", tallies)
    wrong = any(tally.wrong for tally in tallies) or _disagreeing(tallies)
    sys.exit(WRONG if wrong else 0)


def _load(name: str, spec: str | None) -> Suite:
    """The suite of this name, or the start of the game with this spec."""
    names_file = split_file(name)[0] is not None
    if spec is None and (names_file or (":" in name and not Path(name).exists())):
        game = open_local_game(name)
        return Suite(game.short_spec, game, [Listed(1, game.initial(), None)])
    return load_suite(name, None if spec is None else open_local_game(spec))


def _hold(
    engine: Engine, suite: Suite, taking_part: list[Contestant], node_budget: int | None
) -> list[Tally]:
    tallies = []
    with Ticker() as ticker:
        for number, contestant in enumerate(taking_part, 1):
            ticker.subject = (f"{number}/{len(taking_part)} {contestant.kind}"
                              f" {contestant.algorithm}, {contestant.variant}")
            usual = PLAIN_NODE_BUDGET if contestant.plain else NODE_BUDGET
            tallies.append(_measure(engine, suite, contestant, node_budget or usual, ticker))
    return tallies


def _measure(
    engine: Engine, suite: Suite, contestant: Contestant, node_budget: int, ticker: Ticker
) -> Tally:
    tally = Tally(contestant)
    for listed in suite.positions:
        engine.clear()
        search = partial(contestant.run, listed.position, node_budget)
        (score, nodes, seconds), interrupted = watch(engine, search, lambda _: ticker.show(""))
        if interrupted:
            raise KeyboardInterrupt
        tally.nodes += nodes
        tally.seconds += seconds
        tally.scores.append(score)
        if score is None:
            tally.unfinished += 1
        elif listed.score is not None and score != listed.score:
            tally.wrong += 1
    return tally


def _best(tallies: list[Tally]) -> tuple[int, float]:
    """Fewest nodes and least time of those who finished the suite."""
    finished = [tally for tally in tallies if not tally.unfinished] or tallies
    return (min(tally.nodes for tally in finished),
            min(tally.seconds for tally in finished))


def _found(tallies: list[Tally]) -> list[set[Score]]:
    """For each position the scores that were found."""
    return [
        {score for score in scores if score is not None}
        for scores in zip(*(tally.scores for tally in tallies), strict=True)
    ]


def _disagreeing(tallies: list[Tally]) -> int:
    """The positions for which two contestants found different scores."""
    return sum(len(scores) > 1 for scores in _found(tallies))


def _print(suite: Suite, tallies: list[Tally]) -> None:
    spec = suite.game.short_spec
    if suite.name == spec:
        (scores,) = _found(tallies)
        found = " or ".join(f"{score:+d}" if score else "0" for score in sorted(scores))
        click.echo(f"the start of {spec}, value {found or 'not found'}\n")
    else:
        click.echo(f"{suite.name}: {len(suite.positions)} positions of {spec}\n")
    if different := _disagreeing(tallies):
        click.echo(f"found different values for {different} of the positions: report this\n")
    best = _best(tallies)
    columns = ["nodes", "x best", "time", "x best", ""]
    groups = [
        (kind, algorithm, list(group)) for (kind, algorithm), group in groupby(
            tallies, lambda tally: (tally.contestant.kind, tally.contestant.algorithm)
        )
    ]
    if all(kind == "whole" for kind, _, _ in groups):
        print_table("algorithms", ["algorithm", *columns], [
            _row(tally.contestant.algorithm, tally, best) for tally in tallies
        ])
        return
    for kind, algorithm, group in groups:
        print_table(
            f"{kind} {algorithm}",
            ["move ordering" if kind == "textbook" else "techniques", *columns],
            [_row(tally.contestant.variant, tally, best) for tally in group],
        )


def _row(name: str, tally: Tally, best: tuple[int, float]) -> list[str]:
    best_nodes, best_seconds = best
    least = "≥ " if tally.unfinished else ""
    return [
        name,
        least + short_count(tally.nodes),
        least + f"{tally.nodes / best_nodes:.2f}",
        least + short_time(tally.seconds),
        least + f"{tally.seconds / best_seconds:.2f}",
        f"{tally.wrong} wrong" if tally.wrong else "",
    ]


def _as_json(suite: Suite, tallies: list[Tally], node_budget: int | None) -> dict[str, Any]:
    best_nodes, best_seconds = _best(tallies)
    return {
        "game": suite.game.spec,
        "suite": suite.name,
        "positions": len(suite.positions),
        "node_budget": node_budget or NODE_BUDGET,
        "results": [
            {
                "kind": tally.contestant.kind,
                "algorithm": tally.contestant.algorithm,
                "variant": tally.contestant.variant,
                "nodes": tally.nodes,
                "seconds": round(tally.seconds, 6),
                "nodes_to_best": round(tally.nodes / best_nodes, 4),
                "seconds_to_best": round(tally.seconds / best_seconds, 4),
                "unfinished": tally.unfinished,
                "wrong": tally.wrong,
            }
            for tally in tallies
        ],
    }
