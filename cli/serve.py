"""`zermelo serve`: the services, one by one or all together."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from zermelo.cli.options import (
    database_options,
    end_told_in_log,
    log_options,
    open_database,
    option,
    read_database_option,
)
from zermelo.logs import LogStyle
from zermelo.server.coordinator.settings import DEFAULT_LISTEN, CoordinatorSettings

if TYPE_CHECKING:
    from zermelo.web.settings import WebSettings

Command = Callable[..., None]

#: The share of one core that the referee may take unless the operator says otherwise.
REFEREE_SHARE = 0.25
#: After the services, which take at most half of the three seconds within which all of them end.
DATABASE_STOP_SECONDS = 0.9


@click.group()
def serve() -> None:
    """Run the services that solve campaigns; any number of each, on one database."""


def _coordinator_options(command: Command) -> Command:
    """The options of a coordinator, handed on as its settings."""
    file = click.Path(path_type=Path, exists=True, dir_okay=False)

    @option("--listen", default=DEFAULT_LISTEN, metavar="HOST:PORT",
            help="Address of the coordinator; without TLS only on loopback.")
    @option("--lease-seconds", type=click.FloatRange(0.1, 86400), default=60.0,
            help="A lease ends this long after its last progress.")
    @option("--heartbeat-seconds", type=click.FloatRange(0.05, 3600), default=5.0,
            help="How often clients report progress.")
    @option("--open-access", is_flag=True,
            help="Serve callers without a token, all as one account; for your own machines.")
    @option("--certificate", type=file, default=None, help="The server's certificate, PEM.")
    @option("--key", type=file, default=None, help="The server's private key, PEM.")
    @option("--client-ca", type=file, default=None,
            help="Authority that signs operators' certificates; operators then need one.")
    @option("--operator-listen", default="", metavar="HOST:PORT",
            help="Address at which operators call with their certificates.")
    @option("--metrics-listen", default="", metavar="HOST:PORT",
            help="Address for Prometheus.  [default: nowhere]")
    @option("--balancer", "balancers", multiple=True, metavar="ADDRESS",
            help="A load balancer that is believed about callers' addresses; may be repeated.")
    @read_database_option
    @wraps(command)
    def with_settings(
        *arguments: Any, listen: str, lease_seconds: float, heartbeat_seconds: float,
        open_access: bool, certificate: Path | None, key: Path | None, client_ca: Path | None,
        operator_listen: str, metrics_listen: str, balancers: tuple[str, ...],
        read_database: str, **more: Any,
    ) -> None:  # fmt: skip
        settings = CoordinatorSettings(
            listen, lease_seconds, heartbeat_seconds, not open_access, certificate, key,
            client_ca, operator_listen, metrics_listen, balancers, read_database,
        )  # fmt: skip
        command(*arguments, settings=settings, **more)

    return with_settings


@serve.command()
@_coordinator_options
@log_options()
@database_options
def coordinator(
    data_dir: Path, database: str | None, settings: CoordinatorSettings, log_style: LogStyle
) -> None:
    """Hand out work to clients and take their results."""
    _serve("coordinator", data_dir, database, log_style, settings)


@serve.command()
@log_options()
@database_options
def generator(data_dir: Path, database: str | None, log_style: LogStyle) -> None:
    """Grow the tree and choose what to ask."""
    _serve("generator", data_dir, database, log_style)


_referee_option = option(
    "--referee-share", type=click.FloatRange(0, 1), default=REFEREE_SHARE,
    help="Share of one core that the referee may take, the server's own search that decides"
         " contradictions; 0 for none.",
)  # fmt: skip


@serve.command()
@_referee_option
@log_options()
@database_options
def validator(
    data_dir: Path, database: str | None, referee_share: float, log_style: LogStyle
) -> None:
    """Decide which results to believe."""
    _serve("validator", data_dir, database, log_style, referee_share=referee_share)


@serve.command()
@log_options()
@database_options
def assimilator(data_dir: Path, database: str | None, log_style: LogStyle) -> None:
    """Put results into the tree and back their bounds up."""
    _serve("assimilator", data_dir, database, log_style)


def _web_options(command: Command) -> Command:
    """The options of the pages beside the services, handed on as their settings."""

    @option("--web", "web_listen", default="", metavar="HOST:PORT",
            help="Also serve the pages here; encrypted with --certificate.  [default: nowhere]")
    @option("--web-proxy", "web_proxies", multiple=True, metavar="ADDRESS",
            help="A reverse proxy in front of the pages, which encrypts; may be repeated.")
    @option("--web-server", default="", metavar="HOST:PORT",
            show_default="--listen, where that is plain text",
            help="The coordinator as its certificate names it, for visitors who sign in.")
    @option("--web-ca-file", type=click.Path(path_type=Path, exists=True, dir_okay=False),
            default=None, help="Certificates to trust when calling --web-server, PEM.")
    @option("--web-secret-file", type=click.Path(path_type=Path, exists=True, dir_okay=False),
            default=None, help="A secret that seals cookies, so that they survive a restart.")
    @wraps(command)
    def with_web(
        *arguments: Any, settings: CoordinatorSettings, web_listen: str,
        web_proxies: tuple[str, ...], web_server: str, web_ca_file: Path | None,
        web_secret_file: Path | None, **more: Any,
    ) -> None:  # fmt: skip
        web = None
        if web_listen:
            from zermelo.cli.web import read_secret
            from zermelo.web.settings import WebSettings

            encrypts = not web_proxies
            web = WebSettings(
                web_listen, settings.certificate if encrypts else None,
                settings.key if encrypts else None, web_proxies,
                web_server or ("" if settings.certificate else settings.listen),
                web_ca_file, read_secret(web_secret_file), settings.read_database,
            )  # fmt: skip
            web.check()
        command(*arguments, settings=settings, web=web, **more)

    return with_web


@serve.command(name="all")
@_coordinator_options
@_web_options
@_referee_option
@log_options()
@database_options
def all_services(
    data_dir: Path, database: str | None, settings: CoordinatorSettings, referee_share: float,
    web: WebSettings | None, log_style: LogStyle,
) -> None:  # fmt: skip
    """Run one of each service, and restart those that die."""
    from zermelo.server.embedded import EmbeddedDatabase
    from zermelo.server.supervisor import leave

    log_style.start("all")
    with end_told_in_log(log_style):
        if database is not None:
            _serve_all(database, settings, referee_share, web, log_style)
            leave()
        with EmbeddedDatabase(data_dir, stop_seconds=DATABASE_STOP_SECONDS) as embedded:
            _serve_all(
                embedded.url, settings, referee_share, web, log_style, embedded.keep_alive
            )
    leave()


def _serve_all(
    url: str, settings: CoordinatorSettings, referee_share: float, web: WebSettings | None,
    log_style: LogStyle, also: Callable[[], None] = lambda: None,
) -> None:  # fmt: skip
    from zermelo.cli.services import SERVICES, service_process, web_process
    from zermelo.server.database import DatabaseAwayError, connect_once
    from zermelo.server.supervisor import Supervisor

    # A fault that cannot heal is told once, not by every service. What is away may come back.
    with suppress(DatabaseAwayError):
        connect_once(url).close()
    supervisor = Supervisor(log_style=log_style)
    for name in SERVICES:
        supervisor.start(name, service_process(name, url, settings, referee_share))
    if web is not None:
        supervisor.start("web", web_process(url, web))
    supervisor.run(also)


def _serve(
    name: str,
    data_dir: Path,
    database: str | None,
    log_style: LogStyle,
    settings: CoordinatorSettings | None = None,
    referee_share: float = 0.0,
) -> None:
    from zermelo.cli.services import service_process
    from zermelo.server.supervisor import leave

    log_style.start(name)
    with end_told_in_log(log_style), open_database(data_dir, database) as url:
        service_process(name, url, settings or CoordinatorSettings(), referee_share)()
    leave()
