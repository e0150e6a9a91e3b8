"""`zermelo client run`: the daemon itself."""

from __future__ import annotations

import logging
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from zermelo.cli.client.options import data_dir_option, duration_option, server_options
from zermelo.cli.options import option
from zermelo.cli.plain_errors import CommandError
from zermelo.client.caller import Given, owners_address
from zermelo.client.configuration import LONGEST_STORE, Configuration, read_configuration
from zermelo.client.folder import ClientFolder
from zermelo.client.preferences import PRIORITIES, Preferences
from zermelo.client.settings import LEAVE_SECONDS, ClientError, ClientSettings
from zermelo.logs import FORMATS, TEXT

log = logging.getLogger(__name__)


@click.command()
@server_options
@data_dir_option
@option("--workers", type=click.IntRange(1, 1024), default=None, show_default="as configured",
        help="Searches at the same time, whether the computer is in use or not.")
@option("--cpu-share", type=click.FloatRange(0.01, 1), default=None, show_default="as configured",
        help="Share of the time that searches run: 0.5 is half of it.")
@option("--memory-mb", type=click.IntRange(1, 1 << 20), default=None,
        show_default="as configured", help="Memory for all searches together, in MB.")
@option("--priority", type=click.Choice(PRIORITIES), default=None, show_default="as configured",
        help="How much searches give way to other programs.")
@option("--checkpoint-seconds", type=click.FloatRange(0.05), default=None,
        show_default="as configured", help="Seconds between two checkpoints of a search.")
@option("--store-seconds", type=click.FloatRange(0, LONGEST_STORE), default=None,
        show_default="as configured",
        help="Work kept ahead for when the server is away; 0: as the server wishes.")
@option("--quit-seconds", type=click.FloatRange(0), default=None, show_default="as configured",
        help="Seconds within which the client stops; searches get most of them to finish.")
@option("--leave-seconds", type=click.FloatRange(0), default=LEAVE_SECONDS,
        help="How long to try to tell the server that the client stops.")
@option("--once", is_flag=True, help="Stop after one result.")
@option("--max-workunits", type=click.IntRange(1), default=None, show_default="no limit",
        help="Stop after this number of results.")
@duration_option("--for", "run_seconds", show_default="no limit",
                 help="Stop after this time, such as 30m or 8h.")
@option("--view/--no-view", default=None, show_default="on a terminal",
        help="Show each search as a board while the client runs.")
@option("--verbose", is_flag=True, help="Log every detail.")
@option("--log-format", type=click.Choice(FORMATS), default=TEXT,
        help="Lines on the terminal: for people, or JSON objects for programs.")
def run(
    server: str | None,
    token: str | None,
    ca_file: Path | None,
    tls: str | None,
    data_dir: Path,
    workers: int | None,
    cpu_share: float | None,
    memory_mb: int | None,
    priority: str | None,
    checkpoint_seconds: float | None,
    store_seconds: float | None,
    quit_seconds: float | None,
    leave_seconds: float,
    once: bool,
    max_workunits: int | None,
    run_seconds: float | None,
    view: bool | None,
    verbose: bool,
    log_format: str,
) -> None:
    """Take, solve and report workunits until stopped.

    Ctrl-C lets searches finish for a moment and hands back the rest; a second one stops at
    once. See also: zermelo client configure, status, pause, resume, stop.
    """
    folder = ClientFolder(data_dir)
    configuration = read_configuration(folder.config)
    address = owners_address(folder, configuration, Given(server, token, ca_file, tls))
    if not address.server:
        raise CommandError(
            "no server is configured; run `zermelo client configure`, or give --server HOST:PORT"
        )
    chosen = {
        "cores": workers, "cpu_share": cpu_share, "memory_mb": memory_mb, "priority": priority,
    }  # fmt: skip

    def read_preferences() -> Preferences:
        return _preferences(read_configuration(folder.config), chosen)

    settings = ClientSettings(
        address=address,
        data_dir=data_dir,
        preferences=_preferences(configuration, chosen),
        read_preferences=read_preferences,
        user_name=configuration.name,
        host_name=configuration.host_name,
        max_workunits=1 if once else max_workunits,
        run_seconds=run_seconds,
        store_seconds=configuration.store_seconds if store_seconds is None else store_seconds,
        quit_seconds=configuration.quit_seconds if quit_seconds is None else quit_seconds,
        leave_seconds=leave_seconds,
        checkpoint_seconds=checkpoint_seconds or configuration.checkpoint_seconds,
    )
    from zermelo.client.daemon import run as run_daemon
    from zermelo.client.logs import start_logging
    from zermelo.client.sensors import SystemSensors

    folder.make()
    if view is None:
        view = log_format == TEXT and sys.stderr.isatty()
    if view:
        from rich.console import Console

        from zermelo.cli.client.live import LiveView

        shown = LiveView(Console(stderr=True, highlight=False))
        start_logging(folder.logs, verbose=verbose, terminal=shown.handler())
        show = shown.show
    else:
        start_logging(folder.logs, verbose=verbose, log_format=log_format)
        show = None
    try:
        run_daemon(settings, SystemSensors(), show)
    except ClientError as error:
        # In the log, too, because of a client that the system starts nobody reads the terminal.
        log.error("%s", error)
        sys.exit(error.exit_code)


def _preferences(configuration: Configuration, chosen: Mapping[str, Any]) -> Preferences:
    """What the command line says counts whether the computer is in use or not."""
    said = {name: value for name, value in chosen.items() if value is not None}
    found = configuration.preferences
    return replace(
        found,
        in_use=replace(found.in_use, **said),
        idle=replace(found.idle, **said),
    )
