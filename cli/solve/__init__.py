"""`zermelo solve`: from nothing to a proved value, on this machine."""

from __future__ import annotations

import json
import signal
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

import click

from zermelo import ZermeloError
from zermelo.cli.game_files import open_local_game
from zermelo.cli.options import database_options, json_option, option, target_seconds_option
from zermelo.cli.plain_errors import CommandError
from zermelo.cli.solve.local_run import LocalRun, LocalRunSettings
from zermelo.cli.solve.next_steps import print_next_steps
from zermelo.client.settings import usable_cores
from zermelo.games import open_game
from zermelo.parts import is_installed, require
from zermelo.server.ports import LOOPBACK, free_port
from zermelo.server.supervisor import leave

if TYPE_CHECKING:
    from zermelo.server.campaigns import Summary

REFRESH_SECONDS = 0.25
#: How long the engine may continue the line of play, while the services stop.
LINE_SECONDS = 2.0
EXIT_INTERRUPTED = 130


class StoppedError(ZermeloError):
    """The user stopped the solve; the same command goes on."""

    exit_code = EXIT_INTERRUPTED


@click.command()
@click.argument("spec")
@option("--workers", type=click.IntRange(1, 1024), default=None, show_default="one per core",
        help="Cores that search; an even number of them searches reversi in pairs.")
@option("--goal", type=click.Choice(["score", "outcome"]), default="score",
        help="The exact score, or only who wins.")
@target_seconds_option
@option("--hash-mb", type=click.IntRange(1, 65536), default=64,
        help="Transposition table of each worker, in MB; workers share the sum.")
@option("--name", default=None, show_default="the spec", help="Name of the campaign.")
@option("--demo", is_flag=True,
        help="Begin anew each time, in the folder `demo` of --data-dir, and say what to try next."
             " A power cut meanwhile loses it.")
@option("--web", default=None, metavar="HOST:PORT",
        show_default="with --demo a free port of this machine, else nowhere",
        help="Serve pages about the solve at this address while it runs.")
@database_options
@json_option
def solve(
    spec: str,
    workers: int | None,
    goal: str,
    target_seconds: float | None,
    hash_mb: int,
    name: str | None,
    demo: bool,
    web: str | None,
    data_dir: Path,
    database: str | None,
    as_json: bool,
) -> None:
    """Prove the value of the game SPEC, such as reversi:6x6, on this machine.

    Ctrl-C stops it in good order, and the same command goes on where it stopped.
    """
    started = time.monotonic()
    spec = open_local_game(spec).spec
    if demo:
        if database is not None:
            raise CommandError("--demo deletes the last demo, so it does not take --database")
        data_dir = data_dir.expanduser() / "demo"
        if web is None and is_installed("web"):
            web = f"{LOOPBACK}:{free_port()}"
    if web:
        from zermelo.web.settings import WebSettings

        require("web")
        WebSettings(web).check()
    settings = LocalRunSettings(
        spec=spec,
        goal=goal,
        name=name,
        workers=workers or usable_cores(),
        hash_mb=hash_mb,
        target_seconds=target_seconds,
        data_dir=data_dir,
        database=database,
        fresh=demo,
        web=web or "",
    )
    signal.signal(signal.SIGTERM, _interrupt)
    try:
        with ThreadPoolExecutor(1) as meanwhile, LocalRun(settings) as run:
            if run.pages:
                click.echo(f"watch it in a browser: {run.pages}", err=True)
            summary = _watch(run, quiet=as_json)
            # The engine plays the game to its end while the services stop. For a demo that would
            # only hold them up: it ends long before the line is found.
            line = None if demo else meanwhile.submit(
                _line_of, summary, settings.workers, LINE_SECONDS
            )  # fmt: skip
    except KeyboardInterrupt:
        raise StoppedError("stopped; the same command goes on from here") from None
    if line is not None:
        summary = replace(summary, line=line.result())
    seconds = time.monotonic() - started
    alone = _moves_alone(summary)
    if as_json:
        click.echo(json.dumps({**_final_object(summary, seconds), **alone}))
    else:
        from zermelo.cli.solve.live_view import show_result

        show_result(summary, seconds)
        for note in alone.values():
            click.echo(f"in how few moves: {'unknown' if note is None else note}")
        if demo:
            print_next_steps(run.campaign, spec, data_dir)
    leave()


def _line_of(summary: Summary, threads: int, seconds: float) -> list[str]:
    """The tree's line, continued below the tree by the engine where the value is known."""
    from zermelo.research.best_play import play_on

    if summary.value is None:
        return summary.line
    game = open_game(summary.game)
    position = game.initial()
    for name in summary.line:
        position = game.play(position, game.find_move(position, name))
    further = play_on(game, position, threads=threads, seconds=seconds)
    return summary.line + game.line_names(further)


def _moves_alone(summary: Summary) -> dict[str, int | None]:
    """For one player who can win: in how few moves, or None if finding out takes too long."""
    from zermelo.research.one_player import TooManyPositionsError, fewest_moves

    game = open_game(summary.game)
    if not game.solo or summary.bounds[0] <= 0:
        return {}
    try:
        return {"fewest_moves": fewest_moves(game)}
    except TooManyPositionsError as error:
        click.echo(f"zermelo: {error}", err=True)
        return {"fewest_moves": None}


def _interrupt(number: int, frame: FrameType | None) -> None:
    """SIGTERM is meant like Ctrl-C."""
    raise KeyboardInterrupt


def _watch(run: LocalRun, *, quiet: bool) -> Summary:
    """Show what happens until the campaign is finished; its summary then."""
    from zermelo.cli.solve.campaign_watch import ENDED, CampaignWatch
    from zermelo.cli.solve.live_view import LiveView

    with CampaignWatch(run) as watch, LiveView(sys.stderr, quiet=quiet) as view:
        while True:
            summary = watch.next(REFRESH_SECONDS)
            if summary is None:
                continue
            if summary.state in ENDED:
                return summary
            view.show(summary, run.restarts)


def _final_object(summary: Summary, seconds: float) -> dict[str, object]:
    return {
        "game": summary.game,
        "goal": summary.goal,
        "value": summary.value,
        "bounds": list(summary.bounds),
        "outcome": summary.outcome,
        "line": summary.line,
        "workunits": summary.workunits,
        "splits": summary.splits,
        "withdrawn": summary.withdrawn,
        "nodes": summary.nodes,
        "wasted_nodes": summary.wasted_nodes,
        "split_nodes": summary.split_nodes,
        "seconds": round(seconds, 3),
    }
