"""`zermelo client configure`: four questions, one file."""

from __future__ import annotations

import platform
import shlex
import shutil
import sys
from dataclasses import replace
from pathlib import Path

import click

from zermelo.cli.client.options import WholeNumber, data_dir_option, server_options
from zermelo.cli.options import json_option, option
from zermelo.cli.output import print_json
from zermelo.cli.plain_errors import CommandError
from zermelo.client.caller import Given, owners_address, replace_configuration
from zermelo.client.channel import keep_certificates
from zermelo.client.configuration import (
    MOST_CORES,
    MOST_MEMORY_MB,
    address,
    read_configuration,
    user_name,
)
from zermelo.client.folder import ClientFolder
from zermelo.client.preferences import Preferences
from zermelo.client.registration import Registration
from zermelo.client.service_files import SERVICES
from zermelo.client.settings import ClientError, usable_cores
from zermelo.client.trial import try_server
from zermelo.proto.remote import UnreachableError
from zermelo.server.embedded import default_data_dir

NO_SERVICE = "none"
EXAMPLE = "example.org:1913"


class NotSavedError(ClientError):
    """The server refuses what was configured, or its owner does not want it as it is."""


def _name(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    try:
        return user_name(value) if value is not None else None
    except ValueError as error:
        raise click.BadParameter(str(error)) from None


@click.command()
@server_options
@data_dir_option
@option("--name", default=None, callback=_name, show_default="asked",
        help="Your name; empty for anonymous.")
@option("--cores", type=WholeNumber(1, MOST_CORES), default=None, show_default="asked",
        help="Cores to use while the computer is idle; half of them while it is in use.")
@option("--memory-mb", type=WholeNumber(1, MOST_MEMORY_MB), default=None,
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
            name = click.prompt(text, name, show_default=bool(name), value_proc=_typed_name)
    limits = before.preferences.idle
    if cores is None:
        cores = limits.cores or usable_cores()
        if asks:
            text = f"Cores to use while the computer is idle (it has {usable_cores()})"
            cores = click.prompt(text, cores, type=WholeNumber(1, MOST_CORES))
    if memory_mb is None:
        memory_mb = limits.memory_mb
        if asks:
            memory_mb = click.prompt(
                "Memory for the searches, in MB", memory_mb, type=WholeNumber(1, MOST_MEMORY_MB)
            )
    given = Given(server, token, ca_file, tls)
    address = owners_address(folder, before, given)
    new = replace(
        before,
        server=server,
        name=name,
        host_name=before.host_name or (platform.node() if name else ""),
        tls=address.tls,
        preferences=_preferences(before.preferences, cores, memory_mb),
    )
    folder.make()
    registration = Registration(folder.registration)
    trial = try_server(address, name, registration)
    if not as_json:
        click.secho(trial.sentence, fg="green" if trial.works else "yellow")
    saves = not trial.refused
    if not trial.works and asks:
        saves = click.confirm("Save it nevertheless?", default=saves)
    if saves:
        if ca_file is not None:
            new = replace(new, ca_file=keep_certificates(ca_file, folder))
        if name and trial.token and trial.user_name:
            # A token says whose it is, whatever was typed.
            new = replace(new, name=trial.user_name)
        replace_configuration(folder, before, replace(new, token=trial.token))
        if trial.token:
            registration.done()
    if as_json:
        print_json({
            "config": str(folder.config), "works": trial.works, "connection": trial.sentence,
            "saved": saves,
        })  # fmt: skip
    elif saves:
        _tell_the_rest(folder, data_dir, works=trial.works, renewed=trial.token != before.token)
        _offer_service(service, asks, data_dir)
    if not saves:
        raise NotSavedError("nothing was saved")
    if not trial.works and not asks:
        sys.exit(UnreachableError.exit_code)


def _tell_the_rest(folder: ClientFolder, data_dir: Path, *, works: bool, renewed: bool) -> None:
    run = shlex.join(("zermelo", "client", "run", *_folder_option(data_dir)))
    click.echo(f"{folder.config} is written; `{run}` starts the client")
    if works and renewed:
        code = shlex.join(("zermelo", "client", "recovery-code", *_folder_option(data_dir)))
        click.echo(f"`{code}` prints a secret that replaces a lost token")


def _typed_name(text: str) -> str:
    try:
        return user_name(text)
    except ValueError as error:
        raise click.UsageError(str(error)) from None


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


def _preferences(before: Preferences, cores: int, memory_mb: int) -> Preferences:
    """New numbers within the owner's other preferences."""
    return replace(
        before,
        idle=replace(before.idle, cores=cores, memory_mb=memory_mb),
        in_use=replace(before.in_use, cores=max(1, cores // 2), memory_mb=memory_mb),
    )


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
