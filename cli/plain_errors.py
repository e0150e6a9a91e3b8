"""A user's mistake in one line, also where click would print its usage text."""

from __future__ import annotations

from typing import Any

import click

from zermelo import ZermeloError


class CommandError(ZermeloError, ValueError):
    """A command was given something it cannot work with; the message says what and why."""

    exit_code = 2


class PlainGroup(click.Group):
    """A group whose commands tell a wrong option or argument in one line."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except click.exceptions.NoArgsIsHelpError:
            raise
        except click.UsageError as error:
            raise CommandError(" ".join(error.format_message().split())) from None
