"""Serving the pages until somebody says stop."""

from __future__ import annotations

import asyncio
import logging
import socket
import threading
from collections.abc import Callable

import uvicorn

from zermelo.server.certificate_files import LOOK_SECONDS, CertificateFiles
from zermelo.web.app import WebApplication
from zermelo.web.listener import bound, give_way
from zermelo.web.settings import WebError, WebSettings

log = logging.getLogger(__name__)

#: How long a request may go on after the stop.
GRACE_SECONDS = 3
STOP_SECONDS = 0.2


def serve(
    url: str, stop: threading.Event, settings: WebSettings,
    listening: Callable[[], None] = lambda: None,
) -> None:  # fmt: skip
    """Serve the pages of the database at `url`; `WebError` if that is not possible.

    `listening` is called as soon as browsers can connect.
    """
    settings.check()
    with bound(settings) as listener:
        log.info("the pages are at %s", settings.url)
        listening()
        serve_at(listener, url, stop, settings)


def serve_at(
    listener: socket.socket, url: str, stop: threading.Event, settings: WebSettings
) -> None:
    """Serve the pages to whoever connects there."""
    files = None
    if settings.certificate is not None and settings.key is not None:
        files = CertificateFiles(settings.certificate, settings.key)
    config = uvicorn.Config(
        WebApplication(url, settings), log_config=None, access_log=False,
        server_header=False, date_header=True, timeout_graceful_shutdown=GRACE_SECONDS,
        ssl_certfile=settings.certificate, ssl_keyfile=settings.key,
        proxy_headers=bool(settings.trusted_proxies),
        forwarded_allow_ips=list(settings.trusted_proxies), lifespan="on",
    )  # fmt: skip
    asyncio.run(_run(config, listener, stop, files))


def serve_gently(
    url: str, stop: threading.Event, settings: WebSettings,
    listening: Callable[[], None] = lambda: None,
) -> None:  # fmt: skip
    """As `serve`, in a process of its own that gives way to the services."""
    give_way()
    serve(url, stop, settings, listening)


async def _run(
    config: uvicorn.Config, listener: socket.socket, stop: threading.Event,
    files: CertificateFiles | None,
) -> None:  # fmt: skip
    server = _Server(config)
    watching = [asyncio.create_task(_stop_with(server, stop))]
    if files is not None:
        watching.append(asyncio.create_task(_renew(config, files)))
    try:
        await server.serve(sockets=[listener])
    finally:
        for task in watching:
            task.cancel()
    if not server.started:
        raise WebError("the pages could not be started; the log says why")


class _Server(uvicorn.Server):
    def install_signal_handlers(self) -> None:
        """Signals belong to whoever sets the stop event."""


async def _stop_with(server: uvicorn.Server, stop: threading.Event) -> None:
    while not stop.is_set():
        await asyncio.sleep(STOP_SECONDS)
    application = server.config.app
    if isinstance(application, WebApplication):
        await application.close_streams()
    server.should_exit = True


async def _renew(config: uvicorn.Config, files: CertificateFiles) -> None:
    """Show new visitors a new certificate."""
    shown = files.contents()
    while True:
        await asyncio.sleep(LOOK_SECONDS)
        contents = files.contents()
        if contents is not shown and config.ssl is not None:
            config.ssl.load_cert_chain(files.certificate, files.key)
            shown = contents
