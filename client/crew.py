"""The worker processes of a client: starting, feeding, and replacing them.

They search with one table, so that what one has proved helps all.
"""

from __future__ import annotations

import asyncio
import logging
import os
import socket
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress

from zermelo.client.frames import frame, read_frame
from zermelo.client.settings import ClientError, ClientSettings
from zermelo.engine import SharedTable
from zermelo.proto import coordinator_pb2 as pb
from zermelo.proto.worker_pb2 import FromWorker, ToWorker

log = logging.getLogger(__name__)

#: A worker that dies so often without having finished anything is not worth restarting.
MOST_DEATHS = 5


class CrewMember:
    """One worker process and what it is doing."""

    def __init__(self, settings: ClientSettings, table: SharedTable) -> None:
        self._settings, self._table = settings, table
        self._process: subprocess.Popen[bytes] | None = None
        self._writer: asyncio.StreamWriter | None = None
        self.lease = 0
        self.preparing = False
        self.deaths = 0

    @property
    def free(self) -> bool:
        return self._writer is not None and not self.lease and not self.preparing

    async def start(self) -> asyncio.StreamReader:
        ours, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(  # noqa: S603
                [sys.executable, "-m", "zermelo.client.worker",
                 str(theirs.fileno()), str(self._table.descriptor), str(self._settings.hash_mb)],
                pass_fds=[theirs.fileno(), self._table.descriptor],
                stdin=subprocess.DEVNULL,
                process_group=0,
            )  # fmt: skip
        with suppress(PermissionError, ProcessLookupError):
            os.setpriority(os.PRIO_PROCESS, self._process.pid, self._settings.nice)
        reader, self._writer = await asyncio.open_connection(sock=ours)
        return reader

    def send(self, order: ToWorker) -> None:
        if self._writer is not None:
            self._writer.write(frame(order))

    def prepare(self, game: str) -> None:
        if self._writer is not None:
            self.preparing = True
            self.send(ToWorker(prepare=ToWorker.Prepare(game=game)))

    def kill(self) -> str:
        """Make sure that the process is gone and tell how it ended."""
        if self._writer is not None:
            self._writer.close()
            self._writer = None
        if self._process is None:
            return "was never started"
        self._process.kill()
        code = self._process.wait()
        return f"ended by signal {-code}" if code < 0 else f"ended with code {code}"


class Crew:
    """All workers. `on_report` hears everything they say, also that one died."""

    def __init__(self, settings: ClientSettings, on_report: Callable[[FromWorker], None]) -> None:
        self._table = SharedTable.create(settings.hash_mb * settings.workers)
        self._members = [CrewMember(settings, self._table) for _ in range(settings.workers)]
        self._on_report = on_report
        self._game: str | None = None

    async def run(self) -> None:
        """Keep every worker alive until cancelled."""
        try:
            async with asyncio.TaskGroup() as group:
                for member in self._members:
                    group.create_task(self._keep(member))
        except* ClientError as errors:
            raise errors.exceptions[0] from None
        finally:
            for member in self._members:
                member.kill()
            self._table.close()

    def prepare(self, game: str) -> None:
        """Have every worker, also a later replacement, open and measure this engine first."""
        self._game = game
        for member in self._members:
            member.prepare(game)

    @property
    def preparing(self) -> bool:
        return any(member.preparing for member in self._members)

    @property
    def free(self) -> int:
        return sum(member.free for member in self._members)

    @property
    def leases(self) -> list[int]:
        return [member.lease for member in self._members if member.lease]

    def give(self, workunit: pb.Workunit) -> None:
        """Hand a workunit to a free worker."""
        member = next(member for member in self._members if member.free)
        member.lease = workunit.lease_id
        member.send(ToWorker(solve=workunit))

    def drop(self, lease: int) -> None:
        for member in self._members:
            if member.lease == lease:
                member.send(ToWorker(drop=ToWorker.Drop(lease_id=lease)))

    async def _keep(self, member: CrewMember) -> None:
        while True:
            reader = await member.start()
            if self._game:
                member.prepare(self._game)
            while report := await read_frame(reader, FromWorker):
                self._hear(member, report)
            how = member.kill()
            member.deaths += 1
            member.preparing = False
            if member.deaths >= MOST_DEATHS:
                raise ClientError(f"a worker died {member.deaths} times in a row: it {how}")
            log.warning("a worker %s; starting another", how)
            failed = FromWorker.Failed(lease_id=member.lease, message=f"the worker {how}")
            member.lease = 0
            self._on_report(FromWorker(failed=failed))

    def _hear(self, member: CrewMember, report: FromWorker) -> None:
        kind = report.WhichOneof("report")
        if kind == "prepared":
            member.preparing = False
        elif kind != "progress":
            member.lease = 0
            member.deaths = 0
        self._on_report(report)
