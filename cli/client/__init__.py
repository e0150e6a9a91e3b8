"""`zermelo client`: give this computer's time to somebody's campaign."""

from __future__ import annotations

import click

from zermelo.cli.lazy_group import LazyGroup

#: Command -> the module that defines it under the same name.
COMMANDS = {
    "account": "zermelo.cli.client.account",
    "configure": "zermelo.cli.client.configure",
    "delete-account": "zermelo.cli.client.account",
    "doctor": "zermelo.cli.client.doctor",
    "fleet": "zermelo.cli.client.fleet",
    "hosts": "zermelo.cli.client.work",
    "open": "zermelo.cli.client.sign_in",
    "pause": "zermelo.cli.client.control",
    "recover": "zermelo.cli.client.sign_in",
    "recovery-code": "zermelo.cli.client.sign_in",
    "results": "zermelo.cli.client.work",
    "resume": "zermelo.cli.client.control",
    "run": "zermelo.cli.client.run",
    "status": "zermelo.cli.client.status",
    "stop": "zermelo.cli.client.control",
    "team": "zermelo.cli.client.team",
}


@click.group(cls=LazyGroup, modules=COMMANDS)
def client() -> None:
    """Give this computer's time to a coordinator, within limits that you set."""
