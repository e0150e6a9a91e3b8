"""What operators do to accounts."""

from __future__ import annotations

import click

from zermelo.cli.admin.asking import acting, admin, print_done
from zermelo.cli.doors import Ask
from zermelo.cli.options import option
from zermelo.cli.output import print_json
from zermelo.cli.plain_errors import CommandError, agree
from zermelo.proto import operations_pb2 as pb
from zermelo.research.plain import plain
from zermelo.server.trust.accounts import Role

_ROLES = click.Choice([str(role) for role in Role])


@admin.command("open-account")
@click.argument("name")
@option("--role", type=_ROLES, default=str(Role.VOLUNTEER), help="What it may do.")
@option("--team", default="", help="The team it works for.")
@acting
def open_account(
    ask: Ask, name: str, role: str, team: str, reason: str, as_json: bool
) -> None:
    """Open an account; its token is printed this once."""
    _print_token(
        ask(pb.OpenAccountRequest(name=name, role=role, team=team, reason=reason)), as_json
    )


@admin.command("renew-token")
@click.argument("name")
@acting
def renew_token(ask: Ask, name: str, reason: str, as_json: bool) -> None:
    """Revoke the tokens of a user and print a new one."""
    _print_token(ask(pb.RenewTokenRequest(name=name, reason=reason)), as_json)


@admin.command("revoke")
@click.argument("name")
@acting
def revoke(ask: Ask, name: str, reason: str, as_json: bool) -> None:
    """Revoke every token of a user."""
    reply = ask(pb.RevokeTokensRequest(name=name, reason=reason))
    print_done(reply, f"tokens of {name} revoked: {reply.revoked}", as_json)


@admin.command("set-role")
@click.argument("name")
@click.argument("role", type=_ROLES)
@acting
def set_role(ask: Ask, name: str, role: str, reason: str, as_json: bool) -> None:
    """Change what a user may do."""
    reply = ask(pb.SetRoleRequest(name=name, role=role, reason=reason))
    print_done(reply, f"{name} is {role} now", as_json)


@admin.command("delete-account")
@click.argument("name")
@option("--yes", is_flag=True, help="Do not ask.")
@acting
def delete_account(ask: Ask, name: str, yes: bool, reason: str, as_json: bool) -> None:
    """End an account for good, as its owner could: its credit stays in the project's sums."""
    if not yes:
        if as_json:
            raise CommandError("nothing was done; give --yes to end the account")
        agree(f"End the account {name} for good?")
    reply = ask(pb.DeleteUserRequest(name=name, reason=reason))
    print_done(reply, f"the account is gone; its credit is counted as {reply.name}", as_json)


def _print_token(reply: pb.TokenReply, as_json: bool) -> None:
    if as_json:
        print_json(plain(reply))
        return
    click.echo(reply.token)
    click.echo(f"the token of {reply.user}; it is not shown again", err=True)
