"""The services as commands run them: the place where the server meets `zermelo.research`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from zermelo.server import launcher
from zermelo.server.coordinator.settings import CoordinatorSettings
from zermelo.server.supervisor import run_until_signalled

if TYPE_CHECKING:
    from zermelo.web.settings import WebSettings

SERVICES = launcher.SERVICES


def service_process(
    name: str, url: str, settings: CoordinatorSettings, referee_share: float = 0.0
) -> Callable[[], None]:
    """The main function of this service's process; the coordinator answers researchers, too."""
    if name != "coordinator":
        return launcher.service_process(name, url, settings, referee_share=referee_share)
    from zermelo.research.serving import reply_to

    return launcher.service_process(name, url, settings, reply_to)


def web_process(url: str, settings: WebSettings) -> Callable[[], None]:
    """The main function of a process that serves the pages of a database."""
    from zermelo.web.server import serve_gently

    return lambda: run_until_signalled(lambda stop: serve_gently(url, stop, settings))


def web_process_when_visited(url: str, settings: WebSettings) -> Callable[[], None]:
    """As `web_process`, and nothing is loaded for the pages before somebody looks at them."""
    from zermelo.web.listener import serve_when_visited

    return lambda: run_until_signalled(lambda stop: serve_when_visited(url, stop, settings))
