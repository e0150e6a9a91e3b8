"""The services as commands run them: the place where the server meets `zermelo.research`."""

from __future__ import annotations

from collections.abc import Callable

from zermelo.server import launcher
from zermelo.server.coordinator.settings import CoordinatorSettings

SERVICES = launcher.SERVICES


def service_process(
    name: str, url: str, settings: CoordinatorSettings, referee_share: float = 0.0
) -> Callable[[], None]:
    """The main function of this service's process; the coordinator answers researchers, too."""
    if name != "coordinator":
        return launcher.service_process(name, url, settings, referee_share=referee_share)
    from zermelo.research.serving import reply_to

    return launcher.service_process(name, url, settings, reply_to)
