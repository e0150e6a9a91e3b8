"""Thousands of volunteers on one coordinator: is anything lost, how long do calls take?

Real PostgreSQL with fsync on, real gRPC over loopback, the services as processes of their
own. The volunteers are made up: each has its own account and connection, takes a workunit,
lets some seconds pass with heartbeats, and hands in what an oracle knows. All of them are
strangers at first, so that answers are compared as in a public project.

    python bench/load.py [--clients 2000] [--seconds 600] [--replication adaptive] [--json]
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import resource
import secrets
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import grpc
import uvloop
from pipeline import Feeder, oracle, percentile, plant

from zermelo.proto import coordinator_pb2 as pb
from zermelo.proto import service
from zermelo.proto.service import PROTOCOL_VERSION, CoordinatorStub
from zermelo.server.check import check_database
from zermelo.server.coordinator.settings import CoordinatorSettings
from zermelo.server.database import Connection, connect_once, ensure_schema
from zermelo.server.embedded import EmbeddedPostgres, running
from zermelo.server.launcher import service_process
from zermelo.server.ports import free_port
from zermelo.server.supervisor import Supervisor
from zermelo.server.trust.accounts import Role, open_account

ADDRESS = f"127.0.0.1:{free_port()}"
#: How long a made-up search takes, in seconds.
SEARCH = (2.0, 8.0)
FRONTIER = 10_000
SERVICES = ("coordinator", "validator", "assimilator")
#: How often memory is looked at, of the whole run.
LOOKS = 20


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


@dataclass
class Memory:
    """Resident megabytes of the services `seconds` after the beginning."""

    seconds: float
    megabytes: dict[str, float]


@dataclass
class Report:
    clients: int
    connected: int
    seconds: float
    results: int
    lost: int
    failed_calls: dict[str, int]
    violations: int
    restarts: int
    request_p50_ms: float
    request_p99_ms: float
    submit_p99_ms: float
    heartbeat_p99_ms: float
    #: How many processes wanted a processor, at the end.
    load_average: float
    memory: list[Memory]


class Volunteer:
    def __init__(self, channel: Any, token: str, told: Told) -> None:
        self._stub = CoordinatorStub(channel)
        self._metadata = ((service.AUTHORIZATION, service.BEARER + token),)
        self._key = secrets.token_bytes(16)
        self._told = told

    async def live(self, end: float) -> None:
        await asyncio.sleep(random.uniform(0, 10))
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
        while True:
            began = time.perf_counter()
            try:
                reply = await getattr(self._stub, name)(
                    request, timeout=60, metadata=self._metadata
                )
            except grpc.aio.AioRpcError as error:
                trailing = dict(error.trailing_metadata() or ())
                why = trailing.get(service.REASON, error.details())
                status = f"{name} {error.code().name} {why}"
                self._told.failed[status] = self._told.failed.get(status, 0) + 1
                directed = int(trailing.get(service.RETRY_AFTER, 1000)) / 1000
                await asyncio.sleep(directed * random.uniform(1, 1.5))
            else:
                times.append((began, time.perf_counter() - began))
                return reply


async def volunteers(tokens: list[str], end: float) -> Told:
    told = Told()
    channels = [
        grpc.aio.insecure_channel(ADDRESS, options=[("grpc.use_local_subchannel_pool", 1)])
        for _ in tokens
    ]
    await asyncio.gather(*(
        Volunteer(channel, token, told).live(end)
        for channel, token in zip(channels, tokens, strict=True)
    ))
    for channel in channels:
        await channel.close()
    return told


def volunteers_process(tokens: list[str], seconds: float, out: Path) -> Callable[[], None]:
    def main() -> None:
        told = uvloop.run(volunteers(tokens, time.monotonic() + seconds))
        new = out.with_suffix(".new")
        new.write_text(json.dumps(asdict(told)))
        new.rename(out)
        time.sleep(3600)  # supervised: ending would mean being started again

    return main


def open_accounts(connection: Connection, count: int) -> list[str]:
    """Tokens of new accounts; not through Register, which lets one address have few of them."""
    with connection.transaction():
        return [
            open_account(connection, f"volunteer {number}", Role.VOLUNTEER, actor="bench")
            for number in range(count)
        ]


def resident_mb(pid: int) -> float:
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1]) / 1024
    return 0.0


class Scales:
    """Weighs the services now and then, and says so."""

    def __init__(self, services: Supervisor, seconds: float) -> None:
        self._services = services
        self._every = seconds / LOOKS
        self._began = time.monotonic()
        self.memory: list[Memory] = []

    def look(self) -> None:
        elapsed = time.monotonic() - self._began
        if elapsed < self._every * (len(self.memory) + 1):
            return
        weights = {child.name: resident_mb(child.pid) for child in self._services.children
                   if child.pid}  # fmt: skip
        self.memory.append(Memory(elapsed, weights))
        told = ", ".join(f"{name} {megabytes:.0f} MB" for name, megabytes in weights.items())
        print(f"{elapsed:5.0f} s: {told}", file=sys.stderr, flush=True)


def measure(folder: Path, clients: int, seconds: float, replication: str) -> Report:
    with running(EmbeddedPostgres(folder)) as url:
        ensure_schema(url)
        with connect_once(url) as connection:
            campaign = plant(connection, FRONTIER, replication)
            tokens = open_accounts(connection, clients)
        services, crowd = Supervisor(folder / "services.log"), Supervisor(folder / "crowd.log")
        settings = CoordinatorSettings(listen=ADDRESS)
        try:
            for name in SERVICES:
                services.start(name, service_process(name, url, settings))
            out = folder / "told.json"
            with connect_once(url) as connection:
                feeder = Feeder(connection, campaign)
                crowd.start("volunteers", volunteers_process(tokens, seconds, out))
                scales = Scales(services, seconds)
                while not out.exists():
                    time.sleep(0.1)
                    feeder.feed()
                    services.check()
                    crowd.check()
                    scales.look()
                told = Told(**json.loads(out.read_text()))
                stored = {row[0] for row in connection.execute("SELECT lease FROM results")}
                # The feeder asks in the place of a generator and counts nothing.
                violations = [v for v in check_database(connection) if v.check != "check_totals"]
                restarts = services.restarts + crowd.restarts
        finally:
            crowd.stop()
            services.stop()
    return Report(
        clients=clients, connected=told.connected, seconds=seconds,
        results=len(told.acknowledged), lost=len(set(told.acknowledged) - stored),
        failed_calls=told.failed, violations=len(violations), restarts=restarts,
        request_p50_ms=percentile(told.request, 0.5),
        request_p99_ms=percentile(told.request, 0.99),
        submit_p99_ms=percentile(told.submit, 0.99), heartbeat_p99_ms=percentile(told.beat, 0.99),
        load_average=os.getloadavg()[0], memory=scales.memory,
    )  # fmt: skip


def show(report: Report) -> None:
    for name, value in asdict(report).items():
        if name not in ("memory", "failed_calls"):
            print(f"{name:24} {f'{value:,.1f}' if isinstance(value, float) else value}")
    for status, count in sorted(report.failed_calls.items()):
        print(f"failed and made again    {status}: {count}")
    for name in SERVICES:
        told = " ".join(f"{look.megabytes.get(name, 0):.0f}" for look in report.memory)
        print(f"{name + ', MB':24} {told}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--clients", type=int, default=2000)
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--replication", choices=("none", "adaptive"), default="adaptive")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))  # a connection for every volunteer
    folder = Path(tempfile.mkdtemp(prefix="zermelo-bench-"))
    folder.chmod(0o755)
    try:
        report = measure(folder.resolve(), options.clients, options.seconds, options.replication)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    if options.json:
        print(json.dumps(asdict(report)))
    else:
        show(report)


if __name__ == "__main__":
    main()
