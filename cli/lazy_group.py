"""Groups of commands that load only what is asked for."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

import click

from zermelo.cli.plain_errors import PlainGroup
from zermelo.parts import MissingPartError, missing_part


class LazyGroup(PlainGroup):
    """Imports a command's module only when that command is asked for.

    `zermelo --help` and the volunteer's daemon then need not load the server, and
    `zermelo client pause` does not take a second.
    """

    def __init__(self, *args: Any, modules: Mapping[str, str], **attributes: Any) -> None:
        """`modules` tells for each command the module that defines it under the same name, with
        an underscore for a hyphen, and one behind it where Python has the word itself.
        """
        super().__init__(*args, **attributes)
        self._modules = modules

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(self._modules)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self._modules:
            return None
        try:
            module = import_module(self._modules[cmd_name])
            name = cmd_name.replace("-", "_")
            command: click.Command = getattr(module, name, None) or getattr(module, f"{name}_")
        except ModuleNotFoundError as error:
            missing = missing_part(error)
            if missing is None:
                raise
            return _stand_in(cmd_name, missing)
        return command


def _stand_in(name: str, missing: MissingPartError) -> click.Command:
    """Keeps the list of commands complete where the part that brings this one is missing."""

    def refuse() -> None:
        raise missing

    return click.Command(
        name, callback=refuse, help=f"Not installed: {missing.remedy}",
        context_settings={"ignore_unknown_options": True, "allow_extra_args": True},
    )  # fmt: skip
