"""Where browsers connect, before anything that serves them is loaded."""

from __future__ import annotations

import logging
import os
import socket
import threading
from contextlib import suppress

from zermelo.server.ports import LOOPBACK, PortTakenError
from zermelo.server.stop_event import wait_to_read
from zermelo.web.settings import WebSettings

log = logging.getLogger(__name__)

#: The services come first where the processor is scarce.
NICENESS = 5
#: Whoever waits so long looks up once.
LONGEST_WAIT = 3600.0
BACKLOG = 2048


def serve_when_visited(url: str, stop: threading.Event, settings: WebSettings) -> None:
    """As `serve_gently`, and load what serves the pages when the first browser connects.

    Loading takes a second of a processor, which a solve without visitors can use.
    """
    give_way()
    with bound(settings) as listener:
        log.info("the pages are at %s", settings.url)
        while not stop.is_set():
            if wait_to_read(listener, stop, LONGEST_WAIT):
                from zermelo.web.server import serve_at

                serve_at(listener, url, stop, settings)
                return


def give_way() -> None:
    """Let the services have the processor first."""
    with suppress(OSError):
        os.nice(NICENESS)


def bound(settings: WebSettings) -> socket.socket:
    """A socket at which browsers can connect; `PortTakenError` if there is none."""
    host, port = settings.address
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # Only with the protocol named does asyncio turn Nagle's algorithm off: a reply is written in
    # two parts, and the second would wait for the first's delayed acknowledgement, about 40 ms.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host or LOOPBACK, port))
    except OSError as error:
        listener.close()
        raise PortTakenError(
            f"cannot listen on {settings.listen}: {error.strerror or error}; choose another port"
        ) from None
    listener.listen(BACKLOG)
    return listener
