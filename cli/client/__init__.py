"""`zermelo client`: give this computer's time to somebody's campaign."""

from __future__ import annotations

from importlib import import_module

import click

from zermelo.cli.plain_errors import PlainGroup

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


class ClientGroup(PlainGroup):
    """Imports a command's module only when it is asked for: `pause` should not take a second."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command = getattr(import_module(COMMANDS[cmd_name]), cmd_name)
        assert isinstance(command, click.Command)  # noqa: S101
        return command


@click.group(cls=ClientGroup)
def client() -> None:
    """Give this computer's time to a coordinator, within limits that you set."""
