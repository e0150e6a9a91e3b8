"""`zermelo engine solve`: the value of a position, or of every position of a suite."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import click

from zermelo.cli.engine.report import as_json, facts, news, proved_move, value_in_words
from zermelo.cli.game_files import open_local_game
from zermelo.cli.options import json_option, node_budget_option, option
from zermelo.cli.output import (
    print_facts,
    print_json,
    print_table,
    short_count,
    short_time,
    speed,
)
from zermelo.cli.plain_errors import INTERRUPTED, CommandError
from zermelo.cli.suite import Listed, find_position, load_suite
from zermelo.cli.watch import Ticker, watch
from zermelo.engine import EVERY_ALGORITHM, Engine, SearchReport, Status, Window, open_engine
from zermelo.figures import signed
from zermelo.games import Game
from zermelo.games.foreign_files import MAX_RECORD_BYTES, read_limited

DIFFERENT = 1  # exit code: a listed score is not the computed one
EXHAUSTED = 3  # exit code: the node budget was reached first

MOST_THREADS = 256
OUTCOME_WINDOW = Window(-1, 1)
_WINDOW = re.compile(r"\s*([+-]?[0-9]{1,9})\s*,\s*([+-]?[0-9]{1,9})\s*", re.ASCII)


@dataclass(frozen=True, slots=True)
class Task:
    """How to ask: the same for every position of a suite."""

    window: Window | None
    algorithm: str
    node_budget: int | None

    def solve(self, engine: Engine, position: Any, ticker: Ticker) -> tuple[SearchReport, bool]:
        search = partial(
            engine.solve,
            position,
            self.window,
            algorithm=self.algorithm,
            node_budget=self.node_budget,
        )
        return watch(engine, search, lambda seconds: ticker.show(news(engine, seconds)))


@click.command()
@click.argument("spec")
@option("--position", metavar="TEXT",
        help="A position instead of the initial one: rows of X O - or OBF, then the side to move.")
@option("--sgf", metavar="FILE", type=click.Path(exists=True, dir_okay=False, path_type=Path),
        help="The position at the end of a Go record, with its history.")
@option("--file", metavar="SUITE.obf",
        help="Solve every position of a suite and compare with its scores (FFO: scoring=wof).")
@option("--window", metavar="LO,HI",
        help="Tell only scores strictly between LO and HI apart.  [default: all scores]")
@option("--goal", type=click.Choice(["score", "outcome"]), default="score",
        help="The exact score, or only who wins (the window -1,1).")
@option("--algorithm", type=click.Choice(EVERY_ALGORITHM), default="mtdf",
        help="negascout and mtdf are the fast ones, pns (games as data) is proof-number search,"
        " the others are as in the textbooks.")
@option("--threads", type=click.IntRange(1, MOST_THREADS), default=1,
        help="Threads that search together.")
@option("--hash-mb", type=click.IntRange(min=1), default=64,
        help="Size of the transposition table.")
@node_budget_option(type=click.IntRange(1, 2**63 - 1),
                    help="Stop after about this number of nodes, with the bounds proved by then.")
@json_option
def solve(
    spec: str,
    position: str | None,
    sgf: Path | None,
    file: str | None,
    window: str | None,
    goal: str,
    algorithm: str,
    threads: int,
    hash_mb: int,
    node_budget: int | None,
    as_json: bool,
) -> None:
    """Solve the game SPEC, such as reversi:6x6, or one of its positions.

    Ctrl-C stops the search and reports the bounds proved so far.

    Exit codes: 0 solved, 1 a score of the suite differs, 2 wrong input, 3 node budget
    reached, 130 interrupted.
    """
    game = open_local_game(spec)
    given = {"--position": position, "--sgf": sgf, "--file": file}
    chosen = [name for name, value in given.items() if value is not None]
    if len(chosen) > 1:
        raise CommandError(f"{' and '.join(chosen)} exclude each other")
    if window is not None and goal == "outcome":
        raise CommandError("--window and --goal outcome exclude each other")
    asked = OUTCOME_WINDOW if goal == "outcome" else window and parse_window(window, game)
    task = Task(asked or None, algorithm, node_budget)
    suite = None if file is None else load_suite(file, game)
    start = _start(game, position, sgf)
    engine = open_engine(game, threads=threads, hash_mb=hash_mb)
    if suite is not None:
        sys.exit(_solve_suite(engine, suite.positions, suite.name, task, as_json))
    sys.exit(_solve_one(engine, start, task, as_json, drawn=start != game.initial()))


def _start(game: Game[Any], position: str | None, sgf: Path | None) -> Any:
    if sgf is not None:
        try:
            return game.read_record(read_limited(sgf, MAX_RECORD_BYTES))
        except OSError as error:
            raise CommandError(f"cannot read {str(sgf)!r}: {error.strerror}") from None
    return game.initial() if position is None else find_position(game, position)


def parse_window(text: str, game: Game[Any]) -> Window:
    matched = _WINDOW.fullmatch(text)
    if not matched:
        raise CommandError(f"window {text!r} is not LO,HI, two whole numbers such as -1,1")
    lo, hi = int(matched[1]), int(matched[2])
    limits = game.score_range
    if lo >= hi:
        raise CommandError(f"window {text!r} is empty; LO must be below HI")
    if lo >= limits.hi + 1 or hi <= limits.lo - 1:
        raise CommandError(
            f"window {text!r} lies outside the scores of {game.short_spec},"
            f" {limits.lo} to {limits.hi}"
        )
    return Window(max(lo, limits.lo - 1), min(hi, limits.hi + 1))


def _solve_one(engine: Engine, position: Any, task: Task, json: bool, *, drawn: bool) -> int:
    game = engine.game
    with Ticker() as ticker:
        report, _ = task.solve(engine, position, ticker)
    if json:
        print_json(as_json(game, position, report, task.algorithm))
    else:
        if drawn:
            click.echo(game.draw(position) + "\n")
        print_facts([("game", game.short_spec), *facts(game, position, report)])
    return _exit_code([report])


def _solve_suite(
    engine: Engine, positions: Sequence[Listed], name: str, task: Task, json: bool
) -> int:
    solved: list[tuple[Listed, SearchReport]] = []
    with Ticker() as ticker:
        for number, listed in enumerate(positions, 1):
            ticker.subject = f"{name} {number}/{len(positions)}"
            engine.clear()  # so that a row does not depend on the rows before it
            report, interrupted = task.solve(engine, listed.position, ticker)
            solved.append((listed, report))
            if interrupted:
                break
    differing = [listed.line for listed, report in solved if not _agrees(listed, report)]
    code = DIFFERENT if differing else _exit_code([report for _, report in solved])
    if json:
        print_json({
            "game": engine.game.spec,
            "suite": name,
            "agree": not differing,
            "nodes": sum(report.nodes for _, report in solved),
            "seconds": round(sum(report.seconds for _, report in solved), 6),
            "positions": [
                as_json(engine.game, listed.position, report, task.algorithm)
                | {"line_number": listed.line, "listed": listed.score,
                   "agrees": _agrees(listed, report)}
                for listed, report in solved
            ],
        })
        return code
    _print_suite(engine.game, name, solved)
    if differing:
        lines = ", ".join(map(str, differing))
        click.echo(f"{len(differing)} of {len(solved)} differ from the listed score:"
                   f" line {lines} of the suite")
    if len(solved) < len(positions):
        click.echo(f"interrupted: {len(positions) - len(solved)} positions were not tried")
    return code


def _agrees(listed: Listed, report: SearchReport) -> bool:
    return listed.score is None or report.bounds.lo <= listed.score <= report.bounds.hi


def _print_suite(game: Game[Any], name: str, solved: list[tuple[Listed, SearchReport]]) -> None:
    rows = [
        [
            str(listed.line),
            proved_move(game, report) or "",
            "" if listed.score is None else signed(listed.score),
            value_in_words(game, report.bounds),
            "" if _agrees(listed, report) else "differs",
            *_costs(report.nodes, report.seconds),
        ]
        for listed, report in solved
    ]
    nodes, seconds = (sum(report.nodes for _, report in solved),
                      sum(report.seconds for _, report in solved))
    rows.append(["all", "", "", "", "", *_costs(nodes, seconds)])
    print_table(
        f"{name}, {game.short_spec}",
        ["line", "move", "listed", "computed", "", "nodes", "time", "nodes/s"],
        rows,
        words=2,
    )


def _costs(nodes: int, seconds: float) -> list[str]:
    return [f"{nodes:,}", short_time(seconds), short_count(speed(nodes, seconds))]


def _exit_code(reports: list[SearchReport]) -> int:
    statuses = {report.status for report in reports}
    if Status.ABORTED in statuses:
        return INTERRUPTED
    return EXHAUSTED if Status.EXHAUSTED in statuses else 0
