"""`zermelo client open`, `recovery-code` and `recover`: ways to the account without typing a token.
"""

from __future__ import annotations

import platform
import sys
import webbrowser
from dataclasses import replace
from pathlib import Path
from typing import IO
from urllib.parse import urlencode

import click

from zermelo.cli.client.asking import Ask, asks_as_volunteer
from zermelo.cli.client.options import data_dir_option, server_options
from zermelo.cli.options import json_option, option
from zermelo.cli.output import print_json
from zermelo.cli.plain_errors import CommandError
from zermelo.client.caller import Given, identify_owner, replace_configuration
from zermelo.client.channel import keep_certificates
from zermelo.client.configuration import read_configuration, write_configuration
from zermelo.client.folder import ClientFolder
from zermelo.proto import volunteers_pb2 as pb
from zermelo.research.plain import plain


@click.command("open")
@option("--web", default=None, metavar="URL", show_default="as the server says",
        help="Where the project's pages are.")
@option("--browser/--no-browser", default=True, help="Open a browser, where there is one.")
@asks_as_volunteer
def open_(ask: Ask, web: str | None, browser: bool, as_json: bool) -> None:
    """Sign in to the project's pages by a link that works once, for ten minutes."""
    reply = ask(pb.OpenSignInRequest())
    pages = (web or reply.web_url).rstrip("/")
    if not pages.startswith(("https://", "http://")):
        raise CommandError("the server names no pages; give --web URL")
    link = f"{pages}/login?{urlencode({'code': reply.code})}"
    if as_json:
        print_json({"link": link, "seconds": reply.seconds})
        return
    click.echo(link)
    if browser and sys.stdout.isatty():
        webbrowser.open(link)
    click.echo(f"works once, within {reply.seconds // 60} minutes", err=True)


@click.command("recovery-code")
@asks_as_volunteer
def recovery_code(ask: Ask, as_json: bool) -> None:
    """Print a new secret of your account, with which `recover` replaces a lost token.

    It is shown this once; an earlier one is worthless. Keep it apart from this computer.
    """
    reply = ask(pb.NewRecoveryCodeRequest())
    if as_json:
        print_json(plain(reply))
        return
    click.echo(reply.code)
    click.echo(f"the recovery code of {reply.name}; keep it, it is not shown again", err=True)


@click.command()
@server_options
@data_dir_option
@option("--name", default=None, show_default="as configured, else asked", help="Your name there.")
@option("--code-file", type=click.File(), default=None, show_default="asked",
        help="A file with the recovery code; - for standard input.")
@option("--revoke-others", is_flag=True,
        help="Make all other tokens worthless, because somebody else may have them.")
@json_option
def recover(
    server: str | None, token: str | None, ca_file: Path | None, tls: str | None, data_dir: Path,
    name: str | None, code_file: IO[str] | None, revoke_others: bool, as_json: bool,
) -> None:  # fmt: skip
    """Get a new token for your recovery code, and keep it in the configuration."""
    from zermelo.proto.remote import Remote
    from zermelo.proto.service import VOLUNTEERS

    folder = ClientFolder(data_dir)
    configuration = read_configuration(folder.config)
    asks = not as_json and sys.stdin.isatty()
    name = name or configuration.name or (click.prompt("Your name", err=True) if asks else "")
    if code_file is not None:
        code = code_file.readline().strip()
    elif asks:
        code = click.prompt("Recovery code", hide_input=True, err=True).strip()
    else:
        code = ""
    if not name or not code:
        raise CommandError("whose account, and which code? Give --name and --code-file")
    given = Given(server, token, ca_file, tls)
    address, identity = identify_owner(folder, given)
    folder.make()
    # Before the server does anything: a token that cannot be written down would be lost.
    write_configuration(folder.config, configuration)
    with Remote(address, VOLUNTEERS, identity._replace(token="")) as remote:
        reply = remote.ask(pb.RecoverRequest(name=name, code=code, revoke_others=revoke_others))
    found = replace(
        configuration, server=address, name=name, token=reply.token,
        host_name=configuration.host_name or platform.node(), tls=tls or configuration.tls,
    )  # fmt: skip
    if ca_file is not None:
        found = replace(found, ca_file=keep_certificates(ca_file, folder))
    replace_configuration(folder, configuration, found)
    done = f"{folder.config} has a new token of {reply.name}"
    if as_json:
        print_json({"name": reply.name, "config": str(folder.config)})
    else:
        click.echo(done)
