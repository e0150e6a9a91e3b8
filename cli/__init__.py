"""The `zermelo` command: one module per group of commands, loaded when it is used."""

from __future__ import annotations

import os
import sys

import click

from zermelo import ZermeloError, __version__
from zermelo.cli.lazy_group import LazyGroup
from zermelo.parts import missing_part

#: Command or group -> the module that defines it under the same name.
COMMANDS = {
    "admin": "zermelo.cli.admin",
    "campaign": "zermelo.cli.campaign",
    "client": "zermelo.cli.client",
    "db": "zermelo.cli.db",
    "engine": "zermelo.cli.engine",
    "game": "zermelo.cli.game",
    "games": "zermelo.cli.games",
    "gtp": "zermelo.cli.gtp",
    "health": "zermelo.cli.health",
    "match": "zermelo.cli.match",
    "play": "zermelo.cli.play",
    "proof": "zermelo.cli.proof",
    "query": "zermelo.cli.query",
    "serve": "zermelo.cli.serve",
    "solve": "zermelo.cli.solve",
    "theatre": "zermelo.cli.theatre",
    "tree": "zermelo.cli.tree",
    "tls": "zermelo.cli.tls",
    "web": "zermelo.cli.web",
}


@click.group(
    cls=LazyGroup, modules=COMMANDS, context_settings={"help_option_names": ["-h", "--help"]}
)
@click.version_option(__version__, prog_name="zermelo")
def zermelo() -> None:
    """Solve two-player games with the computers of volunteers."""


def main() -> None:
    """Run the command line; a user's mistake ends in one clear line, never a traceback."""
    # gRPC's own lines go past our log and its format; what fails is told by us. It reads this
    # when it is loaded.
    os.environ.setdefault("GRPC_VERBOSITY", "NONE")
    try:
        zermelo(prog_name="zermelo")
    except ZermeloError as error:
        click.secho(f"zermelo: {error}", fg="red", err=True)
        sys.exit(error.exit_code)
    except ModuleNotFoundError as error:
        missing = missing_part(error)
        if missing is None:
            raise
        click.secho(f"zermelo: {missing}", fg="red", err=True)
        sys.exit(missing.exit_code)
