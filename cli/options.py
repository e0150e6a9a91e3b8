"""Options that several commands share, each with its twin in the environment."""

from __future__ import annotations

import logging
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click
from click.core import ParameterSource

from zermelo import ZermeloError
from zermelo.logs import FORMATS, JSON, LEVELS, PLAIN, TEXT, LogStyle
from zermelo.parts import is_installed
from zermelo.server.embedded import default_data_dir, embedded_database

if TYPE_CHECKING:
    from zermelo.server.database import Connection

F = TypeVar("F", bound=Callable[..., Any])

#: A password in a URL or in a connection string: user:password@, password=, sslpassword=.
_PASSWORD = re.compile(r"^\w+://[^/?#@]*:[^/?#@]+@|password\s*=\s*[^\s&]", re.IGNORECASE)


def option(*names: str, **attributes: Any) -> Callable[[F], F]:
    """A click option with an environment twin: ``--hash-mb`` is also ``ZERMELO_HASH_MB``."""
    longest = max((name for name in names if name.startswith("-")), key=len).partition("/")[0]
    attributes.setdefault("show_default", True)
    attributes.setdefault("envvar", _twin(longest))
    return click.option(*names, show_envvar=True, **attributes)


def renamed_option(name: str, former: str, **attributes: Any) -> Callable[[F], F]:
    """An option that had another name before, which still works and no help mentions."""
    return click.option(
        name, former, name.lstrip("-").replace("-", "_"), cls=_Renamed,
        envvar=[_twin(name), _twin(former)],
        **{"show_default": True, "show_envvar": True} | attributes,
    )  # fmt: skip


class _Renamed(click.Option):
    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        names, twins = self.opts, self.envvar
        self.opts = names[:1]
        if isinstance(twins, list):
            self.envvar = twins[0]
        try:
            return super().get_help_record(ctx)
        finally:
            self.opts, self.envvar = names, twins


def _twin(name: str) -> str:
    return "ZERMELO_" + name.lstrip("-").upper().replace("-", "_")


def node_budget_option(**attributes: Any) -> Callable[[F], F]:
    """``--node-budget``: the most nodes that a search may visit."""
    return renamed_option("--node-budget", "--node-limit", **attributes)


def json_option(command: F) -> F:
    return option("--json", "as_json", is_flag=True, help="Print one JSON object, for programs.")(
        command
    )


def log_options(level: str = PLAIN.level) -> Callable[[F], F]:
    """``--log-format`` and ``--log-level``: how a service tells what happens."""

    def decorate(command: F) -> F:
        @option("--log-format", type=click.Choice(FORMATS), default=TEXT,
                help="Lines of the log: for people, or JSON objects for programs.")
        @option("--log-level", type=click.Choice(LEVELS), default=level,
                help="The least severe messages to log.")
        @wraps(command)
        def with_style(*arguments: Any, log_format: str, log_level: str, **more: Any) -> Any:
            return command(*arguments, log_style=LogStyle(log_format, log_level), **more)

        return with_style  # type: ignore[return-value]

    return decorate


@contextmanager
def end_told_in_log(log_style: LogStyle) -> Iterator[None]:
    """Whoever reads the log by program reads there, too, why a service ended."""
    try:
        yield
    except ZermeloError as error:
        if log_style.format != JSON:
            raise
        logging.getLogger(__name__).critical("%s", error)
        sys.exit(error.exit_code)


def target_seconds_option(command: F) -> F:
    return option(
        "--target-seconds", type=click.FloatRange(0.01, 86400), default=None,
        show_default="2, and where one long search does better, its time",
        help="How long a workunit should take; what takes longer is split.",
    )(command)  # fmt: skip


def database_options(command: F) -> F:
    """``--data-dir`` and ``--database``: where the campaigns are."""
    data_dir = option(
        "--data-dir", type=click.Path(path_type=Path), default=default_data_dir,
        help="Directory of the embedded PostgreSQL.",
    )  # fmt: skip
    database = option(
        "--database", default=None, metavar="URL", callback=_without_password,
        help="Use this PostgreSQL (15 or newer) instead of the embedded one.",
    )  # fmt: skip
    return data_dir(database(command))


def read_database_option(command: F) -> F:
    """``--read-database``: a streaming replica, for whoever only reads."""
    return option(
        "--read-database", default="", metavar="URL", callback=_without_password,
        show_default="--database", help="A replica from which pages and researchers read.",
    )(command)  # fmt: skip


def _without_password(
    context: click.Context, parameter: click.Parameter, url: str | None
) -> str | None:
    """Everybody on the machine reads command lines: no password there."""
    if url is None or parameter.name is None:
        return url
    if context.get_parameter_source(parameter.name) is not ParameterSource.COMMANDLINE:
        return url
    if _PASSWORD.search(url):
        raise click.UsageError(
            "a password on the command line can be read by everybody on this machine; put it into"
            " ~/.pgpass (PGPASSFILE) or a service file, or give the URL as ZERMELO_DATABASE",
            context,
        )
    return url


@contextmanager
def open_database(data_dir: Path, database: str | None, *, create: bool = False) -> Iterator[str]:
    """The URL of the database these options name; an embedded one runs meanwhile."""
    if database is not None:
        yield database
        return
    with embedded_database(data_dir, create=create) as url:
        yield url


@contextmanager
def open_storage(data_dir: Path, database: str | None) -> Iterator[Connection | None]:
    """A connection for what is only worth keeping; None where no server part is installed."""
    if database is None and not is_installed("server"):
        yield None
        return
    with open_connection(data_dir, database, create=True) as connection:
        yield connection


@contextmanager
def open_connection(
    data_dir: Path, database: str | None, *, create: bool = False
) -> Iterator[Connection]:
    """A connection to the database these options name, whose schema is the current one."""
    from zermelo.server.database import (
        check_schema,
        clear_errors,
        clear_rights,
        connect_once,
        init_schema,
    )

    with (
        open_database(data_dir, database, create=create) as url,
        clear_errors(),
        clear_rights(),
        connect_once(url) as connection,
    ):
        if create:
            init_schema(connection)
        check_schema(connection)
        yield connection
