"""``--token-file``: a secret token that stands in no command line.

Everybody on a machine reads the command lines of its processes. So a token comes from the
environment, from a file, from standard input or from a prompt.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click
from click.core import ParameterSource

from zermelo.cli.options import option

F = TypeVar("F", bound=Callable[..., Any])

STANDARD_INPUT = "-"
#: Far longer than any token.
LONGEST_TOKEN = 256
#: Who else may read a file by its mode.
_OTHERS = 0o077
_FROM_FILE = "zermelo.cli.token_options"


def token_options(command: F) -> F:
    """Pass the token as `token`; None where none is given."""
    return _token_options(command, "ZERMELO_")


def remote_token_options(command: F) -> F:
    """The same for who asks a coordinator from afar, with variables of their own."""
    return _token_options(command, "ZERMELO_REMOTE_")


def _token_options(command: F, variables: str) -> F:
    file = option(
        "--token-file", metavar="FILE", is_eager=True, expose_value=False, callback=_read,
        default=None, show_default="as configured", envvar=f"{variables}TOKEN_FILE",
        help="A file with your secret token; - asks for it, or reads it from standard input."
             f" {variables}TOKEN holds the token itself.",
    )  # fmt: skip
    former = option(
        "--token", default=None, hidden=True, callback=_choose, envvar=f"{variables}TOKEN"
    )
    return file(former(command))


def _read(context: click.Context, parameter: click.Parameter, file: str | None) -> None:
    if file is not None:
        context.meta[_FROM_FILE] = file, _on_command_line(context, parameter)


def _choose(context: click.Context, parameter: click.Parameter, token: str | None) -> str | None:
    """The token of the option, of the environment or of the file."""
    on_command_line = _on_command_line(context, parameter)
    file, file_on_command_line = context.meta.get(_FROM_FILE, ("", False))
    if token and on_command_line:
        click.secho(
            "warning: --token can be read by everybody on this machine, in the list of processes;"
            " use --token-file or the environment", fg="yellow", err=True,
        )  # fmt: skip
    if not file or (token and on_command_line > file_on_command_line):
        return token
    if token and on_command_line == file_on_command_line:
        raise click.UsageError("a token and a file with a token are given; give one of them")
    return _token_in(file)


def _on_command_line(context: click.Context, parameter: click.Parameter) -> bool:
    source = context.get_parameter_source(parameter.name or "")
    return source is ParameterSource.COMMANDLINE


def _token_in(file: str) -> str:
    if file == STANDARD_INPUT:
        if sys.stdin.isatty():
            return str(click.prompt("Token", hide_input=True, err=True)).strip()
        text, where = sys.stdin.read(LONGEST_TOKEN + 2), "standard input"
    else:
        text, where = _text_of(Path(file)), file
    token = text.strip()
    if not token or len(token) > LONGEST_TOKEN or not token.isascii() or token.split() != [token]:
        raise click.UsageError(
            f"{where} holds no token: one line of at most {LONGEST_TOKEN} characters is needed"
        )
    return token


def _text_of(path: Path) -> str:
    try:
        with path.expanduser().open(encoding="ascii", errors="replace") as stream:
            if path.expanduser().stat().st_mode & _OTHERS:
                click.secho(
                    f"warning: others on this machine may read {path}; chmod 600 keeps them from"
                    " it", fg="yellow", err=True,
                )  # fmt: skip
            return stream.read(LONGEST_TOKEN + 2)
    except OSError as error:
        raise click.UsageError(f"cannot read --token-file {path}: {error.strerror}") from None
