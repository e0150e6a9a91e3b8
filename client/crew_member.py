"""One worker process, seen from the daemon."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import subprocess
import sys
from contextlib import suppress

from zermelo.client.frames import frame
from zermelo.client.ledger import HeldLease
from zermelo.client.priority import set_priority
from zermelo.engine import SharedTable
from zermelo.proto.worker_pb2 import ToWorker
from zermelo.retry import Backoff

#: Before a worker that died is started again, in seconds.
FIRST_PAUSE = 0.1


class CrewMember:
    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._writer: asyncio.StreamWriter | None = None
        self.table: SharedTable | None = None
        self.held: HeldLease | None = None
        self.preparing = False
        self.suspended = False
        #: Told to end, so that its end is no accident.
        self.retired = False
        #: Counts its deaths in a row, none of which a finished search came before.
        self.backoff = Backoff(FIRST_PAUSE)

    @property
    def pid(self) -> int:
        return self._process.pid if self._process else 0

    def give_way(self, priority: str) -> None:
        """Take this priority from now on. Who has no process is given one by `start`."""
        if self._process is not None and self._process.returncode is None:
            set_priority(self._process.pid, priority)

    @property
    def ready(self) -> bool:
        """Whether it could begin a search at once."""
        return (
            self._writer is not None
            and self.held is None
            and not self.preparing
            and not self.retired
        )

    async def start(
        self, table: SharedTable, arguments: list[str], priority: str
    ) -> asyncio.StreamReader:
        ours, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(  # noqa: S603
                [sys.executable, "-m", "zermelo.client.worker",
                 str(theirs.fileno()), str(table.descriptor), *arguments],
                pass_fds=[theirs.fileno(), table.descriptor],
                stdin=subprocess.DEVNULL,
                process_group=0,
            )  # fmt: skip
        self.table, self.retired = table, False
        set_priority(self._process.pid, priority)
        reader, self._writer = await asyncio.open_connection(sock=ours)
        return reader

    def send(self, order: ToWorker) -> None:
        if self._writer is not None:
            for part in frame(order):
                self._writer.write(part)

    def suspend(self, suspended: bool) -> None:
        """Take the whole process off the processor, or let it go on."""
        if suspended != self.suspended and self._process is not None:
            self.suspended = suspended
            with suppress(ProcessLookupError):
                os.kill(self._process.pid, signal.SIGSTOP if suspended else signal.SIGCONT)

    def retire(self) -> None:
        """End it in peace; whoever keeps the crew starts another."""
        self.retired = True
        self.suspend(False)
        if self._writer is not None and self._writer.can_write_eof():
            self._writer.write_eof()

    def kill(self) -> str:
        """Make sure that the process is gone and tell how it ended."""
        self.preparing = self.suspended = False
        if self._writer is not None:
            self._writer.close()
            self._writer = None
        if self._process is None:
            return "was never started"
        self._process.kill()
        code = self._process.wait()
        return f"ended by signal {-code}" if code < 0 else f"ended with code {code}"
