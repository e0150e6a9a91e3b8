"""`zermelo admin`: look at hosts, users and workunits, and act on them."""

from __future__ import annotations

import getpass
import json
from collections.abc import Callable, Sequence
from functools import wraps
from pathlib import Path
from typing import Any

import click

from zermelo.cli.options import database_options, json_option, open_connection, option
from zermelo.cli.output import print_facts, print_table
from zermelo.server.database import Connection
from zermelo.server.trust import accounts, administration
from zermelo.server.trust.accounts import Role
from zermelo.server.trust.audit import actions

Command = Callable[..., None]
_MOST = option("--most", type=click.IntRange(1, 100_000), default=50, help="Rows to show.")


@click.group()
def admin() -> None:
    """Look at hosts, users and workunits, and act on them; every action is recorded."""


def _connected(command: Command) -> Command:
    """Give a command a connection instead of the options that name it."""

    @database_options
    @json_option
    @wraps(command)
    def connected(*arguments: Any, data_dir: Path, database: str | None, **more: Any) -> None:
        with open_connection(data_dir, database) as connection:
            command(connection, *arguments, **more)

    return connected


def _acting(command: Command) -> Command:
    """The options of a command that changes something."""
    actor = option("--actor", default=getpass.getuser, metavar="NAME",
                   help="Who does this, for the audit.  [default: your login]")
    reason = option("--reason", default="", help="Why, for the audit.")
    return actor(reason(_connected(command)))


# -- looking ------------------------------------------------------------------------------


@admin.command()
@_MOST
@_connected
def users(connection: Connection, most: int, as_json: bool) -> None:
    """The users, those with the most credit first."""
    _print_rows("users", administration.rows(connection, "list_users", most=most), as_json)


@admin.command()
@_MOST
@_connected
def hosts(connection: Connection, most: int, as_json: bool) -> None:
    """The hosts, those seen last first."""
    found = administration.rows(connection, "list_hosts", host=None, most=most)
    _print_rows("hosts", found, as_json, ("id", "user", "name", "streak", "confirmed", "errors",
                                          "quota", "open_leases", "credit", "banned_at"))


@admin.command()
@click.argument("host", type=int)
@_MOST
@_connected
def host(connection: Connection, host: int, most: int, as_json: bool) -> None:
    """One host: its record and its latest results."""
    _print_one(administration.show_host(connection, host, most), "results", as_json)


@admin.command()
@click.argument("workunit", type=int)
@_connected
def workunit(connection: Connection, workunit: int, as_json: bool) -> None:
    """One workunit: its question, and everybody who was asked."""
    _print_one(administration.show_workunit(connection, workunit), "history", as_json)


@admin.command()
@option("--subject", default=None, help="Only what was done to this, such as 'host 17'.")
@_MOST
@_connected
def audit(connection: Connection, subject: str | None, most: int, as_json: bool) -> None:
    """What was done, by whom and why; the latest first."""
    found = [action._asdict() for action in actions(connection, subject, most)]
    _print_rows("audit", found, as_json)


# -- accounts -------------------------------------------------------------------------------


@admin.command("open-account")
@click.argument("name")
@option("--role", type=click.Choice([str(role) for role in Role]), default=str(Role.VOLUNTEER),
        help="What it may do.")
@option("--team", default="", help="The team it works for.")
@_acting
def open_account(
    connection: Connection, name: str, role: str, team: str, actor: str, reason: str, as_json: bool
) -> None:
    """Open an account; its token is printed this once."""
    token = accounts.open_account(connection, name, Role(role), team=team, actor=actor)
    _print_token(name, token, as_json)


@admin.command("renew-token")
@click.argument("name")
@_acting
def renew_token(
    connection: Connection, name: str, actor: str, reason: str, as_json: bool
) -> None:
    """Revoke the tokens of a user and print a new one."""
    _print_token(name, accounts.renew_token(connection, name, actor=actor), as_json)


@admin.command("revoke")
@click.argument("name")
@_acting
def revoke(connection: Connection, name: str, actor: str, reason: str, as_json: bool) -> None:
    """Make every token of a user worthless."""
    revoked = accounts.revoke_tokens(connection, name, actor=actor)
    _print_done(as_json, f"{revoked} tokens of {name} revoked", revoked=revoked)


@admin.command("set-role")
@click.argument("name")
@click.argument("role", type=click.Choice([str(role) for role in Role]))
@_acting
def set_role(
    connection: Connection, name: str, role: str, actor: str, reason: str, as_json: bool
) -> None:
    """Change what a user may do."""
    accounts.set_role(connection, name, Role(role), actor=actor)
    _print_done(as_json, f"{name} is {role} now", user=name, role=role)


# -- acting ---------------------------------------------------------------------------------


@admin.command("ban-host")
@click.argument("host", type=int)
@_acting
def ban_host(connection: Connection, host: int, actor: str, reason: str, as_json: bool) -> None:
    """Refuse a host's calls; what rests on its word is asked again."""
    doubted = administration.ban_host(connection, host, reason, actor=actor)
    _print_done(as_json, f"host {host} is banned, {doubted} results in doubt", doubted=doubted)


@admin.command("unban-host")
@click.argument("host", type=int)
@_acting
def unban_host(connection: Connection, host: int, actor: str, reason: str, as_json: bool) -> None:
    """Let a host call again; it has to earn trust anew."""
    administration.unban_host(connection, host, reason, actor=actor)
    _print_done(as_json, f"host {host} may call again", host=host)


@admin.command("ban-user")
@click.argument("name")
@_acting
def ban_user(connection: Connection, name: str, actor: str, reason: str, as_json: bool) -> None:
    """Refuse all calls of a user; what rests on its hosts' word is asked again."""
    doubted = administration.ban_user(connection, name, reason, actor=actor)
    _print_done(as_json, f"{name} is banned, {doubted} results in doubt", doubted=doubted)


@admin.command("unban-user")
@click.argument("name")
@_acting
def unban_user(connection: Connection, name: str, actor: str, reason: str, as_json: bool) -> None:
    """Let a user call again."""
    administration.unban_user(connection, name, reason, actor=actor)
    _print_done(as_json, f"{name} may call again", user=name)


@admin.command("ask-again")
@click.argument("workunit", type=int)
@_acting
def ask_again(
    connection: Connection, workunit: int, actor: str, reason: str, as_json: bool
) -> None:
    """Take the answers of a workunit out of the tree and ask it again."""
    taken = administration.ask_again(connection, workunit, reason, actor=actor)
    _print_done(as_json, f"{taken} answers taken out, asked again", answers=taken)


# -- printing -------------------------------------------------------------------------------


def _print_rows(
    title: str, rows: Sequence[dict[str, Any]], as_json: bool, columns: Sequence[str] = ()
) -> None:
    if as_json:
        click.echo(json.dumps({title: rows}, default=str))
    elif rows:
        shown = columns or list(rows[0])
        cells = [[_cell(row[column]) for column in shown] for row in rows]
        print_table(title, shown, cells, words=len(shown))
    else:
        click.echo(f"no {title}")


def _print_one(found: dict[str, Any], more: str, as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps(found, default=str))
        return
    print_facts((name, _cell(value)) for name, value in found.items() if name != more)
    _print_rows(more, found[more], as_json)


def _print_token(name: str, token: str, as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps({"user": name, "token": token}))
        return
    click.echo(token)
    click.echo(f"the token of {name}; it is not shown again", err=True)


def _print_done(as_json: bool, sentence: str, **facts: Any) -> None:
    click.echo(json.dumps(facts) if as_json else sentence)


def _cell(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:,.1f}"
    return value.strftime("%Y-%m-%d %H:%M:%S") if hasattr(value, "strftime") else str(value)
