"""What an operator decides about a coordinator."""

from __future__ import annotations

from dataclasses import dataclass

DEFAULT_LISTEN = "127.0.0.1:1913"


@dataclass(frozen=True, slots=True)
class CoordinatorSettings:
    listen: str = DEFAULT_LISTEN
    #: A lease ends so long after its last progress.
    lease_seconds: float = 60.0
    heartbeat_seconds: float = 5.0
