"""What attacks on a coordinator cost it, and what they cost the honest.

The coordinator is a process of its own on a real PostgreSQL, and is called over loopback.

    python bench/attack.py bombs       100 calls of strangers at once, 16 MB of empty fields each
    python bench/attack.py results     SubmitResults of many bounds for leases that do not exist
    python bench/attack.py poller      one account polls, another one waits for second opinions
    python bench/attack.py timing      one account guesses by the time of a call whether it got a
                                       question that another user has answered

Without a word all of them; `--json` prints one object. Exit code 1 when a limit is broken. Hosts
that hoard work: bench/hoarders.py.
"""

from __future__ import annotations

import argparse
import asyncio
import bisect
import json
import math
import multiprocessing
import random
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import Any

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc

from zermelo.proto import coordinator_pb2 as pb
from zermelo.proto import service
from zermelo.proto.service import PROTOCOL_VERSION, CoordinatorStub
from zermelo.server.campaigns import Campaign, create_campaign
from zermelo.server.coordinator.settings import CoordinatorSettings
from zermelo.server.database import Connection, connect_once, ensure_schema
from zermelo.server.embedded import EmbeddedPostgres, running
from zermelo.server.launcher import service_process
from zermelo.server.ports import free_port
from zermelo.server.trust.accounts import Role, open_account

#: What must not be exceeded: megabytes and milliseconds.
MOST_MEGABYTES = 64.0
MOST_HEALTH_MS = 100.0
MOST_WAIT_MS = 500.0
#: How often a guess by the time may be right; half is chance.
MOST_RIGHT = 0.55

BOMB = b"\x12\x00" * (8 * 2**20)
BOMBS = 100
SUBMIT = f"/{service.COORDINATOR.full_name}/SubmitResults"
POLL_SECONDS = 0.4
TIMED_CALLS = 1000


class Server:
    """A coordinator in a process of its own."""

    def __init__(self, url: str) -> None:
        self.url, self.address = url, f"127.0.0.1:{free_port()}"
        settings = CoordinatorSettings(listen=self.address)
        self.process = multiprocessing.get_context("spawn").Process(
            target=_coordinate, args=(url, settings)
        )

    def megabytes(self) -> float:
        pages = int(Path(f"/proc/{self.process.pid}/statm").read_text().split()[1])
        return pages * 4096 / 2**20

    def cpu_seconds(self) -> float:
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / 100


def _coordinate(url: str, settings: CoordinatorSettings) -> None:
    service_process("coordinator", url, settings)()


@contextmanager
def serving(url: str) -> Iterator[Server]:
    server = Server(url)
    server.process.start()
    try:
        with grpc.insecure_channel(server.address) as channel:
            grpc.channel_ready_future(channel).result(timeout=60)
        yield server
    finally:
        server.process.terminate()
        server.process.join()


@asynccontextmanager
async def watched(server: Server) -> AsyncIterator[dict[str, float]]:
    """Meanwhile the health is asked for 50 times a second, and the memory looked at."""
    told: dict[str, float] = {}
    waits: list[float] = []
    before = server.megabytes()
    most = before

    async def watch() -> None:
        nonlocal most
        async with grpc.aio.insecure_channel(
            server.address, options=[("grpc.use_local_subchannel_pool", 1)]
        ) as channel:
            health = health_pb2_grpc.HealthStub(channel)
            while True:
                started = time.monotonic()
                await health.Check(health_pb2.HealthCheckRequest(), timeout=60)
                waits.append(time.monotonic() - started)
                most = max(most, server.megabytes())
                await asyncio.sleep(0.02)

    watching = asyncio.create_task(watch())
    await asyncio.sleep(0.5)
    waits.clear()
    began = server.cpu_seconds()
    yield told
    told["cpu_seconds"] = server.cpu_seconds() - began
    watching.cancel()
    with suppress(asyncio.CancelledError):
        await watching
    waits.sort()
    told["health_p99_ms"] = 1000 * waits[int(0.99 * (len(waits) - 1))]
    told["more_megabytes"] = most - before


def _throw(address: str, count: int, gzip: bool, codes: Any) -> None:
    """Calls of strangers at once, from a process whose own work does not delay the watcher."""

    async def throw() -> list[str]:
        options = [("grpc.max_send_message_length", 2 * len(BOMB))]
        async with grpc.aio.insecure_channel(address, options=options) as channel:
            call = channel.unary_unary(SUBMIT)
            compression = grpc.Compression.Gzip if gzip else grpc.Compression.NoCompression

            async def one() -> str:
                try:
                    await call(BOMB, timeout=120, compression=compression)
                except grpc.aio.AioRpcError as error:
                    return str(error.code().name)
                return "OK"

            return await asyncio.gather(*(one() for _ in range(count)))

    codes.put(asyncio.run(throw()))


async def bombs(server: Server) -> dict[str, Any]:
    """100 calls at once without a token, plain and compressed."""
    spawn = multiprocessing.get_context("spawn")
    codes = spawn.Queue()
    async with watched(server) as told:
        for gzip in (False, True):
            attacker = spawn.Process(target=_throw, args=(server.address, BOMBS, gzip, codes))
            attacker.start()
            while attacker.is_alive() and codes.empty():
                await asyncio.sleep(0.05)
    answers = [code for _ in range(2) for code in codes.get()]
    return {**told, "codes": {code: answers.count(code) for code in set(answers)},
            "ok": told["more_megabytes"] <= MOST_MEGABYTES
            and told["health_p99_ms"] <= MOST_HEALTH_MS}  # fmt: skip


def _metadata(connection: Connection, name: str) -> tuple[tuple[str, str], ...]:
    token = open_account(connection, name, Role.VOLUNTEER, actor="bench")
    return ((service.AUTHORIZATION, service.BEARER + token),)


async def hello(stub: Any, metadata: Any, key: bytes) -> None:
    await stub.Hello(
        pb.HelloRequest(protocol_version=PROTOCOL_VERSION, host_key=key, workers=1),
        metadata=metadata, timeout=60,
    )  # fmt: skip


def results_of_nothing(key: bytes, count: int = 350) -> pb.SubmitResultsRequest:
    """The largest request that is legal, about leases that do not exist."""
    bounds = pb.KnownBounds(positions=key * count, lo=[-1] * count, hi=[1] * count)
    return pb.SubmitResultsRequest(host_key=key, results=[
        pb.Result(lease_id=number, answer=pb.EXHAUSTED, proved=bounds) for number in range(1, 257)
    ])  # fmt: skip


async def results(server: Server, connection: Connection) -> dict[str, Any]:
    """The largest SubmitResults about leases that do not exist, for five seconds."""
    metadata, key = _metadata(connection, "submitter"), b"s" * 16
    request = results_of_nothing(key)
    served = refused = 0
    async with grpc.aio.insecure_channel(server.address) as channel:
        stub = CoordinatorStub(channel)
        await hello(stub, metadata, key)
        async with watched(server) as told:
            end = time.monotonic() + 5
            while time.monotonic() < end:
                try:
                    await stub.SubmitResults(request, metadata=metadata, timeout=60)
                    served += 1
                except grpc.aio.AioRpcError as error:
                    refused += 1
                    wait = dict(error.trailing_metadata() or ()).get(service.RETRY_AFTER, "100")
                    await asyncio.sleep(min(1.0, int(wait) / 1000))
    return {**told, "bytes": request.ByteSize(), "served": served, "refused": refused,
            "ok": told["health_p99_ms"] <= MOST_HEALTH_MS}  # fmt: skip


async def poller(server: Server, connection: Connection) -> dict[str, Any]:
    """Second opinions that are ready for one account, while another one polls."""
    campaign = create_campaign(connection, "reversi:4x4", name="polled", replication="adaptive")
    names = ("poller", "honest")
    async with grpc.aio.insecure_channel(server.address) as channel:
        stub = CoordinatorStub(channel)
        known = {name: (_metadata(connection, name), name.encode().ljust(16)) for name in names}
        for metadata, key in known.values():
            await hello(stub, metadata, key)

        async def take(name: str, wait_ms: int) -> list[pb.Workunit]:
            metadata, key = known[name]
            reply = await stub.RequestWork(
                pb.RequestWorkRequest(host_key=key, wanted=1, wait_ms=wait_ms),
                metadata=metadata, timeout=90,
            )  # fmt: skip
            return list(reply.workunits)

        async def poll() -> None:
            while True:
                await take("poller", 0)
                await asyncio.sleep(POLL_SECONDS)

        waits = []
        for threshold in range(-15, 5):
            connection.execute(
                "INSERT INTO workunits (node, campaign, threshold, priority, expected, guess,"
                " plies_left, ply) VALUES (%s, %s, %s, 0, 1, 0, 12, 0)",
                (campaign.root, campaign.id, threshold),
            )
            connection.execute("SELECT pg_notify('zermelo_ready', '')")
            for workunit in await take("poller", 60_000):
                metadata, key = known["poller"]
                answer = pb.Result(
                    lease_id=workunit.lease_id, answer=pb.YES, lo=threshold, hi=16, nodes=1
                )
                await stub.SubmitResults(
                    pb.SubmitResultsRequest(host_key=key, results=[answer]),
                    metadata=metadata, timeout=60,
                )  # fmt: skip
        # No validator runs here: what it would decide, without a word to the coordinator.
        connection.execute("UPDATE workunits SET quorum = 2, state = 'ready'")
        polling = asyncio.create_task(poll())
        await asyncio.sleep(2 * POLL_SECONDS)
        while True:
            started = time.monotonic()
            if not await take("honest", 20_000):
                break
            waits.append(1000 * (time.monotonic() - started))
            if len(waits) == 20:
                break
            await asyncio.sleep(POLL_SECONDS / 3)
        polling.cancel()
    return {"second_opinions": len(waits), "longest_wait_ms": max(waits, default=math.inf),
            "ok": len(waits) == 20 and max(waits) <= MOST_WAIT_MS}  # fmt: skip


async def timing(server: Server, connection: Connection) -> dict[str, Any]:
    """Calls that get a fresh question or a second opinion by turns of a coin, and their times."""
    campaign = create_campaign(connection, "reversi:6x6", name="timed", replication="adaptive")
    metadata, key = _metadata(connection, "listener"), b"l" * 16
    chance = random.Random(1)
    connection.execute("UPDATE users SET quota = 65536")
    chosen: dict[bool, list[float]] = {True: [], False: []}
    async with grpc.aio.insecure_channel(server.address) as channel:
        stub = CoordinatorStub(channel)
        await hello(stub, metadata, key)
        questions = _answered(connection, campaign)
        request = pb.RequestWorkRequest(host_key=key, wanted=1, wait_ms=10_000)
        for number in range(TIMED_CALLS):
            again = chance.random() < 0.5
            question = questions[number % len(questions)]
            connection.execute("UPDATE workunits SET state = 'ready', quorum = %s WHERE id = %s",
                               (2 if again else 1, question))
            connection.execute("SELECT pg_notify('zermelo_ready', '')")
            await asyncio.sleep(0.01)
            started = time.perf_counter()
            reply = await stub.RequestWork(request, metadata=metadata, timeout=60)
            took = time.perf_counter() - started
            (workunit,) = reply.workunits
            connection.execute("DELETE FROM leases WHERE id = %s", (workunit.lease_id,))
            connection.execute("UPDATE workunits SET state = 'withdrawn' WHERE id = %s",
                               (question,))
            if number >= TIMED_CALLS // 10:  # the first ones warm up
                chosen[again].append(took)
    right = _right_guesses(chosen[True], chosen[False])
    return {"fresh": len(chosen[False]), "second_opinions": len(chosen[True]),
            "fresh_median_ms": 1000 * statistics.median(chosen[False]),
            "second_median_ms": 1000 * statistics.median(chosen[True]),
            "right_guesses": right, "ok": max(right, 1 - right) <= MOST_RIGHT}  # fmt: skip


def _answered(connection: Connection, campaign: Campaign) -> list[int]:
    """Questions that another account was asked before."""
    rows = connection.execute(
        "WITH account AS (INSERT INTO users (name) VALUES ('answerer') RETURNING id),"
        " host AS (INSERT INTO hosts (user_id, host_key_digest)"
        " SELECT id, gen_random_uuid() FROM account RETURNING id),"
        " asked AS (INSERT INTO workunits (node, campaign, threshold, priority, expected, guess,"
        " plies_left, ply, state) SELECT %s, %s, threshold, 0, 1, 0, 32, 0, 'withdrawn'"
        " FROM generate_series(-30, 30) AS threshold RETURNING id, threshold)"
        " INSERT INTO leases (id, workunit, host, node_budget, deadline, state, ended_at)"
        " SELECT 100 + threshold, asked.id, host.id, 1000, now(), 'returned', now()"
        " FROM asked, host RETURNING workunit",
        (campaign.root, campaign.id),
    )
    return [workunit for (workunit,) in rows]


def _right_guesses(longer: list[float], shorter: list[float]) -> float:
    """How often one drawn from the first takes longer than one drawn from the second."""
    ranked = sorted(shorter)
    below = sum(bisect.bisect_left(ranked, took) + bisect.bisect_right(ranked, took)
                for took in longer)  # fmt: skip
    return below / 2 / len(longer) / len(shorter)


def attack(names: list[str]) -> dict[str, Any]:
    """What these attacks did."""
    reports: dict[str, Any] = {}
    with tempfile.TemporaryDirectory(prefix="zermelo-attack-") as folder:
        Path(folder).chmod(0o711)
        with running(EmbeddedPostgres(Path(folder))) as url:
            ensure_schema(url)
            with connect_once(url) as connection, serving(url) as server:
                if "bombs" in names:
                    reports["bombs"] = asyncio.run(bombs(server))
                if "results" in names:
                    reports["results"] = asyncio.run(results(server, connection))
                if "poller" in names:
                    reports["poller"] = asyncio.run(poller(server, connection))
                if "timing" in names:
                    reports["timing"] = asyncio.run(timing(server, connection))
    return reports


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    known = ("bombs", "results", "poller", "timing")
    parser.add_argument("attack", nargs="*", help=f"of {', '.join(known)}; default: all")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    if unknown := set(options.attack) - set(known):
        parser.error(f"no such attack: {', '.join(sorted(unknown))}")
    reports = attack(options.attack or list(known))
    if options.json:
        print(json.dumps(reports))
    else:
        for name, report in reports.items():
            print(name)
            for what, value in report.items():
                shown = f"{value:,.2f}" if isinstance(value, float) else value
                print(f"  {what:<18} {shown}")
    sys.exit(0 if all(report["ok"] for report in reports.values()) else 1)


if __name__ == "__main__":
    main()
