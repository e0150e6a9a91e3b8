"""Options that commands of the client share."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from zermelo.cli.options import option
from zermelo.cli.token_options import token_options
from zermelo.client.configuration import address
from zermelo.server.embedded import default_data_dir

F = TypeVar("F", bound=Callable[..., Any])

_DURATION = re.compile(r"(\d+(?:\.\d+)?)\s*(s|m|min|h|d)?")
_SECONDS = {None: 1, "s": 1, "m": 60, "min": 60, "h": 3600, "d": 86400}


class WholeNumber(click.IntRange):
    """As click's own, whose name would stand in the sentence about what is none."""

    name = "whole number"


def _address(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    try:
        return address(value) if value is not None else None
    except ValueError as error:
        raise click.BadParameter(str(error)) from None


def _seconds(ctx: click.Context, param: click.Parameter, value: str | None) -> float | None:
    if value is None:
        return None
    matched = _DURATION.fullmatch(value.strip())
    if not matched or not float(matched[1]):
        raise click.BadParameter(f"{value!r} is not a duration such as 90s, 30m or 8h")
    return float(matched[1]) * _SECONDS[matched[2]]


def duration_option(*names: str, **attributes: Any) -> Callable[[F], F]:
    """An option that is a number of seconds, written as ``90``, ``90s``, ``30m`` or ``8h``."""
    return option(*names, callback=_seconds, metavar="DURATION", default=None, **attributes)


def data_dir_option(command: F) -> F:
    return option(
        "--data-dir", type=click.Path(path_type=Path), default=default_data_dir,
        help="Where the client keeps its configuration, identity and work.",
    )(command)  # fmt: skip


def server_options(command: F) -> F:
    """How to reach the coordinator; each stands above what the configuration says."""
    for decorate in (
        option("--tls", type=click.Choice(["auto", "on", "off"]), default=None,
               show_default="as configured", help="Encrypt the connection; auto: unless loopback."),
        option("--ca-file", type=click.Path(path_type=Path), default=None,
               show_default="as configured", help="Certificates to trust."),
        token_options,
        option("--server", callback=_address, default=None, metavar="HOST:PORT",
               show_default="as configured", help="The coordinator to work for."),
    ):  # fmt: skip
        command = decorate(command)
    return command
