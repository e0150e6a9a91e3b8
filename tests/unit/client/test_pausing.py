"""Work that nobody begins: it comes in a pause, or waits in store until its lease would end."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import Any

import pytest

from tests.support.client_forker import FileSensors
from zermelo.client.control import ask
from zermelo.client.daemon import Daemon
from zermelo.client.folder import ClientFolder
from zermelo.client.ledger import HeldLease
from zermelo.client.preferences import Limits, Preferences
from zermelo.client.settings import ClientSettings, ServerAddress
from zermelo.proto import coordinator_pb2 as pb

LIMITS = Limits(cores=1, memory_mb=1, priority="low")
LEASE = 7


class Coordinator:
    """Gives one workunit, to a request that was made before the pause, when a test says so."""

    def __init__(self) -> None:
        self.asked = asyncio.Event()
        self.gives = asyncio.Event()
        self.returned: asyncio.Queue[int] = asyncio.Queue()

    async def request_work(self, *_: object, **__: object) -> pb.RequestWorkReply:
        self.asked.set()
        await self.gives.wait()
        return pb.RequestWorkReply(workunits=[pb.Workunit(lease_id=LEASE, game="reversi:4x4")])

    async def return_work(self, leases: list[pb.ReturnedLease]) -> None:
        for lease in leases:
            self.returned.put_nowait(lease.lease_id)


def test_work_that_comes_in_a_pause_goes_back_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = ClientFolder(tmp_path)
    settings = ClientSettings(
        address=ServerAddress("127.0.0.1:1"), data_dir=tmp_path,
        preferences=Preferences(LIMITS, LIMITS, idle_minutes=1.0), durable=False,
    )  # fmt: skip

    async def take_work_while_paused() -> int:
        daemon, coordinator = Daemon(settings, folder, host_key, FileSensors("")), Coordinator()
        for call in ("request_work", "return_work"):
            monkeypatch.setattr(daemon.connection, call, getattr(coordinator, call))

        async def tell(command: str) -> Any:
            return await asyncio.to_thread(ask, folder.control, command)

        await daemon.control.start()
        # It does not look at the computer now and then: only what it is told counts.
        tasks = [asyncio.create_task(part()) for part in (daemon.intake.run, daemon.outbox.send)]
        await tell("resume")
        await coordinator.asked.wait()
        await tell("pause")
        coordinator.gives.set()
        returned = await asyncio.wait_for(coordinator.returned.get(), 60)
        assert not len(daemon.ledger)
        for task in tasks:
            task.cancel()
        await daemon.control.close()
        await daemon.connection.close()
        daemon.spool.close()
        return returned

    host_key = folder.open(1.0)
    try:
        assert asyncio.run(take_work_while_paused()) == LEASE
    finally:
        folder.close()


def test_what_waits_until_its_lease_would_end_goes_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So that others have it, and nobody loses quota; not while the server cannot be told."""
    folder = ClientFolder(tmp_path)
    settings = ClientSettings(
        address=ServerAddress("127.0.0.1:1"), data_dir=tmp_path,
        preferences=Preferences(LIMITS, LIMITS, idle_minutes=1.0), durable=False,
    )  # fmt: skip

    def waiting(lease: int, seconds: float, **more: Any) -> HeldLease:
        workunit = pb.Workunit(lease_id=lease, game="reversi:4x4", lease_ms=60_000)
        return HeldLease(workunit, time.monotonic() + seconds, **more)

    async def look() -> list[list[int]]:
        daemon, coordinator = Daemon(settings, folder, host_key, FileSensors("")), Coordinator()
        monkeypatch.setattr(daemon.connection, "return_work", coordinator.return_work)
        for held in (waiting(1, 3600.0), waiting(2, 1.0), waiting(3, 0.0, resume=True)):
            daemon.ledger.take(held)
        daemon.connection.trouble = "nothing listens"
        daemon._govern()
        before = daemon.ledger.leases
        daemon.connection.trouble = ""
        daemon._govern()
        sending = asyncio.create_task(daemon.outbox.send())
        returned = await asyncio.wait_for(coordinator.returned.get(), 60)
        sending.cancel()
        await daemon.connection.close()
        daemon.spool.close()
        return [before, [returned], daemon.ledger.leases]

    host_key = folder.open(1.0)
    try:
        assert asyncio.run(look()) == [[1, 2, 3], [2], [1, 3]]
    finally:
        folder.close()
