"""`zermelo engine compare`: what each algorithm and each heuristic is worth."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from typing import Any

import click

from zermelo.cli.engine.contestants import Contestant, contestants
from zermelo.cli.options import json_option, option
from zermelo.cli.output import print_json, print_table, short_count, short_time
from zermelo.cli.suite import Suite, load_suite
from zermelo.cli.watch import Ticker, watch
from zermelo.engine import ALGORITHMS, Engine, open_engine
from zermelo.games import open_game

WRONG = 1  # exit code: somebody got another value than the suite lists
TABLE_MB = 4  # plenty for suites that textbook algorithms can finish, and quickly cleared


@dataclass(slots=True)
class Standing:
    """What one contestant spent on the whole suite."""

    contestant: Contestant
    nodes: int = 0
    seconds: float = 0.0
    #: Positions given up at the node limit: nodes and seconds are then lower bounds.
    unfinished: int = 0
    wrong: int = 0


@click.command()
@click.argument("suite")
@option("--game", "spec", metavar="SPEC",
        help="The game of the suite, if the suite does not tell.")
@option("--algorithm", "algorithms", type=click.Choice(ALGORITHMS), multiple=True,
        help="Compare only these; may be repeated.")
@option("--node-limit", type=click.IntRange(1, 2**63 - 1), default=50_000_000,
        help="Give a position up after so many nodes.")
@option("--plot", metavar="FILE", help="Draw the comparison as well, into a .png or .svg file.")
@json_option
def compare(
    suite: str,
    spec: str | None,
    algorithms: tuple[str, ...],
    node_limit: int,
    plot: str | None,
    as_json: bool,
) -> None:
    """Solve all positions of SUITE in every way there is, and compare the effort.

    SUITE is an OBF file, or the name of a suite that comes with Zermelo, such as
    reversi-6x6-12: algorithms in their textbook form with each move ordering, and the
    fast searches with each technique left out.

    Exit codes: 0, 1 somebody got a wrong value, 2 wrong input, 130 interrupted.
    """
    loaded = load_suite(suite, None if spec is None else open_game(spec))
    draw = None
    if plot is not None:
        # Loads matplotlib, which is optional, and takes a second; and fails before the work.
        from zermelo.cli.engine.comparison_plot import open_plot

        draw = open_plot(plot)
    engine = open_engine(loaded.game, hash_mb=TABLE_MB)
    field = [one for one in contestants(engine) if not algorithms or one.algorithm in algorithms]
    standings = _hold(engine, loaded, field, node_limit)
    if as_json:
        print_json(_as_json(loaded, standings, node_limit))
    else:
        _print(loaded, standings)
    if draw is not None:
        draw(f"{loaded.name}, {loaded.game.short_spec}", standings)
    sys.exit(WRONG if any(standing.wrong for standing in standings) else 0)


def _hold(
    engine: Engine, suite: Suite, field: list[Contestant], node_limit: int
) -> list[Standing]:
    standings = []
    with Ticker() as ticker:
        for number, contestant in enumerate(field, 1):
            ticker.subject = (f"{number}/{len(field)} {contestant.kind} {contestant.algorithm},"
                              f" {contestant.variant}")
            standings.append(_measure(engine, suite, contestant, node_limit, ticker))
    return standings


def _measure(
    engine: Engine, suite: Suite, contestant: Contestant, node_limit: int, ticker: Ticker
) -> Standing:
    standing = Standing(contestant)
    for listed in suite.positions:
        engine.clear()
        search = partial(contestant.run, listed.position, node_limit)
        (score, nodes, seconds), interrupted = watch(engine, search, lambda _: ticker.show(""))
        if interrupted:
            raise KeyboardInterrupt
        standing.nodes += nodes
        standing.seconds += seconds
        if score is None:
            standing.unfinished += 1
        elif listed.score is not None and score != listed.score:
            standing.wrong += 1
    return standing


def _best(standings: list[Standing]) -> tuple[int, float]:
    """Fewest nodes and least time of those who finished the suite."""
    finished = [standing for standing in standings if not standing.unfinished] or standings
    return (min(standing.nodes for standing in finished),
            min(standing.seconds for standing in finished))


def _print(suite: Suite, standings: list[Standing]) -> None:
    best_nodes, best_seconds = _best(standings)
    click.echo(f"{suite.name}: {len(suite.positions)} positions of {suite.game.short_spec}\n")
    for (kind, algorithm), group in groupby(
        standings, lambda standing: (standing.contestant.kind, standing.contestant.algorithm)
    ):
        rows = []
        for standing in group:
            least = "≥ " if standing.unfinished else ""
            rows.append([
                standing.contestant.variant,
                least + short_count(standing.nodes),
                least + f"{standing.nodes / best_nodes:.2f}",
                least + short_time(standing.seconds),
                least + f"{standing.seconds / best_seconds:.2f}",
                f"{standing.wrong} wrong" if standing.wrong else "",
            ])
        print_table(
            f"{kind} {algorithm}",
            ["move ordering" if kind == "textbook" else "techniques",
             "nodes", "x best", "time", "x best", ""],
            rows,
        )


def _as_json(suite: Suite, standings: list[Standing], node_limit: int) -> dict[str, Any]:
    best_nodes, best_seconds = _best(standings)
    return {
        "game": suite.game.spec,
        "suite": suite.name,
        "positions": len(suite.positions),
        "node_limit": node_limit,
        "results": [
            {
                "kind": standing.contestant.kind,
                "algorithm": standing.contestant.algorithm,
                "variant": standing.contestant.variant,
                "nodes": standing.nodes,
                "seconds": round(standing.seconds, 6),
                "nodes_to_best": round(standing.nodes / best_nodes, 4),
                "seconds_to_best": round(standing.seconds / best_seconds, 4),
                "unfinished": standing.unfinished,
                "wrong": standing.wrong,
            }
            for standing in standings
        ],
    }
