"""How many workunits a second live their whole life, and how long RequestWork takes.

Real PostgreSQL on disk with fsync on, real gRPC over loopback, real coordinator,
validator and assimilator, each a process of its own. Only the clients are made up: they
answer at once, from an oracle that gives every frontier position a fixed value; and the
questions, which are asked in the place of a generator as fast as results make room.

    python bench/pipeline.py [--seconds 60] [--clients 200] [--json]
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
import os
import secrets
import shutil
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, LiteralString

import grpc
import uvloop

from zermelo.engine import open_engine
from zermelo.proto import coordinator_pb2 as pb
from zermelo.proto.service import PROTOCOL_VERSION, CoordinatorStub
from zermelo.server.campaigns import Campaign, create_campaign
from zermelo.server.coordinator.settings import CoordinatorSettings
from zermelo.server.database import Connection, connect_once, ensure_schema
from zermelo.server.embedded import EmbeddedPostgres, running
from zermelo.server.launcher import service_process
from zermelo.server.ports import LOOPBACK, free_port
from zermelo.server.supervisor import Supervisor
from zermelo.server.tree.tree import Tree
from zermelo.sql import query

SPEC = "reversi:8x8"
WARM_UP_SECONDS = 2.0
#: How many clients hammer the coordinator to find its highest rate, and their batch.
HAMMERS = 8
HAMMER_WANTED = 128
#: Workunits open at the same time, those on their way into the tree among them, so that some are
#: ready also when that takes seconds; and how often new ones are asked.
OPEN_WORKUNITS = 16384
FEED_SECONDS = 0.05
#: Fewer new ones are not worth a statement.
FEED_LEAST = 256
BYTES_PER_WORKUNIT = """
    SELECT sum(pg_total_relation_size(name::regclass)) / (SELECT count(*) FROM workunits)
    FROM unnest(ARRAY['workunits', 'leases', 'results', 'evidence']) AS name
"""


@dataclass
class Report:
    throughput_per_second: float
    throughput_seconds: float
    request_p50_ms: float
    request_p99_ms: float
    submit_p99_ms: float
    clients: int
    load_per_second: float
    #: Microseconds of CPU time per workunit.
    cpu_per_workunit: dict[str, float]
    #: What a workunit with its lease, result and evidence takes in the database.
    bytes_per_workunit: float


# -- the tree and the questions ---------------------------------------------------------------


def plant(connection: Connection, frontier: int, replication: str = "none") -> Campaign:
    """A campaign whose tree has at least `frontier` frontier nodes."""
    campaign = create_campaign(connection, SPEC, replication=replication)
    tree, engine = Tree(connection, campaign.id, campaign.game), open_engine(campaign.game)
    level = tree.load([campaign.root])
    while len(level) < frontier:
        with connection.transaction():
            tree.lock()
            level = list(tree.expand(level, engine).values())
    return campaign


class Feeder:
    """Keeps a number of workunits open, as a generator does: results make room for new ones."""

    def __init__(self, connection: Connection, campaign: Campaign) -> None:
        self._connection = connection
        self._asked = 0
        connection.execute(query("commit_lazily"))  # as generators do
        connection.execute(
            """
            CREATE UNLOGGED TABLE bench_questions AS
            SELECT row_number() OVER (ORDER BY threshold, random()) AS number, id AS node,
                   threshold, %(campaign)s::smallint AS campaign
            FROM nodes, generate_series(1 - %(top)s::int, %(top)s::int) AS threshold
            WHERE children IS NULL
            """,
            {"campaign": campaign.id, "top": campaign.max_score},
        )
        connection.execute("CREATE INDEX ON bench_questions (number)")
        connection.execute("ANALYZE")
        self.feed()

    def feed(self) -> int:
        """Ask as much as there is room for; how many workunits have been assimilated."""
        done = number(self._connection, "SELECT sum(answered) FROM totals")
        more = OPEN_WORKUNITS - (self._asked - done)
        if more >= FEED_LEAST:
            with self._connection.transaction():
                self._connection.execute(
                    """
                    INSERT INTO workunits (campaign, node, threshold, node_budget, priority,
                                           expected, guess, plies_left, ply)
                    SELECT campaign, node, threshold, 1000000, 0, 1000, 0, 50, 8
                    FROM bench_questions WHERE number > %s AND number <= %s
                    """,
                    (self._asked, self._asked + more),
                )
                self._connection.execute("SELECT pg_notify('zermelo_ready', '')")
            self._asked += more
        return done


def oracle(workunit: pb.Workunit) -> pb.Result:
    """The answer that the position's fixed value gives."""
    digest = hashlib.blake2b(workunit.position, digest_size=2).digest()
    value = int.from_bytes(digest, "big") % 129 - 64
    result = pb.Result(lease_id=workunit.lease_id, nodes=1000, milliseconds=1)
    if value >= workunit.threshold:
        result.answer, result.lo, result.hi = pb.YES, workunit.threshold, 64
    else:
        result.answer, result.lo, result.hi = pb.NO, -64, workunit.threshold - 1
    return result


# -- clients --------------------------------------------------------------------------------


@dataclass
class Times:
    """How long calls took, in seconds, each with the moment it began."""

    request: list[tuple[float, float]]
    submit: list[tuple[float, float]]
    #: Results that the coordinator knew no lease of, or that came too late.
    refused: int = 0
    #: Processor time of all clients, in seconds.
    cpu: float = 0.0


class OracleClient:
    def __init__(self, channel: Any, wanted: int, times: Times) -> None:
        self._stub = CoordinatorStub(channel)
        self._key = secrets.token_bytes(16)
        self._wanted = wanted
        self._times = times

    async def hello(self) -> None:
        await self._stub.Hello(
            pb.HelloRequest(
                protocol_version=PROTOCOL_VERSION, host_key=self._key, workers=self._wanted,
                speed=1_000_000,
            ),
            wait_for_ready=True,
        )  # fmt: skip

    async def round(self) -> None:
        """Take work, answer it, hand it in."""
        started = time.perf_counter()
        reply = await self._stub.RequestWork(
            pb.RequestWorkRequest(
                host_key=self._key, wanted=self._wanted, speed=1_000_000, wait_ms=2000
            )
        )
        self._times.request.append((started, time.perf_counter() - started))
        if not reply.workunits:
            return
        results = [oracle(workunit) for workunit in reply.workunits]
        started = time.perf_counter()
        handed_in = await self._stub.SubmitResults(
            pb.SubmitResultsRequest(host_key=self._key, results=results)
        )
        self._times.submit.append((started, time.perf_counter() - started))
        self._times.refused += sum(
            receipt.status != pb.Receipt.ACCEPTED for receipt in handed_in.receipts
        )


async def run_clients(
    address: str, count: int, wanted: int, per_second: float | None, end: float
) -> Times:
    """Let clients work until `end`, together at this rate or as fast as they can."""
    times = Times([], [])
    channels = [
        grpc.aio.insecure_channel(address, options=[("grpc.use_local_subchannel_pool", 1)])
        for _ in range(count)
    ]
    clients = [OracleClient(channel, wanted, times) for channel in channels]
    await asyncio.gather(*(client.hello() for client in clients))
    pause = 0.0 if per_second is None else wanted * count / per_second

    async def work(client: OracleClient, number: int) -> None:
        # Spread over the period, as independent computers would be.
        due = time.monotonic() + pause * number / count
        while (now := time.monotonic()) < end:
            if due > now:
                await asyncio.sleep(due - now)
            await client.round()
            due = max(due + pause, time.monotonic() - pause)

    await asyncio.gather(*(work(client, number) for number, client in enumerate(clients)))
    for channel in channels:
        await channel.close()
    return times


def client_process(
    address: str, count: int, wanted: int, per_second: float | None, seconds: float, out: Path
) -> Callable[[], None]:
    def main() -> None:
        end = time.monotonic() + seconds
        times = uvloop.run(run_clients(address, count, wanted, per_second, end))
        times.cpu = time.process_time()
        new = out.with_suffix(".new")
        new.write_text(json.dumps(asdict(times)))
        new.rename(out)
        time.sleep(3600)  # supervised: ending would mean being started again

    return main


# -- measuring ------------------------------------------------------------------------------


def number(connection: Connection, query: LiteralString) -> int:
    row = connection.execute(query).fetchone()
    return int(row[0]) if row else 0


def phase(
    folder: Path, services: Supervisor, feeder: Feeder, name: str, address: str, *,
    count: int, wanted: int, per_second: float | None, seconds: float,
) -> tuple[float, float, Times]:  # fmt: skip
    """Run clients; the rate at which results reached the tree, over how long, and times."""
    out = folder / f"{name}.json"
    clients = Supervisor(folder / "clients.log")
    clients.start(
        name, client_process(address, count, wanted, per_second, seconds + WARM_UP_SECONDS, out)
    )
    try:
        _feed_for(feeder, services, clients, WARM_UP_SECONDS)
        before, started = feeder.feed(), time.monotonic()
        _feed_for(feeder, services, clients, seconds)
        elapsed = time.monotonic() - started
        rate = (feeder.feed() - before) / elapsed
        while not out.exists():
            _feed_for(feeder, services, clients, FEED_SECONDS)
        return rate, elapsed, Times(**json.loads(out.read_text()))
    finally:
        clients.stop()


def _feed_for(
    feeder: Feeder, services: Supervisor, clients: Supervisor, seconds: float
) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        time.sleep(FEED_SECONDS)
        feeder.feed()
        for supervisor in (services, clients):
            supervisor.check()
            if supervisor.restarts:
                raise SystemExit("a process ended: what was measured is worth nothing")


def percentile(calls: list[tuple[float, float]], share: float) -> float:
    """In milliseconds, of the calls after the clients have warmed up."""
    begin = min((started for started, _ in calls), default=0.0) + WARM_UP_SECONDS
    ordered = sorted(seconds for started, seconds in calls if started >= begin)
    return 1000 * ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else 0.0


def cpu_seconds(supervisor: Supervisor, postgres: int = 0) -> dict[str, float]:
    """CPU time of the services and of all of PostgreSQL, if its process is named, so far."""
    used: dict[str, float] = {}
    for child in supervisor.children:
        used[child.name] = used.get(child.name, 0.0) + (cpu(child.pid) if child.pid else 0.0)
    if postgres:
        used["postgres"] = family_cpu(postgres)
    return used


def family_cpu(pid: int) -> float:
    """CPU time of a process and of its children, so far."""
    used = cpu(pid)
    for child in map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text().split()):
        with suppress(FileNotFoundError, ProcessLookupError):  # one that ended meanwhile
            used += cpu(child)
    return used


def cpu(pid: int) -> float:
    """CPU time of a process, so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def measure(
    folder: Path, *, seconds: float, latency_seconds: float, clients: int, wanted: int,
    frontier: int, load: float | None,
) -> Report:  # fmt: skip
    address = f"{LOOPBACK}:{free_port()}"
    postgres = EmbeddedPostgres(folder)
    with running(postgres) as url, ExitStack() as stack:
        ensure_schema(url)
        with connect_once(url) as connection:
            campaign = plant(connection, frontier)
        # One connection for the whole run, opened after the services were forked.
        services = Supervisor(folder / "services.log")
        try:
            for name in ("coordinator", "validator", "assimilator"):
                settings = CoordinatorSettings(listen=address, require_token=False)
                services.start(name, service_process(name, url, settings))
            connection = stack.enter_context(connect_once(url))
            feeder = Feeder(connection, campaign)
            before = cpu_seconds(services, postgres.pid or 0)
            rate, elapsed, _ = phase(
                folder, services, feeder, "hammer", address, count=HAMMERS, wanted=HAMMER_WANTED,
                per_second=None, seconds=seconds,
            )  # fmt: skip
            after = cpu_seconds(services, postgres.pid or 0)
            done = rate * (elapsed + WARM_UP_SECONDS)
            used = {name: 1e6 * (after[name] - before[name]) / done for name in after}
            half = load or rate / 2
            _, _, times = phase(
                folder, services, feeder, "latency", address, count=clients, wanted=wanted,
                per_second=half, seconds=latency_seconds,
            )  # fmt: skip
            size = connection.execute(BYTES_PER_WORKUNIT).fetchone()
        finally:
            services.stop()
    return Report(
        throughput_per_second=rate,
        throughput_seconds=elapsed,
        request_p50_ms=percentile(times.request, 0.5),
        request_p99_ms=percentile(times.request, 0.99),
        submit_p99_ms=percentile(times.submit, 0.99),
        clients=clients,
        load_per_second=half,
        cpu_per_workunit=used,
        bytes_per_workunit=float(size[0]) if size else 0.0,
    )


def show(report: Report) -> None:
    rows: list[tuple[str, str, str, str]] = [
        ("full life of a workunit, /s", f"{report.throughput_per_second:,.0f}", "5,000", "8,000"),
        (f"RequestWork p99 at {report.load_per_second:,.0f} /s, {report.clients} clients, ms",
         f"{report.request_p99_ms:.1f}", "50", "20"),
        ("RequestWork median, ms", f"{report.request_p50_ms:.1f}", "", ""),
        ("SubmitResults p99, ms", f"{report.submit_p99_ms:.1f}", "", ""),
    ]  # fmt: skip
    print(f"{'':58} {'measured':>10} {'must':>7} {'goal':>7}")
    for name, measured, must, goal in rows:
        print(f"{name:58} {measured:>10} {must:>7} {goal:>7}")
    used = ", ".join(f"{name} {spent:.0f}" for name, spent in report.cpu_per_workunit.items())
    print(f"sustained {report.throughput_seconds:.0f} s; CPU per workunit in µs: {used}")
    print(f"bytes per workunit in the database: {report.bytes_per_workunit:.0f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--seconds", type=float, default=60, help="of sustained throughput")
    parser.add_argument("--latency-seconds", type=float, default=20)
    parser.add_argument("--clients", type=int, default=200, help="connected for the latency")
    parser.add_argument("--wanted", type=int, default=10, help="workunits a call of these asks for")
    parser.add_argument("--load", type=float, help="workunits/s for the latency; default: half")
    parser.add_argument("--frontier", type=int, default=10_000, help="frontier nodes at least")
    parser.add_argument("--data-dir", type=Path, help="on the disk to measure; default: temporary")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    folder = options.data_dir or Path(tempfile.mkdtemp(prefix="zermelo-bench-"))
    folder.mkdir(parents=True, exist_ok=True)
    folder.chmod(0o755)
    try:
        report = measure(
            folder.resolve(), seconds=options.seconds, latency_seconds=options.latency_seconds,
            clients=options.clients, wanted=options.wanted, frontier=options.frontier,
            load=options.load,
        )  # fmt: skip
    finally:
        if options.data_dir is None:
            shutil.rmtree(folder, ignore_errors=True)
    if options.json:
        print(json.dumps(asdict(report)))
    else:
        show(report)


if __name__ == "__main__":
    main()
