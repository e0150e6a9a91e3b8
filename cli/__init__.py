"""The `zermelo` command: one module per group of commands, loaded when it is used."""

from __future__ import annotations

import sys
from importlib import import_module

import click

from zermelo import ZermeloError, __version__
from zermelo.cli.plain_errors import PlainGroup

#: Command or group -> the module that defines it under the same name.
COMMANDS = {
    "admin": "zermelo.cli.admin",
    "campaign": "zermelo.cli.campaign",
    "client": "zermelo.cli.client",
    "db": "zermelo.cli.db",
    "engine": "zermelo.cli.engine",
    "games": "zermelo.cli.games",
    "gtp": "zermelo.cli.gtp",
    "match": "zermelo.cli.match",
    "play": "zermelo.cli.play",
    "proof": "zermelo.cli.proof",
    "query": "zermelo.cli.query",
    "serve": "zermelo.cli.serve",
    "solve": "zermelo.cli.solve",
    "tree": "zermelo.cli.tree",
    "tls": "zermelo.cli.tls",
}


class LazyGroup(PlainGroup):
    """Imports a command's module only when that command is asked for.

    `zermelo --help` and the volunteer's daemon then need not load the server.
    """

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command = getattr(import_module(COMMANDS[cmd_name]), cmd_name)
        assert isinstance(command, click.Command)  # noqa: S101
        return command


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="zermelo")
def zermelo() -> None:
    """Solve two-player games with the computers of volunteers."""


def main() -> None:
    """Run the command line; a user's mistake ends in one clear line, never a traceback."""
    try:
        zermelo(prog_name="zermelo")
    except ZermeloError as error:
        click.secho(f"zermelo: {error}", fg="red", err=True)
        sys.exit(error.exit_code)
