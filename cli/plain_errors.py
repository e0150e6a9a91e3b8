"""A command that cannot go on says so in one line, also where click would say more."""

from __future__ import annotations

import sys
from typing import Any

import click

from zermelo import ZermeloError

#: The exit code of a command that Ctrl-C ended, as shells report it.
INTERRUPTED = 130


class CommandError(ZermeloError, ValueError):
    """A command was given something it cannot work with; the message says what and why."""

    exit_code = 2


def agree(question: str) -> None:
    """Ask for a yes; `CommandError` without one, also where nobody can be asked."""
    try:
        agreed = click.confirm(question, err=True)
    except click.Abort:  # Ctrl-C, or the input ended
        click.echo(err=True)
        agreed = False
    if not agreed:
        raise CommandError("nothing was done; with --yes there is no question")


class PlainGroup(click.Group):
    """A group whose commands tell a wrong option in one line, and end quietly on Ctrl-C."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            sys.exit(INTERRUPTED)
        except click.exceptions.NoArgsIsHelpError:
            raise
        except click.UsageError as error:
            raise CommandError(" ".join(error.format_message().split())) from None
