"""What can go wrong around the services: each event is made to happen, not hoped for."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import psycopg

from zermelo.server.database import Connection, DatabaseError, connect_once
from zermelo.server.launcher import SERVICES

#: How long anything may take to come back; generous, because nothing here is about speed.
PATIENCE = 600.0
#: As far as the kernel shows the names of processes.
_NAME_LENGTH = 15

#: Jumps of the database's clock, in seconds.
AHEAD, BACK = 3600, -60


class Proxy:
    """Forwards connections; can cut them all, or let nothing through for a while."""

    def __init__(self, target: int) -> None:
        self._target = target
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._open: list[socket.socket] = []
        self._cut_until = self._frozen_until = 0.0
        threading.Thread(target=self._accept, daemon=True).start()

    def cut(self, seconds: float) -> None:
        self._cut_until = time.monotonic() + seconds
        for end in self._open:
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
        self._open.clear()

    def freeze(self, seconds: float) -> None:
        self._frozen_until = time.monotonic() + seconds

    def close(self) -> None:
        self._listener.close()
        self.cut(0)

    def _accept(self) -> None:
        while True:
            try:
                near, _ = self._listener.accept()
            except OSError:
                return
            try:
                if time.monotonic() < self._cut_until:
                    raise OSError
                far = socket.create_connection(("127.0.0.1", self._target), timeout=5)
            except OSError:
                near.close()
                continue
            far.settimeout(None)
            self._open += [near, far]
            for one, other in ((near, far), (far, near)):
                threading.Thread(target=self._pump, args=(one, other), daemon=True).start()

    def _pump(self, one: socket.socket, other: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := one.recv(65536):
                while (left := self._frozen_until - time.monotonic()) > 0:
                    time.sleep(left)
                other.sendall(data)
        for end in (one, other):
            with contextlib.suppress(OSError):
                end.close()


def persist(url: str, work: Callable[[Connection], Any]) -> Any:
    """Do something with the database, however often it goes away meanwhile."""
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            with connect_once(url) as connection:
                return work(connection)
        except (psycopg.OperationalError, DatabaseError):
            assert time.monotonic() < deadline, "the database does not come back"
            time.sleep(0.3)


class Chaos:
    """Events in random order; none a second time before every other has happened."""

    def __init__(self, process: int, proxy: Proxy, url: str, seed: int) -> None:
        self._process, self._url = process, url
        self._chance = random.Random(seed)
        self._kinds: dict[str, Callable[[], None]] = {
            f"kill the {name}": lambda name=name: self._kill(f"zermelo {name}")
            for name in SERVICES
        } | {
            "kill PostgreSQL": lambda: self._kill("postgres"),
            "cut the network": lambda: proxy.cut(1.0),
            "freeze the network": lambda: proxy.freeze(2.0),
            "stall the disk": lambda: self._hold_up(pulses=1, stopped=1.0, running=0.0),
            "slow the disk": lambda: self._hold_up(pulses=40, stopped=0.05, running=0.01),
            "clock jumps ahead": lambda: self._jump(AHEAD),
            "clock jumps back": lambda: self._jump(BACK),
        }
        self._next: list[str] = []
        self.events: list[str] = []

    @property
    def complete(self) -> bool:
        """Whether everything that can happen has happened."""
        return set(self.events) == set(self._kinds)

    def strike(self) -> None:
        if not self._next:
            self._next = self._chance.sample(list(self._kinds), len(self._kinds))
        kind = self._next.pop()
        self._kinds[kind]()
        self.events.append(kind)

    def pause(self) -> None:
        time.sleep(self._chance.uniform(0.3, 2.0))

    def _kill(self, name: str) -> None:
        pid = self._wait_for(name)
        os.kill(pid, signal.SIGKILL)

    def _wait_for(self, name: str) -> int:
        """The child of this name; it may just be on its way back from the last blow."""
        deadline = time.monotonic() + PATIENCE
        while True:
            for pid, its_name in children(self._process):
                if its_name == name[:_NAME_LENGTH]:
                    return pid
            assert time.monotonic() < deadline, f"{name} does not come back"
            time.sleep(0.05)

    def _hold_up(self, pulses: int, stopped: float, running: float) -> None:
        """Every process of PostgreSQL waits, as it would for a disk."""
        master = self._wait_for("postgres")
        for _ in range(pulses):
            below = [master, *(pid for pid, _ in children(master))]
            try:
                _signal_all(below, signal.SIGSTOP)
                time.sleep(stopped)
            finally:
                _signal_all(below, signal.SIGCONT)
            time.sleep(running)

    def _jump(self, seconds: int) -> None:
        """The services read no clock but the database's and steady ones, and the database
        compares it only with times that it stored: to shift all of those is to jump."""

        def shift(connection: Connection) -> None:
            with connection.transaction():
                connection.execute(
                    "UPDATE leases SET leased_at = leased_at - %(by)s,"
                    " deadline = deadline - %(by)s, progress_at = progress_at - %(by)s",
                    {"by": timedelta(seconds=seconds)},
                )
                connection.execute(
                    "UPDATE hosts SET seen_at = seen_at - %(by)s, error_at = error_at - %(by)s",
                    {"by": timedelta(seconds=seconds)},
                )

        persist(self._url, shift)


def children(pid: int) -> Iterator[tuple[int, str]]:
    """The processes below one, with their names."""
    with contextlib.suppress(OSError):
        for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
            with contextlib.suppress(OSError):
                yield int(child), Path(f"/proc/{child}/comm").read_text().strip()


def _signal_all(pids: list[int], number: int) -> None:
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)
