"""`zermelo client pause`, `resume` and `stop`: talk to the running daemon."""

from __future__ import annotations

import time
from pathlib import Path

import click

from zermelo.cli.client.options import data_dir_option, duration_option
from zermelo.cli.options import json_option, option
from zermelo.cli.output import print_json
from zermelo.client.control import NotRunningError, ask
from zermelo.client.folder import ClientFolder
from zermelo.client.settings import ClientError
from zermelo.figures import clock

LONGEST_STOP_SECONDS = 120.0


@click.command()
@data_dir_option
@duration_option("--for", "seconds", show_default="until resumed",
                 help="Resume after this time, such as 30m or 8h.")
@json_option
def pause(data_dir: Path, seconds: float | None, as_json: bool) -> None:
    """Stop using the processor at once; the searches stay in memory."""
    answer = ask(ClientFolder(data_dir).control, "pause", seconds=seconds)
    _tell(answer, "paused" if seconds is None else f"paused for {clock(seconds)}", as_json)


@click.command()
@data_dir_option
@json_option
def resume(data_dir: Path, as_json: bool) -> None:
    """Go on after a pause."""
    _tell(ask(ClientFolder(data_dir).control, "resume"), "going on", as_json)


@click.command()
@data_dir_option
@option("--now", is_flag=True, help="Do not give searches the time to finish.")
@json_option
def stop(data_dir: Path, now: bool, as_json: bool) -> None:
    """End the client in good order, and wait until it has."""
    control = ClientFolder(data_dir).control
    ask(control, "stop", at_once=now)
    deadline = time.monotonic() + LONGEST_STOP_SECONDS
    while True:
        try:
            ask(control, "status")
        except NotRunningError:
            break
        if time.monotonic() > deadline:
            raise ClientError(f"the client has not stopped within {LONGEST_STOP_SECONDS:.0f} s")
        time.sleep(0.1)
    _tell({"state": "stopped"}, "stopped", as_json)


def _tell(answer: dict[str, object], sentence: str, as_json: bool) -> None:
    if as_json:
        print_json(answer)
    else:
        click.echo(sentence)
