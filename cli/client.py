"""`zermelo client`: give this computer's time to somebody's campaign."""

from __future__ import annotations

import logging
import re
import sys
from pathlib import Path

import click

from zermelo.cli.options import option
from zermelo.client.settings import ClientSettings, usable_cores
from zermelo.server.embedded import default_data_dir

_ADDRESS = re.compile(r"(\[[0-9A-Fa-f:]+\]|[^:\s]+):([0-9]{1,5})")


@click.group()
def client() -> None:
    """Work for a coordinator."""


def _address(ctx: click.Context, param: click.Parameter, value: str) -> str:
    matched = _ADDRESS.fullmatch(value)
    if not matched or not 0 < int(matched[2]) < 65536:
        raise click.BadParameter(f"{value!r} is not HOST:PORT")
    return value


@client.command()
@option("--server", required=True, callback=_address, metavar="HOST:PORT",
        help="The coordinator to work for.")
@option("--workers", type=click.IntRange(1, 1024), default=None, show_default="one per core",
        help="Searches that run at the same time, each a process.")
@option("--hash-mb", type=click.IntRange(1, 65536), default=64,
        help="Transposition table for each worker; they share the sum.")
@option("--max-workunits", type=click.IntRange(1), default=None, show_default="no limit",
        help="Stop after so many results.")
@option("--data-dir", type=click.Path(path_type=Path), default=default_data_dir,
        help="Where the client keeps its identity.")
def run(
    server: str, workers: int | None, hash_mb: int, max_workunits: int | None, data_dir: Path
) -> None:
    """Take, solve and report workunits until stopped.

    Ctrl-C hands unfinished work back to the coordinator.
    """
    from zermelo.client.daemon import run as run_client

    logging.basicConfig(
        format="%(asctime)s %(levelname)s: %(message)s", level=logging.INFO, stream=sys.stderr
    )
    run_client(
        ClientSettings(
            server=server,
            data_dir=data_dir,
            workers=workers or usable_cores(),
            hash_mb=hash_mb,
            max_workunits=max_workunits,
        )
    )
