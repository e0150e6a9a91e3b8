"""Where to listen: a free port, and what only this machine reaches."""

from __future__ import annotations

import secrets
import socket
from ipaddress import ip_address

from zermelo import ZermeloError

LOOPBACK = "127.0.0.1"

#: Below the range from which systems give ports to outgoing connections, so that between
#: choosing and listening nobody gets one by chance.
FIRST, LAST = 15_000, 32_000


class PortTakenError(ZermeloError):
    """Nothing can listen where it was told to. Starting again helps once the port is free."""

    exit_code = 5


def free_port() -> int:
    """A port of the loopback interface that nobody uses at the moment."""
    while True:
        port = FIRST + secrets.randbelow(LAST - FIRST)
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((LOOPBACK, port))
            except OSError:
                continue
            return port


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches the host of this name or address."""
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
