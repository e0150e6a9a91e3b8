"""Groups of commands that load only what is asked for."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

import click

from zermelo.cli.plain_errors import PlainGroup


class LazyGroup(PlainGroup):
    """Imports a command's module only when that command is asked for.

    `zermelo --help` and the volunteer's daemon then need not load the server, and
    `zermelo client pause` does not take a second.
    """

    def __init__(self, *args: Any, modules: Mapping[str, str], **attributes: Any) -> None:
        """`modules` tells for each command the module that defines it under the same name."""
        super().__init__(*args, **attributes)
        self._modules = modules

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(self._modules)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self._modules:
            return None
        command: click.Command = getattr(import_module(self._modules[cmd_name]), cmd_name)
        return command
