"""Thousands of volunteers on one coordinator: is anything lost, how long do calls take?

Real PostgreSQL with fsync on, real gRPC over loopback, the services as processes of their
own. The volunteers are made up: each has its own connection, takes a workunit, lets some
seconds pass with heartbeats, and hands in what an oracle knows.

    python bench/load.py [--clients 2000] [--seconds 600] [--json]
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import resource
import secrets
import shutil
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import grpc
from pipeline import Feeder, oracle, percentile, plant

from zermelo.proto import coordinator_pb2 as pb
from zermelo.proto.service import PROTOCOL_VERSION, CoordinatorStub
from zermelo.server.check import check_database
from zermelo.server.coordinator.settings import CoordinatorSettings
from zermelo.server.database import connect_once, ensure_schema
from zermelo.server.embedded import EmbeddedPostgres, running
from zermelo.server.launcher import service_process
from zermelo.server.ports import free_port
from zermelo.server.supervisor import Supervisor

ADDRESS = f"127.0.0.1:{free_port()}"
#: How long a made-up search takes, in seconds.
SEARCH = (2.0, 8.0)
FRONTIER = 10_000


@dataclass
class Told:
    """What one process of volunteers saw; calls as (began, seconds)."""

    request: list[tuple[float, float]]
    submit: list[tuple[float, float]]
    beat: list[tuple[float, float]]
    acknowledged: list[int]
    #: Calls that failed and were made again, by status.
    failed: dict[str, int]


@dataclass
class Report:
    clients: int
    seconds: float
    results: int
    lost: int
    failed_calls: dict[str, int]
    violations: int
    request_p99_ms: float
    submit_p99_ms: float
    heartbeat_p99_ms: float
    coordinator_mb_early: float
    coordinator_mb_late: float


async def volunteer(stub: Any, told: Told, end: float) -> None:
    key = secrets.token_bytes(16)

    async def call(name: str, times: list[tuple[float, float]], request: Any) -> Any:
        began = time.perf_counter()
        try:
            reply = await getattr(stub, name)(request, timeout=60)
        except grpc.aio.AioRpcError as error:
            status = error.code().name
            told.failed[status] = told.failed.get(status, 0) + 1
            await asyncio.sleep(random.uniform(0.5, 2))
            return None
        times.append((began, time.perf_counter() - began))
        return reply

    await asyncio.sleep(random.uniform(0, 10))
    while await call("Hello", [], pb.HelloRequest(
        protocol_version=PROTOCOL_VERSION, host_key=key, workers=1, nodes_per_second=10**6
    )) is None:  # fmt: skip
        pass
    while time.monotonic() < end:
        reply = await call("RequestWork", told.request, pb.RequestWorkRequest(
            host_key=key, slots=1, nodes_per_second=10**6, wait_ms=2000
        ))  # fmt: skip
        for workunit in reply.workunits if reply else ():
            for step in (1, 2):
                await asyncio.sleep(random.uniform(*SEARCH) / 2)
                progress = pb.LeaseProgress(lease_id=workunit.lease_id, nodes=100 * step)
                await call("Heartbeat", told.beat, pb.HeartbeatRequest(
                    host_key=key, leases=[progress]
                ))  # fmt: skip
            submitted = pb.SubmitResultsRequest(host_key=key, results=[oracle(workunit)])
            receipt = await call("SubmitResults", told.submit, submitted)
            if receipt:
                told.acknowledged += [
                    item.lease_id for item in receipt.receipts
                    if item.status != pb.Receipt.REFUSED
                ]  # fmt: skip


async def volunteers(count: int, end: float) -> Told:
    told = Told([], [], [], [], {})
    channels = [
        grpc.aio.insecure_channel(ADDRESS, options=[("grpc.use_local_subchannel_pool", 1)])
        for _ in range(count)
    ]
    await asyncio.gather(*(volunteer(CoordinatorStub(c), told, end) for c in channels))
    for channel in channels:
        await channel.close()
    return told


def volunteers_process(count: int, seconds: float, out: Path) -> Callable[[], None]:
    def main() -> None:
        told = asyncio.run(volunteers(count, time.monotonic() + seconds))
        new = out.with_suffix(".new")
        new.write_text(json.dumps(asdict(told)))
        new.rename(out)
        time.sleep(3600)  # supervised: ending would mean being started again

    return main


def resident_mb(pid: int) -> float:
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1]) / 1024
    return 0.0


def measure(folder: Path, clients: int, seconds: float) -> Report:
    with running(EmbeddedPostgres(folder)) as url:
        ensure_schema(url)
        with connect_once(url) as connection:
            campaign = plant(connection, FRONTIER)
        services, crowd = Supervisor(folder / "services.log"), Supervisor(folder / "crowd.log")
        settings = CoordinatorSettings(listen=ADDRESS, require_token=False)
        try:
            for name in ("coordinator", "validator", "assimilator"):
                services.start(name, service_process(name, url, settings))
            out = folder / "told.json"
            coordinator = services.children[0].pid or 0
            with connect_once(url) as connection:
                feeder = Feeder(connection, campaign)
                crowd.start("volunteers", volunteers_process(clients, seconds, out))
                started, early = time.monotonic(), 0.0
                while not out.exists():
                    time.sleep(0.1)
                    feeder.feed()
                    services.check()
                    crowd.check()
                    if not early and time.monotonic() - started > min(60, seconds / 3):
                        early = resident_mb(coordinator)
                late = resident_mb(coordinator)
                told = Told(**json.loads(out.read_text()))
                stored = {row[0] for row in connection.execute("SELECT lease FROM results")}
                # The feeder asks in the place of a generator and counts nothing.
                violations = [v for v in check_database(connection) if v.check != "check_totals"]
        finally:
            crowd.stop()
            services.stop()
    return Report(
        clients=clients, seconds=seconds, results=len(told.acknowledged),
        lost=len(set(told.acknowledged) - stored), failed_calls=told.failed,
        violations=len(violations), request_p99_ms=percentile(told.request, 0.99),
        submit_p99_ms=percentile(told.submit, 0.99), heartbeat_p99_ms=percentile(told.beat, 0.99),
        coordinator_mb_early=early, coordinator_mb_late=late,
    )  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--clients", type=int, default=2000)
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))  # a connection for every volunteer
    folder = Path(tempfile.mkdtemp(prefix="zermelo-bench-"))
    folder.chmod(0o755)
    try:
        report = measure(folder.resolve(), options.clients, options.seconds)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    if options.json:
        print(json.dumps(asdict(report)))
        return
    for name, value in asdict(report).items():
        print(f"{name:24} {f'{value:,.1f}' if isinstance(value, float) else value}")


if __name__ == "__main__":
    main()
