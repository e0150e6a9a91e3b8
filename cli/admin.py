"""`zermelo admin`: look at a running project, and act on it."""

from __future__ import annotations

import getpass
from collections.abc import Callable
from functools import wraps
from typing import Any

import click
from google.protobuf.message import Message

from zermelo.cli.doors import Ask, door_options, open_door
from zermelo.cli.messages import print_message, print_messages
from zermelo.cli.options import json_option, option
from zermelo.cli.output import print_json
from zermelo.proto import operations_pb2 as pb
from zermelo.research.plain import plain
from zermelo.server.trust.accounts import Role
from zermelo.server.trust.operations import SUMS

Command = Callable[..., None]
_MOST = option("--most", type=click.IntRange(1, 10_000), default=50, help="Rows to show.")
_ROLES = click.Choice([str(role) for role in Role])


@click.group()
def admin() -> None:
    """Look at hosts, users, workunits and campaigns, and act on them.

    Every action is recorded. The commands work on a database, or with --server on a
    coordinator, for whoever has an operator's token.
    """


def _acting(command: Command) -> Command:
    """A command that changes something, with a way to ask for that."""
    actor = option("--actor", default=getpass.getuser, metavar="NAME",
                   help="Who does this, for the audit; with --server the account's name counts."
                        "  [default: your login]")
    reason = option("--reason", default="", help="Why, for the audit.")
    return actor(reason(_looking(command)))


def _looking(command: Command) -> Command:
    """Give a command a way to ask instead of the options that say where."""

    @door_options
    @json_option
    @wraps(command)
    def asking(
        *arguments: Any, data_dir: Any, database: Any, server: Any, token: Any, ca_file: Any,
        certificate: Any, key: Any, actor: str = "", **more: Any,
    ) -> None:  # fmt: skip
        with open_door(
            data_dir=data_dir, database=database, server=server, token=token, ca_file=ca_file,
            certificate=certificate, key=key, actor=actor,
        ) as ask:  # fmt: skip
            command(ask, *arguments, **more)

    return asking


# -- looking ------------------------------------------------------------------------------


@admin.command()
@_MOST
@_looking
def users(ask: Ask, most: int, as_json: bool) -> None:
    """The users, those with the most credit first."""
    print_messages("users", ask(pb.ListUsersRequest(most=most)).users, as_json)


@admin.command()
@_MOST
@_looking
def hosts(ask: Ask, most: int, as_json: bool) -> None:
    """The hosts, those seen last first."""
    found = ask(pb.ListHostsRequest(most=most)).hosts
    print_messages("hosts", found, as_json, ("id", "user", "name", "streak", "confirmed", "errors",
                                          "quota", "open_leases", "credit", "banned_at"))


@admin.command()
@click.argument("host", type=click.IntRange(1))
@_MOST
@_looking
def host(ask: Ask, host: int, most: int, as_json: bool) -> None:
    """One host: its record and its latest results."""
    found = ask(pb.ShowHostRequest(host=host, most=most))
    print_message(found.host, "results", found.results, as_json)


@admin.command()
@click.argument("workunit", type=click.IntRange(1))
@_looking
def workunit(ask: Ask, workunit: int, as_json: bool) -> None:
    """One workunit: its question, and everybody who was asked."""
    found = ask(pb.ShowWorkunitRequest(workunit=workunit))
    print_message(found.workunit, "history", found.history, as_json)


@admin.command()
@option("--by", type=click.Choice(SUMS), default="user", help="What to sum by.")
@_MOST
@_looking
def credit(ask: Ask, by: str, most: int, as_json: bool) -> None:
    """Credit for validated work in millions of nodes; `partial` ended without a result."""
    print_messages("credit", ask(pb.ListCreditRequest(by=by, most=most)).credit, as_json)


@admin.command()
@_looking
def campaigns(ask: Ask, as_json: bool) -> None:
    """The campaigns and their states."""
    print_messages("campaigns", ask(pb.ListCampaignsRequest()).campaigns, as_json)


@admin.command()
@option("--subject", default="", help="Only what was done to this, such as 'host 17'.")
@_MOST
@_looking
def audit(ask: Ask, subject: str, most: int, as_json: bool) -> None:
    """What was done, by whom and why; the latest first."""
    found = ask(pb.ListAuditRequest(subject=subject, most=most)).audit
    print_messages("audit", found, as_json)


# -- accounts -------------------------------------------------------------------------------


@admin.command("open-account")
@click.argument("name")
@option("--role", type=_ROLES, default=str(Role.VOLUNTEER), help="What it may do.")
@option("--team", default="", help="The team it works for.")
@_acting
def open_account(
    ask: Ask, name: str, role: str, team: str, reason: str, as_json: bool
) -> None:
    """Open an account; its token is printed this once."""
    _print_token(
        ask(pb.OpenAccountRequest(name=name, role=role, team=team, reason=reason)), as_json
    )


@admin.command("renew-token")
@click.argument("name")
@_acting
def renew_token(ask: Ask, name: str, reason: str, as_json: bool) -> None:
    """Revoke the tokens of a user and print a new one."""
    _print_token(ask(pb.RenewTokenRequest(name=name, reason=reason)), as_json)


@admin.command("revoke")
@click.argument("name")
@_acting
def revoke(ask: Ask, name: str, reason: str, as_json: bool) -> None:
    """Make every token of a user worthless."""
    reply = ask(pb.RevokeTokensRequest(name=name, reason=reason))
    _print_done(reply, f"tokens of {name} revoked: {reply.revoked}", as_json)


@admin.command("set-role")
@click.argument("name")
@click.argument("role", type=_ROLES)
@_acting
def set_role(ask: Ask, name: str, role: str, reason: str, as_json: bool) -> None:
    """Change what a user may do."""
    reply = ask(pb.SetRoleRequest(name=name, role=role, reason=reason))
    _print_done(reply, f"{name} is {role} now", as_json)


# -- acting ---------------------------------------------------------------------------------


@admin.command("ban-host")
@click.argument("host", type=click.IntRange(1))
@_acting
def ban_host(ask: Ask, host: int, reason: str, as_json: bool) -> None:
    """Refuse a host's calls; what rests on its word is asked again."""
    reply = ask(pb.BanHostRequest(host=host, reason=reason))
    _print_done(reply, f"host {host} is banned, {reply.doubted} results in doubt", as_json)


@admin.command("unban-host")
@click.argument("host", type=click.IntRange(1))
@_acting
def unban_host(ask: Ask, host: int, reason: str, as_json: bool) -> None:
    """Let a host call again; it has to earn trust anew."""
    reply = ask(pb.UnbanHostRequest(host=host, reason=reason))
    _print_done(reply, f"host {host} may call again", as_json)


@admin.command("ban-user")
@click.argument("name")
@_acting
def ban_user(ask: Ask, name: str, reason: str, as_json: bool) -> None:
    """Refuse all calls of a user; what rests on its hosts' word is asked again."""
    reply = ask(pb.BanUserRequest(name=name, reason=reason))
    _print_done(reply, f"{name} is banned, {reply.doubted} results in doubt", as_json)


@admin.command("unban-user")
@click.argument("name")
@_acting
def unban_user(ask: Ask, name: str, reason: str, as_json: bool) -> None:
    """Let a user call again."""
    reply = ask(pb.UnbanUserRequest(name=name, reason=reason))
    _print_done(reply, f"{name} may call again", as_json)


@admin.command("ask-again")
@click.argument("workunit", type=click.IntRange(1))
@_acting
def ask_again(ask: Ask, workunit: int, reason: str, as_json: bool) -> None:
    """Take the answers of a workunit out of the tree and ask it again."""
    reply = ask(pb.AskAgainRequest(workunit=workunit, reason=reason))
    _print_done(reply, f"asked again; answers taken out of the tree: {reply.answers}", as_json)


@admin.command("pause")
@click.argument("campaign")
@_acting
def pause(ask: Ask, campaign: str, reason: str, as_json: bool) -> None:
    """Ask nothing more until the campaign is resumed."""
    reply = ask(pb.PauseCampaignRequest(campaign=campaign, reason=reason))
    _print_done(reply, f"{campaign} is {reply.state}", as_json)


@admin.command("resume")
@click.argument("campaign")
@_acting
def resume(ask: Ask, campaign: str, reason: str, as_json: bool) -> None:
    """Go on with a paused campaign."""
    reply = ask(pb.ResumeCampaignRequest(campaign=campaign, reason=reason))
    _print_done(reply, f"{campaign} is {reply.state}", as_json)


@admin.command("cancel")
@click.argument("campaign")
@_acting
def cancel(ask: Ask, campaign: str, reason: str, as_json: bool) -> None:
    """End a campaign for good; what is proved stays."""
    reply = ask(pb.CancelCampaignRequest(campaign=campaign, reason=reason))
    _print_done(reply, f"{campaign} is {reply.state}", as_json)


# -- printing -------------------------------------------------------------------------------


def _print_token(reply: pb.TokenReply, as_json: bool) -> None:
    if as_json:
        print_json(plain(reply))
        return
    click.echo(reply.token)
    click.echo(f"the token of {reply.user}; it is not shown again", err=True)


def _print_done(reply: Message, sentence: str, as_json: bool) -> None:
    if as_json:
        print_json(plain(reply))
    else:
        click.echo(sentence)
