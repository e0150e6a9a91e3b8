"""`zermelo web`: the pages of a database, running or finished."""

from __future__ import annotations

import logging
from pathlib import Path

import click

from zermelo.cli.options import (
    database_options,
    end_told_in_log,
    log_options,
    option,
    read_database_option,
)
from zermelo.logs import JSON, LogStyle
from zermelo.server.embedded import EmbeddedDatabase
from zermelo.web.server import serve_gently
from zermelo.web.settings import DEFAULT_LISTEN, WebError, WebSettings

log = logging.getLogger(__name__)


@click.command()
@click.option("--listen", default=DEFAULT_LISTEN, metavar="HOST:PORT", envvar="ZERMELO_WEB",
              show_default=True, show_envvar=True, help="Address at which browsers find the pages.")
@option("--server", default="", metavar="HOST:PORT",
        help="The coordinator by which visitors sign in.  [default: nobody can]")
@option("--ca-file", type=click.Path(path_type=Path, exists=True, dir_okay=False), default=None,
        help="Certificates to trust when calling --server, PEM.")
@option("--certificate", type=click.Path(path_type=Path, exists=True, dir_okay=False),
        default=None, help="The site's certificate, PEM; without one it speaks plain HTTP.")
@option("--key", type=click.Path(path_type=Path, exists=True, dir_okay=False), default=None,
        help="The key of --certificate, PEM.")
@option("--trusted-proxy", "trusted_proxies", multiple=True, metavar="ADDRESS",
        help="A reverse proxy that encrypts and tells visitors' addresses; may be repeated.")
@option("--secret-file", type=click.Path(path_type=Path, exists=True, dir_okay=False),
        default=None, help="A secret that seals visitors' cookies, so that they survive a restart.")
@read_database_option
@log_options("warning")
@database_options
def web(
    listen: str, server: str, ca_file: Path | None, certificate: Path | None, key: Path | None,
    trusted_proxies: tuple[str, ...], secret_file: Path | None, read_database: str,
    log_style: LogStyle, data_dir: Path, database: str | None,
) -> None:  # fmt: skip
    """Serve the pages: campaigns, positions, proofs, people. Ctrl-C stops it."""
    from zermelo.server.database import DatabaseAwayError, check_schema, connect_once
    from zermelo.server.supervisor import run_until_signalled

    settings = WebSettings(
        listen, certificate, key, trusted_proxies, server, ca_file, read_secret(secret_file),
        read_database,
    )  # fmt: skip
    settings.check()
    log_style.start("web")

    def tell() -> None:
        # The log says it, too; its readers want nothing else.
        if log_style.format != JSON:
            click.echo(f"the pages are at {settings.url} (Ctrl-C stops)")

    def run(url: str) -> None:
        try:
            with connect_once(url) as connection:
                check_schema(connection)
        except DatabaseAwayError as error:
            # It may come back, and the pages say so meanwhile.
            log.warning("%s", error)
        run_until_signalled(lambda stop: serve_gently(url, stop, settings, tell))

    with end_told_in_log(log_style):
        if database is not None:
            run(database)
            return
        with EmbeddedDatabase(data_dir) as embedded:
            run(embedded.url)


def read_secret(file: Path | None) -> str:
    """The secret in a file; empty for a random one."""
    if file is None:
        return ""
    secret = file.read_text("utf-8").strip()
    if len(secret) < 32:
        raise WebError(
            f"{str(file)!r} has {len(secret)} characters; a secret has at least 32, for example"
            " from `openssl rand -hex 32`"
        )
    return secret
