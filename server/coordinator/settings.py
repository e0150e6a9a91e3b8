"""What an operator decides about a coordinator."""

from __future__ import annotations

import socket
from dataclasses import dataclass
from pathlib import Path

DEFAULT_LISTEN = "127.0.0.1:1913"


@dataclass(frozen=True, slots=True)
class CoordinatorSettings:
    listen: str = DEFAULT_LISTEN
    #: How long after its last progress a lease ends.
    lease_seconds: float = 60.0
    heartbeat_seconds: float = 5.0
    #: Whether callers need an account; without, all of them share one.
    require_token: bool = True
    #: The chain and the key of the server, both PEM; without them only loopback is served.
    certificate: Path | None = None
    key: Path | None = None
    #: Who signs the certificates of operators, and where they call with them.
    client_ca: Path | None = None
    operator_listen: str = ""
    #: Where Prometheus reads; empty for nowhere.
    metrics_listen: str = ""
    #: Addresses of load balancers, which tell the address of a caller in `x-forwarded-for`.
    balancers: tuple[str, ...] = ()
    #: A replica that researchers read; empty for the database itself.
    read_database: str = ""
    #: A socket that listens there already, opened by a parent for us and our successors: whoever
    #: calls before one of us is there waits, instead of being refused.
    listening: socket.socket | None = None
