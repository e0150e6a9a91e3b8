"""Two doors to what people ask for: a database at hand, or a coordinator that has one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click
from click.core import ParameterSource

from zermelo.cli.options import database_options, open_connection, option
from zermelo.cli.plain_errors import CommandError
from zermelo.cli.token_options import remote_token_options

if TYPE_CHECKING:
    from zermelo.research.queries import Campaigns

F = TypeVar("F", bound=Callable[..., Any])
#: Gives the reply to a request.
Ask = Callable[[Any], Any]


def _remote_option(name: str, **attributes: Any) -> Callable[[F], F]:
    """An option about a coordinator to ask. Its twin begins with ``ZERMELO_REMOTE_``, so that
    what operators and researchers export is none of a client's business on the same computer.
    """
    twin = "ZERMELO_REMOTE_" + name.lstrip("-").upper().replace("-", "_")
    return option(name, envvar=twin, **attributes)


def door_options(command: F) -> F:
    """Which door to take: ``--database`` and ``--data-dir``, or ``--server`` and its kin."""
    file = click.Path(path_type=Path, exists=True, dir_okay=False)
    for decorate in (
        _remote_option("--key", type=file, default=None, help="The key of --certificate, PEM."),
        _remote_option("--certificate", type=file, default=None,
               help="Your own certificate, PEM, where the coordinator wants one of operators."),
        _remote_option("--ca-file", type=file, default=None, help="Certificates to trust, PEM."),
        remote_token_options,
        _remote_option("--server", default=None, metavar="HOST:PORT",
               help="Ask this coordinator instead of a database."),
        database_options,
    ):  # fmt: skip
        command = decorate(command)
    return command


@contextmanager
def open_door(
    *, data_dir: Path, database: str | None, server: str | None, token: str | None,
    ca_file: Path | None, certificate: Path | None, key: Path | None, actor: str,
) -> Iterator[Ask]:  # fmt: skip
    """A way to ask. `actor` does it where a database is at hand, else the token's owner."""
    server, database = _one_door(server, database)
    if server is None:
        from zermelo.server.trust.operations import perform

        with open_connection(data_dir, database) as connection:
            yield lambda request: perform(connection, request, actor=actor)
        return
    from zermelo.client.caller import identify
    from zermelo.proto.remote import Remote
    from zermelo.proto.service import OPERATIONS

    address, identity = identify(server, token or "", ca_file, certificate, key)
    with Remote(address, OPERATIONS, identity) as remote:
        yield remote.ask


def open_campaigns(
    *, data_dir: Path, database: str | None, server: str | None, token: str | None,
    ca_file: Path | None, certificate: Path | None, key: Path | None,
) -> Campaigns:  # fmt: skip
    """The campaigns to ask about."""
    server, database = _one_door(server, database)
    if server is None:
        from zermelo.research.api import Database

        return Database(database, data_dir)
    from zermelo.client.caller import identify
    from zermelo.research.remote import RemoteCampaigns

    return RemoteCampaigns(*identify(server, token or "", ca_file, certificate, key))


def _one_door(server: str | None, database: str | None) -> tuple[str | None, str | None]:
    """The coordinator or the database to ask. What was typed stands above the environment."""
    source = click.get_current_context().get_parameter_source
    typed = {
        name for name in ("server", "database", "data_dir")
        if source(name) is ParameterSource.COMMANDLINE
    }
    if typed == {"server"}:
        return server, None
    if typed and "server" not in typed:
        return None, database
    if server is not None and typed:
        raise CommandError("--server and --database exclude each other; give one of them")
    if server is not None and database is not None:
        raise CommandError(
            "ZERMELO_REMOTE_SERVER and ZERMELO_DATABASE are both set; give --server or --database"
        )
    return server, database
