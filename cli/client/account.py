"""`zermelo client account`: what the project knows of you, what you agree to, and leaving."""

from __future__ import annotations

import sys

import click

from zermelo.cli.client.asking import Ask, asks_as_volunteer
from zermelo.cli.messages import print_message
from zermelo.cli.options import option
from zermelo.cli.output import print_json
from zermelo.cli.plain_errors import CommandError
from zermelo.proto import volunteers_pb2 as pb
from zermelo.research.plain import plain


@click.command()
@option("--show-hosts/--hide-hosts", "show_hosts", default=None, show_default="as it is",
        help="Whether everybody may see your hosts.")
@option("--export/--no-export", "export_statistics", default=None, show_default="as it is",
        help="Whether the statistics for other sites contain you.")
@asks_as_volunteer
def account(
    ask: Ask, show_hosts: bool | None, export_statistics: bool | None, as_json: bool
) -> None:
    """Show your account and change your consents, which are off by default."""
    if show_hosts is not None or export_statistics is not None:
        ask(pb.SetConsentsRequest(show_hosts=show_hosts, export_statistics=export_statistics))
    found = ask(pb.ShowAccountRequest())
    tokens = list(found.tokens)
    found.ClearField("tokens")
    print_message(found, "tokens", tokens, as_json)


@click.command("delete-account")
@option("--name", default=None, show_default="asked", help="The name of the account, to confirm.")
@asks_as_volunteer
def delete_account(ask: Ask, name: str | None, as_json: bool) -> None:
    """End your account for good.

    Your name becomes free, your tokens and consents are deleted, and your hosts lose their names.
    What you proved stays in the tree, and your credit in the sums of the project, without your
    name.
    """
    if name is None:
        if as_json or not sys.stdin.isatty():
            raise CommandError("nothing was done; give --name to confirm")
        name = click.prompt("This cannot be undone. The name of the account, to confirm", err=True)
    reply = ask(pb.DeleteAccountRequest(name=name))
    if as_json:
        print_json(plain(reply))
    else:
        click.echo(f"the account is gone; its credit is counted as {reply.name}")
