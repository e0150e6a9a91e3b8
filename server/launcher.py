"""The services by name, as they run in processes of their own."""

from __future__ import annotations

import threading
from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING

from zermelo.server.coordinator.settings import CoordinatorSettings
from zermelo.server.supervisor import run_until_signalled

if TYPE_CHECKING:
    from zermelo.server.coordinator.research import ReplyTo

Run = Callable[[str, threading.Event], None]

#: In the order in which work flows through them.
SERVICES = ("generator", "coordinator", "validator", "assimilator")


def service(
    name: str,
    settings: CoordinatorSettings,
    reply_to_researcher: ReplyTo | None = None,
    referee_share: float = 0.0,
) -> Run:
    """What runs this service; loads its module, so that a fork need not."""
    if name == "validator":
        from zermelo.server.validator import run as run_validator

        return lambda url, stop: run_validator(url, stop, referee_share)
    if name == "coordinator":
        from zermelo.server.coordinator.main import run as run_coordinator

        return lambda url, stop: run_coordinator(url, stop, settings, reply_to_researcher)
    run: Run = import_module(f"zermelo.server.{name}").run
    return run


def service_process(
    name: str,
    url: str,
    settings: CoordinatorSettings,
    reply_to_researcher: ReplyTo | None = None,
    referee_share: float = 0.0,
) -> Callable[[], None]:
    """The main function of a process that runs this service until it is told to stop.

    A validator has a referee beside it that takes at most `referee_share` of a core.
    """
    run = service(name, settings, reply_to_researcher, referee_share)
    return lambda: run_until_signalled(lambda stop: run(url, stop))
