"""`zermelo client fleet`: many clients on somebody's cluster."""

from __future__ import annotations

import time
from pathlib import Path

import click

from zermelo.cli.client.options import duration_option, server_options
from zermelo.cli.options import json_option, option
from zermelo.cli.output import print_json
from zermelo.cli.plain_errors import CommandError
from zermelo.client.dask_fleet import DaskFleet
from zermelo.client.preferences import PRIORITIES

LOOK_SECONDS = 2.0
FOR_EVER = 10.0**9


@click.command()
@option("--dask", required=True, metavar="ADDRESS",
        help="The scheduler of a Dask cluster, such as tcp://host:8786.")
@server_options
@option("--workers", type=click.IntRange(1, 1024), default=None,
        show_default="one per core", help="Searches at the same time on each Dask worker.")
@option("--memory-mb", type=click.IntRange(1, 1 << 20), default=None,
        show_default="64 per core", help="Memory for the tables of each client, in MB.")
@option("--priority", type=click.Choice(PRIORITIES), default=None,
        show_default="as configured there",
        help="How much searches give way to other programs on the Dask workers.")
@option("--max-workunits", type=click.IntRange(1), default=None, show_default="no limit",
        help="Stop each client after this number of results.")
@duration_option("--for", "run_seconds", show_default="until Ctrl-C",
                 help="Stop after this time, such as 8h.")
@json_option
def fleet(
    dask: str,
    server: str | None,
    token: str | None,
    ca_file: Path | None,
    tls: str | None,
    workers: int | None,
    memory_mb: int | None,
    priority: str | None,
    max_workunits: int | None,
    run_seconds: float | None,
    as_json: bool,
) -> None:
    """Run a client on every worker of a Dask cluster until Ctrl-C.

    The clients are the unchanged daemon; workers that join later get one, too.
    """
    if server is None:
        raise CommandError("which server? Give --server HOST:PORT")
    given = {
        "--server": server, "--ca-file": ca_file, "--tls": tls, "--workers": workers,
        "--memory-mb": memory_mb, "--priority": priority, "--max-workunits": max_workunits,
    }  # fmt: skip
    options = [part for name, value in given.items() if value is not None
               for part in (name, str(value))]  # fmt: skip
    deadline = time.monotonic() + (run_seconds or FOR_EVER)
    with DaskFleet(dask, options, token or "") as running:
        shown = -1
        try:
            while time.monotonic() < deadline:
                # Clients with a limit end by themselves, and are not started again.
                count = running.spread() if max_workunits is None or shown < 0 else running.running
                if count != shown and not as_json:
                    click.echo(f"{count} clients on {len(running.workers)} Dask workers")
                shown = count
                if not count and max_workunits is not None:
                    break
                time.sleep(min(LOOK_SECONDS, max(0.0, deadline - time.monotonic())))
        except KeyboardInterrupt:
            click.echo("stopping the clients", err=True)
        running.stop()
        results = running.results()
    if as_json:
        print_json({"clients": results})
    else:
        click.echo(f"{sum(code == 0 for code in results.values())} clients ended in good order")
