"""`zermelo client configure`: four questions, one file."""

from __future__ import annotations

import platform
import shlex
import shutil
import sys
from dataclasses import replace
from pathlib import Path

import click

from zermelo.cli.client.options import data_dir_option, server_options
from zermelo.cli.options import json_option, option
from zermelo.cli.output import print_json
from zermelo.cli.plain_errors import CommandError
from zermelo.client.channel import keep_certificates
from zermelo.client.configuration import (
    MOST_CORES,
    MOST_MEMORY_MB,
    Configuration,
    address,
    read_configuration,
    write_configuration,
)
from zermelo.client.folder import ClientFolder
from zermelo.client.preferences import Preferences
from zermelo.client.registration import Registration
from zermelo.client.service_files import SERVICES
from zermelo.client.settings import ServerAddress, usable_cores
from zermelo.client.trial import try_server
from zermelo.server.embedded import default_data_dir

NO_SERVICE = "none"
EXAMPLE = "example.org:1913"


@click.command()
@server_options
@data_dir_option
@option("--name", default=None, show_default="asked", help="Your name; empty for anonymous.")
@option("--cores", type=click.IntRange(1, MOST_CORES), default=None, show_default="asked",
        help="Cores to use while the computer is idle; half of them while it is in use.")
@option("--memory-mb", type=click.IntRange(1, MOST_MEMORY_MB), default=None,
        show_default="asked", help="Memory for all searches together, in MB.")
@option("--service", type=click.Choice([*SERVICES, NO_SERVICE]), default=None,
        show_default="asked", help="Print what makes the system start the client by itself.")
@json_option
def configure(
    server: str | None,
    token: str | None,
    ca_file: Path | None,
    tls: str | None,
    data_dir: Path,
    name: str | None,
    cores: int | None,
    memory_mb: int | None,
    service: str | None,
    as_json: bool,
) -> None:
    """Ask for server, name, cores and memory, try the connection, write the file.

    What is given as an option is not asked, so that scripts can configure a client, too.
    """
    folder = ClientFolder(data_dir)
    before = read_configuration(folder.config)
    asks = not as_json and sys.stdin.isatty()
    server = server or _ask_server(before.server, asks)
    if name is None:
        name = before.name
        if asks:
            text = "Your name (Enter to stay anonymous)"
            name = click.prompt(text, name, show_default=bool(name))
    limits = before.preferences.idle
    if cores is None:
        cores = limits.cores or usable_cores()
        if asks:
            text = f"Cores to use while the computer is idle (it has {usable_cores()})"
            cores = click.prompt(text, cores, type=click.IntRange(1, MOST_CORES))
    if memory_mb is None:
        memory_mb = limits.memory_mb
        if asks:
            memory_mb = click.prompt(
                "Memory for the searches, in MB", memory_mb, type=click.IntRange(1, MOST_MEMORY_MB)
            )
    new = replace(
        before,
        server=server,
        name=name,
        host_name=before.host_name or (platform.node() if name else ""),
        token=_token(before, server, token),
        ca_file=folder.find(before.ca_file),
        tls=tls or before.tls,
        preferences=_preferences(before.preferences, cores, memory_mb),
    )
    folder.make()
    if ca_file is not None:
        new = replace(new, ca_file=keep_certificates(ca_file, folder.trusted.resolve()))
    registration = Registration(folder.registration)
    new, works, sentence = _tried(new, registration)
    if not as_json:
        click.secho(sentence, fg="green" if works else "yellow")
    if not works and asks and not click.confirm("Save it nevertheless?", default=True):
        raise CommandError("nothing was saved")
    write_configuration(folder.config, new)
    if new.token:
        registration.done()
    if as_json:
        print_json({"config": str(folder.config), "works": works, "connection": sentence})
        return
    run = shlex.join(("zermelo", "client", "run", *_folder_option(data_dir)))
    click.echo(f"{folder.config} is written; `{run}` starts the client")
    if new.token and new.token != before.token:
        code = shlex.join(("zermelo", "client", "recovery-code", *_folder_option(data_dir)))
        click.echo(f"`{code}` prints a secret that replaces a lost token")
    _offer_service(service, asks, data_dir)


def _folder_option(data_dir: Path) -> tuple[str, ...]:
    """What the commands of this client need to find its folder from everywhere."""
    if data_dir == default_data_dir():
        return ()
    return "--data-dir", str(data_dir.expanduser().resolve())


def _ask_server(before: str, asks: bool) -> str:
    if not asks:
        if before:
            return before
        raise CommandError(f"which server? Give --server HOST:PORT, such as {EXAMPLE}")
    while True:
        text = click.prompt(f"Server, such as {EXAMPLE}", before or None)
        try:
            return address(text)
        except ValueError as error:
            click.secho(str(error), fg="yellow")


def _token(before: Configuration, server: str, given: str | None) -> str:
    """The token for a server: that of another one is none of its business."""
    if given is not None:
        return given
    return before.token if server == before.server else ""


def _preferences(before: Preferences, cores: int, memory_mb: int) -> Preferences:
    """New numbers within the owner's other preferences."""
    return replace(
        before,
        idle=replace(before.idle, cores=cores, memory_mb=memory_mb),
        in_use=replace(before.in_use, cores=max(1, cores // 2), memory_mb=memory_mb),
    )


def _tried(new: Configuration, registration: Registration) -> tuple[Configuration, bool, str]:
    """The configuration after a trial, which may bring a token."""
    address = ServerAddress(new.server, new.token, new.ca_file, new.tls)
    trial = try_server(address, new.name, registration)
    return replace(new, token=trial.token), trial.works, trial.sentence


def _offer_service(service: str | None, asks: bool, data_dir: Path) -> None:
    if service is None:
        if not asks:
            return
        service = click.prompt(
            "Print a file that starts the client by itself?",
            NO_SERVICE, type=click.Choice([*SERVICES, NO_SERVICE]),
        )  # fmt: skip
    if service == NO_SERVICE:
        return
    command = shutil.which("zermelo") or str(Path(sys.argv[0]).resolve())
    # systemd ignores a path with ".." in it.
    file = SERVICES[service](command, data_dir.expanduser().resolve())
    click.echo(file.text)
    click.secho(file.advice, fg="green", err=True)
