"""`zermelo client status`: what the daemon is doing and why."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from zermelo.cli.client.options import data_dir_option
from zermelo.cli.options import json_option, option
from zermelo.cli.output import print_json
from zermelo.client.control import ask
from zermelo.client.folder import ClientFolder


@click.command()
@data_dir_option
@option("--watch", is_flag=True, help="Full screen, until q or Ctrl-C.")
@json_option
def status(data_dir: Path, watch: bool, as_json: bool) -> None:
    """Show what each worker is doing, what waits to be sent, and why if nothing happens."""
    control = ClientFolder(data_dir).control
    if as_json:
        print_json(ask(control, "status"))
        return
    from rich.console import Console

    from zermelo.cli.client.view import draw, follow

    if watch:
        follow(lambda: ask(control, "status"), sys.stdout)
    else:
        console = Console(highlight=False)
        console.print(draw(ask(control, "status")))
