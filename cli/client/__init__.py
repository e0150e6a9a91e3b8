"""`zermelo client`: give this computer's time to somebody's campaign."""

from __future__ import annotations

import click

from zermelo.cli.lazy_group import LazyGroup

#: Command -> the module that defines it under the same name.
COMMANDS = {
    "configure": "zermelo.cli.client.configure",
    "doctor": "zermelo.cli.client.doctor",
    "fleet": "zermelo.cli.client.fleet",
    "pause": "zermelo.cli.client.control",
    "resume": "zermelo.cli.client.control",
    "run": "zermelo.cli.client.run",
    "status": "zermelo.cli.client.status",
    "stop": "zermelo.cli.client.control",
}


@click.group(cls=LazyGroup, modules=COMMANDS)
def client() -> None:
    """Give this computer's time to a coordinator, within limits that you set."""
