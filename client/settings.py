"""What a run of the client is told: by its owner, by its command line, by a solve."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from zermelo import ZermeloError

if TYPE_CHECKING:
    from zermelo.client.preferences import Preferences


class ClientError(ZermeloError):
    """The client cannot go on; the message says why and what to do."""

    exit_code = 6


@dataclass(frozen=True, slots=True)
class ServerAddress:
    """Where the coordinator is and how to prove to each other who we are."""

    #: As HOST:PORT.
    server: str
    token: str = ""
    #: Certificates to trust instead of the system's.
    ca_file: Path | None = None
    #: "auto": encrypted unless the server is this computer and no ca_file is given.
    tls: str = "auto"

    @property
    def host(self) -> str:
        return self.server.rpartition(":")[0].strip("[]")

    @property
    def port(self) -> int:
        return int(self.server.rpartition(":")[2])

    @property
    def encrypted(self) -> bool:
        if self.tls != "auto":
            return self.tls == "on"
        return self.ca_file is not None or self.host not in LOOPBACK


LEAVE_SECONDS = 4.0

TLS = ("auto", "on", "off")
LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})


@dataclass(frozen=True, slots=True)
class ClientSettings:
    address: ServerAddress
    data_dir: Path
    preferences: Preferences
    #: How the owner wants to be called; empty for anonymous.
    user_name: str = ""
    #: How the owner calls this host.
    host_name: str = ""
    #: Stop after this number of results; None to go on for ever.
    max_workunits: int | None = None
    #: Stop after so long; None to go on for ever.
    run_seconds: float | None = None
    #: Seconds of work to keep ahead for each worker; 0 for what the server wants.
    store_seconds: float = 0.0
    #: Within which a stop ends the client; searches get most of it to finish.
    quit_seconds: float = 10.0
    #: What a stop gives the server to answer, once the searches are over, within `quit_seconds`
    #: unless this is longer.
    leave_seconds: float = LEAVE_SECONDS
    #: Seconds between two checkpoints of a search.
    checkpoint_seconds: float = 60.0
    #: The measurement at the first start.
    benchmark_seconds: float = 1.0
    #: Reads the preferences again when the owner changed their file; None where nobody does.
    read_preferences: Callable[[], Preferences] | None = None
    #: The game there will be work for, where that is known before the server says so.
    game: str = ""
    #: Threads that search one workunit together, in one worker.
    threads: int = 1
    #: Whether results must survive a power cut, and not only the end of the client.
    durable: bool = True

    @property
    def one_worker(self) -> bool:
        """Whether there is one worker, and will never be another."""
        return self.preferences.workers == 1 and self.read_preferences is None


def usable_cores() -> int:
    """The cores this process may use, which can be fewer than the computer has."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
