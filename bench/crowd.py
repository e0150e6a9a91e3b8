"""Made-up volunteers: each has an account and a connection, and answers what an oracle knows.

Each takes a workunit, lets some seconds pass with heartbeats, and hands its answer in.
"""

from __future__ import annotations

import asyncio
import json
import random
import secrets
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import uvloop
from google.protobuf import message_factory
from pipeline import oracle
from plain_grpc import CallError, PlainChannel, path_of

from zermelo.proto import coordinator_pb2 as pb
from zermelo.proto import service
from zermelo.proto.service import PROTOCOL_VERSION

#: How long a made-up search takes, in seconds.
SEARCH = (2.0, 8.0)
#: Within which the volunteers arrive, in seconds.
ARRIVAL = 10.0
FIRST_PAUSE = 1.0

_REPLIES = {
    method.name: message_factory.GetMessageClass(method.output_type)
    for method in service.COORDINATOR.methods
}
_PATHS = {name: path_of(service.COORDINATOR, name) for name in _REPLIES}


@dataclass
class Told:
    """What the volunteers saw; calls as (began, seconds)."""

    connected: int = 0
    request: list[tuple[float, float]] = field(default_factory=list)
    submit: list[tuple[float, float]] = field(default_factory=list)
    beat: list[tuple[float, float]] = field(default_factory=list)
    acknowledged: list[int] = field(default_factory=list)
    #: Calls that had to be made again, by method, status and the coordinator's reason.
    failed: dict[str, int] = field(default_factory=dict)
    #: How late the volunteers' own event loop was, in seconds, now and then.
    delays: list[float] = field(default_factory=list)


class Volunteer:
    def __init__(self, address: str, token: str, told: Told) -> None:
        metadata = ((service.AUTHORIZATION, service.BEARER + token),)
        self._channel = PlainChannel(address, metadata)
        self._key = secrets.token_bytes(16)
        self._told = told

    async def live(self, end: float) -> None:
        await asyncio.sleep(random.uniform(0, ARRIVAL))
        await self._insist("Hello", [], pb.HelloRequest(
            protocol_version=PROTOCOL_VERSION, host_key=self._key, workers=1,
            speed=10**6,
        ))  # fmt: skip
        self._told.connected += 1
        while time.monotonic() < end:
            reply = await self._insist("RequestWork", self._told.request, pb.RequestWorkRequest(
                host_key=self._key, wanted=1, speed=10**6, wait_ms=2000
            ))  # fmt: skip
            for workunit in reply.workunits:
                await self._work(workunit)
            if not reply.workunits:
                await asyncio.sleep(reply.no_work.retry_after_ms / 1000)
        self._channel.close()

    async def _work(self, workunit: pb.Workunit) -> None:
        for step in (1, 2):
            await asyncio.sleep(random.uniform(*SEARCH) / 2)
            progress = pb.LeaseProgress(lease_id=workunit.lease_id, nodes=100 * step)
            await self._insist("Heartbeat", self._told.beat, pb.HeartbeatRequest(
                host_key=self._key, leases=[progress]
            ))  # fmt: skip
        receipts = await self._insist("SubmitResults", self._told.submit, pb.SubmitResultsRequest(
            host_key=self._key, results=[oracle(workunit)]
        ))  # fmt: skip
        self._told.acknowledged += [
            item.lease_id for item in receipts.receipts if item.status != pb.Receipt.REFUSED
        ]

    async def _insist(self, name: str, times: list[tuple[float, float]], request: Any) -> Any:
        """Call until there is a reply, as clients do."""
        data = request.SerializeToString()
        while True:
            began = time.perf_counter()
            try:
                reply = await self._channel.call(_PATHS[name], data)
            except CallError as error:
                trailing = error.status.trailing
                why = trailing.get(service.REASON, error.status.message)
                self._failed(f"{name} status {error.status.code} {why}")
                directed = int(trailing.get(service.RETRY_AFTER, 1000 * FIRST_PAUSE)) / 1000
                await asyncio.sleep(directed * random.uniform(1, 1.5))
            except OSError as error:
                self._failed(f"{name} {error}")
                await asyncio.sleep(FIRST_PAUSE * random.uniform(1, 1.5))
            else:
                times.append((began, time.perf_counter() - began))
                return _REPLIES[name].FromString(reply)

    def _failed(self, how: str) -> None:
        self._told.failed[how] = self._told.failed.get(how, 0) + 1


async def volunteers(address: str, tokens: list[str], end: float) -> Told:
    told = Told()
    watching = asyncio.create_task(_watch_delays(told.delays))
    await asyncio.gather(*(Volunteer(address, token, told).live(end) for token in tokens))
    watching.cancel()
    return told


async def _watch_delays(delays: list[float], every: float = 0.05) -> None:
    while True:
        due = time.perf_counter() + every
        await asyncio.sleep(every)
        delays.append(time.perf_counter() - due)


def volunteers_process(
    address: str, tokens: list[str], seconds: float, out: Path
) -> Callable[[], None]:
    def main() -> None:
        told = uvloop.run(volunteers(address, tokens, time.monotonic() + seconds))
        write_report(asdict(told), out)

    return main


def write_report(told: Any, out: Path) -> None:
    """Write what a supervised process saw, as one step, and wait for the end."""
    new = out.with_suffix(".new")
    new.write_text(json.dumps(told))
    new.rename(out)
    time.sleep(3600)  # ending would mean being started again
