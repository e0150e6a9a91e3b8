"""What the volunteer's daemon costs, and whether it keeps within its owner's limits.

A real daemon works for a real coordinator on loopback, on positions of reversi 8x8 that
take exactly as long as their budget. Run it on a quiet machine: it measures shares of a
core.

    python bench/client.py [--workunits 6] [--seconds 10] [--json]

| number | must |
| --- | --- |
| time lost between workunits of 10 s | at most 1 % of compute |
| processor time of the daemon beside the engine | at most 1 % |
| memory of the daemon | at most 80 MB |
| measured share of a throttle of 50 % | 45 to 55 % |
| longest time until a pause takes effect | at most 1 s |
| wheel | at most 10 MB |
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import psutil

from zermelo.client.control import ask
from zermelo.client.folder import ClientFolder
from zermelo.client.settings import ClientError
from zermelo.server.campaigns import create_campaign
from zermelo.server.coordinator.settings import CoordinatorSettings
from zermelo.server.database import Connection, connect_once, ensure_schema
from zermelo.server.embedded import EmbeddedPostgres, running
from zermelo.server.launcher import service_process
from zermelo.server.ports import free_port
from zermelo.server.supervisor import Supervisor

SPEC = "reversi:8x8"
ROOT = Path(__file__).parents[1]
ZERMELO = [sys.executable, "-c", "from zermelo.cli import main; main()"]
THROTTLE = 0.5
PAUSES = 10
PATIENCE_SECONDS = 600.0


@dataclass
class Report:
    workunit_seconds: float
    lost_percent: float
    daemon_cpu_percent: float
    daemon_mb: float
    throttled_percent: float
    longest_pause_seconds: float
    wheel_mb: float


class Client:
    """A running daemon with one worker."""

    def __init__(self, server: str, folder: Path, *options: str) -> None:
        self._control = ClientFolder(folder).control
        self._process = subprocess.Popen(
            [*ZERMELO, "client", "run", "--server", server, "--data-dir", str(folder),
             "--workers", "1", "--memory-mb", "64", "--priority", "normal",
             "--quit-seconds", "0", *options],
            stderr=subprocess.DEVNULL,
        )  # fmt: skip
        self.daemon = psutil.Process(self._process.pid)

    def ask(self, command: str) -> dict[str, Any]:
        return ask(self._control, command)

    def search(self) -> dict[str, Any] | None:
        try:
            found: dict[str, Any] | None = self.ask("status")["workers"][0]["search"]
        except ClientError:
            return None
        return found if found and found["nodes"] else None

    @property
    def worker(self) -> psutil.Process:
        (worker,) = self.daemon.children()
        return worker

    def stop(self) -> None:
        self._process.terminate()
        self._process.wait()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--workunits", type=int, default=6, help="how many to measure")
    parser.add_argument("--seconds", type=float, default=10.0, help="length of a workunit")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()

    def show(name: str, number: str) -> None:
        if not options.json:
            print(f"{name:36}{number}", flush=True)

    with server(options.seconds) as (address, connection):
        lost, cpu, memory = between_workunits(address, connection, options.workunits)
        show(f"lost between workunits of {options.seconds:g} s", f"{lost:.2f} %  (<= 1 %)")
        show("processor time of the daemon", f"{cpu:.2f} %  (<= 1 %)")
        show("memory of the daemon", f"{memory:.1f} MB  (<= 80 MB)")
        share, pause = within_limits(address, connection)
        show("throttle of 50 %", f"{share:.1f} %  (45 to 55 %)")
        show("longest until a pause takes effect", f"{pause:.3f} s  (<= 1 s)")
    report = Report(options.seconds, lost, cpu, memory, share, pause, wheel_mb())
    show("wheel", f"{report.wheel_mb:.2f} MB  (<= 10 MB)")
    if options.json:
        print(json.dumps(asdict(report)))


@contextmanager
def server(seconds: float) -> Iterator[tuple[str, Connection]]:
    """A coordinator with a campaign of workunits that take so long; and its database."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="zermelo-bench-")))
        folder.chmod(0o711)
        url = stack.enter_context(running(EmbeddedPostgres(folder)))
        ensure_schema(url)
        with connect_once(url) as connection:
            create_campaign(connection, SPEC, target_seconds=seconds, replication="none")
        supervisor = Supervisor(folder / "log")
        stack.callback(supervisor.stop)
        settings = CoordinatorSettings(f"127.0.0.1:{free_port()}", require_token=False)
        supervisor.start("coordinator", service_process("coordinator", url, settings))
        yield settings.listen, stack.enter_context(connect_once(url))


def ask_questions(connection: Connection, count: int) -> None:
    """Workunits about the root, one per threshold: none is solved within any budget."""
    connection.execute("DELETE FROM workunits WHERE state = 'ready'")
    for threshold in range(-count // 2, count - count // 2):
        connection.execute(
            "INSERT INTO workunits (node, campaign, threshold, priority, expected, guess,"
            " plies_left, ply) SELECT root, id, %s, 0, 1, 0, 60, 0 FROM campaigns"
            " ON CONFLICT DO NOTHING",
            (threshold,),
        )
    connection.execute("SELECT pg_notify('zermelo_ready', '')")


def between_workunits(
    address: str, connection: Connection, count: int
) -> tuple[float, float, float]:
    """Percent lost, percent of processor time and megabytes of the daemon."""
    ask_questions(connection, count + 3)
    with tempfile.TemporaryDirectory() as folder:
        client = Client(address, Path(folder))
        try:
            wait_for(lambda: results(connection))
            daemon, worker = cpu_seconds(client.daemon), cpu_seconds(client.worker)
            wait_for(lambda: len(results(connection)) > count)
            daemon = cpu_seconds(client.daemon) - daemon
            worker = cpu_seconds(client.worker) - worker
            memory = client.daemon.memory_info().rss / 1e6
        finally:
            client.stop()
    (first, _), *rest = results(connection)[: count + 1]
    passed = rest[-1][0] - first
    searched = sum(seconds for _, seconds in rest)
    return 100 * max(0.0, 1 - searched / passed), 100 * daemon / worker, memory


def within_limits(address: str, connection: Connection) -> tuple[float, float]:
    """The percentage that a throttle of 50 % gives, and the longest pause to a pause."""
    connection.execute("UPDATE campaigns SET target_seconds = 10000")
    connection.execute("UPDATE workunits SET state = 'withdrawn' WHERE state = 'returned'")
    ask_questions(connection, 2)
    with tempfile.TemporaryDirectory() as folder:
        client = Client(address, Path(folder), "--cpu-share", str(THROTTLE))
        try:
            wait_for(client.search)
            before, started = cpu_seconds(client.worker), time.monotonic()
            time.sleep(20)
            share = (cpu_seconds(client.worker) - before) / (time.monotonic() - started)
        finally:
            client.stop()
    ask_questions(connection, 2)
    with tempfile.TemporaryDirectory() as folder:
        client = Client(address, Path(folder))
        try:
            wait_for(client.search)
            longest = max(pause_seconds(client) for _ in range(PAUSES))
        finally:
            client.stop()
    return 100 * share, longest


def pause_seconds(client: Client) -> float:
    """From the owner's command until the worker uses no processor time any more."""
    started = time.monotonic()
    client.ask("pause")
    wait_for(lambda: client.worker.status() == psutil.STATUS_STOPPED)
    passed = time.monotonic() - started
    before = cpu_seconds(client.worker)
    time.sleep(0.5)
    if cpu_seconds(client.worker) != before:
        raise SystemExit("a paused worker uses processor time")
    client.ask("resume")
    time.sleep(0.5)
    return passed


def wheel_mb() -> float:
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "source"
        tracked = subprocess.run(
            ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True
        ).stdout.splitlines()
        for name in tracked:
            target = source / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, target, follow_symlinks=False)
        subprocess.run(
            [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", folder,
             str(source)],
            check=True,
        )  # fmt: skip
        (wheel,) = Path(folder).glob("*.whl")
        return wheel.stat().st_size / 1e6


def results(connection: Connection) -> list[tuple[float, float]]:
    """When each result came, and how long its search took."""
    rows = connection.execute(
        "SELECT extract(epoch FROM received_at)::float8, seconds FROM results ORDER BY 1"
    ).fetchall()
    return [(float(at), float(seconds)) for at, seconds in rows]


def cpu_seconds(process: psutil.Process) -> float:
    times = process.cpu_times()
    return float(times.user + times.system)


def wait_for(condition: Callable[[], Any]) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not condition():
        if time.monotonic() > deadline:
            raise SystemExit("waited in vain")
        time.sleep(0.02)


if __name__ == "__main__":
    main()
