"""The group of operators' commands, and how each asks: a database at hand, or a coordinator."""

from __future__ import annotations

import getpass
from collections.abc import Callable
from functools import wraps
from typing import Any

import click
from google.protobuf.message import Message

from zermelo.cli.doors import door_options, open_door
from zermelo.cli.options import json_option, option
from zermelo.cli.output import print_json
from zermelo.research.plain import plain

Command = Callable[..., None]
most_option = option("--most", type=click.IntRange(1, 10_000), default=50, help="Rows to show.")


@click.group()
def admin() -> None:
    """Look at hosts, users, workunits and campaigns, and act on them.

    Every action is recorded. The commands work on a database, or with --server on a
    coordinator, for whoever has an operator's token.
    """


def acting(command: Command) -> Command:
    """A command that changes something, with a way to ask for that."""
    actor = option("--actor", default=getpass.getuser, metavar="NAME",
                   help="Who does this, for the audit; with --server the account's name counts."
                        "  [default: your login]")
    reason = option("--reason", default="", help="Why, for the audit.")
    return actor(reason(looking(command)))


def looking(command: Command) -> Command:
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


def print_done(reply: Message, sentence: str, as_json: bool) -> None:
    if as_json:
        print_json(plain(reply))
    else:
        click.echo(sentence)
