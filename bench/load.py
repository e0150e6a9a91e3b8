"""Thousands of volunteers on one coordinator: is anything lost, how long do calls take?

Real PostgreSQL with fsync on, the services as processes of their own, calls over loopback. The
volunteers are made up (`crowd.py`), and some of them may attack (`attackers.py`). All of them are
strangers at first, so that answers are compared as in a public project.

    python bench/load.py [--clients 2000] [--seconds 600] [--attackers 5%] [--only KIND] [--json]

All that was measured is printed at the end, as a table and as one line of JSON.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from attackers import KINDS, USUAL, attackers_process
from crowd import Told, volunteers_process
from pipeline import Feeder, cpu_seconds, percentile, plant

from zermelo.server.check import check_database
from zermelo.server.coordinator.settings import CoordinatorSettings
from zermelo.server.database import Connection, connect_once, ensure_schema
from zermelo.server.embedded import EmbeddedPostgres, running
from zermelo.server.launcher import service_process
from zermelo.server.ports import free_port
from zermelo.server.supervisor import Supervisor
from zermelo.server.trust.accounts import Role, open_account

ADDRESS = f"127.0.0.1:{free_port()}"
FRONTIER, ACCOUNTS_AT_ONCE = 10_000, 1000
SERVICES = ("coordinator", "validator", "assimilator")
#: How often memory is looked at, of the whole run.
LOOKS = 20


@dataclass
class Memory:
    """Resident megabytes of the services `seconds` after the beginning."""

    seconds: float
    megabytes: dict[str, float]


@dataclass
class Calls:
    """The calls of volunteers to one RPC, and how long they took."""

    count: int
    p50_ms: float
    p99_ms: float
    most_ms: float

    @staticmethod
    def of(times: list[tuple[float, float]]) -> Calls:
        most = max((seconds for _, seconds in times), default=0.0)
        return Calls(len(times), percentile(times, 0.5), percentile(times, 0.99), 1000 * most)


@dataclass
class Report:
    clients: int
    attackers: int
    connected: int
    seconds: float
    results: int
    lost: int
    failed_calls: dict[str, int]
    violations: int
    restarts: int
    calls: dict[str, Calls]
    #: How late the volunteers' own event loop was: a part of what they measured.
    own_delay_p99_ms: float
    #: Microseconds of processor time for a call, of whomever.
    cpu_per_call: dict[str, float]
    #: Cores that each kept busy; "volunteers" and "attackers" are the load itself.
    cores: dict[str, float]
    #: What the attackers got, by kind and status.
    attacks: dict[str, int]
    #: How many processes wanted a processor, at the end.
    load_average: float
    memory: list[Memory]


def open_accounts(connection: Connection, count: int) -> list[str]:
    """Tokens of new accounts; not through Register, which lets one address have few of them."""
    tokens: list[str] = []
    while len(tokens) < count:
        # Each name is locked until the transaction ends, and PostgreSQL knows so many locks.
        with connection.transaction():
            tokens += [
                open_account(connection, f"volunteer {number}", Role.VOLUNTEER, actor="bench")
                for number in range(len(tokens), min(len(tokens) + ACCOUNTS_AT_ONCE, count))
            ]
    return tokens


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


def measure(
    folder: Path, clients: int, seconds: float, replication: str, attackers: int = 0,
    kinds: tuple[str, ...] = USUAL,
) -> Report:  # fmt: skip
    """Let clients work, of whom so many attack, each as one of these kinds."""
    postgres = EmbeddedPostgres(folder)
    with running(postgres) as url:
        ensure_schema(url)
        with connect_once(url) as connection:
            campaign = plant(connection, FRONTIER, replication)
            tokens = open_accounts(connection, clients)
        services, crowd = Supervisor(folder / "services.log"), Supervisor(folder / "crowd.log")
        settings = CoordinatorSettings(listen=ADDRESS)
        try:
            for name in SERVICES:
                services.start(name, service_process(name, url, settings))
            out, attacked = folder / "told.json", folder / "attacked.json"
            honest = tokens[attackers:]
            with connect_once(url) as connection:
                feeder = Feeder(connection, campaign)
                crowd.start("volunteers", volunteers_process(ADDRESS, honest, seconds, out))
                expected = [out]
                before, began = cpu_seconds(services, postgres.pid or 0), time.monotonic()
                if attackers:
                    enemies = tokens[:attackers]
                    crowd.start("attackers",
                                attackers_process(ADDRESS, enemies, kinds, seconds, attacked))
                    expected.append(attacked)
                scales = Scales(services, seconds)
                while not all(file.exists() for file in expected):
                    time.sleep(0.1)
                    feeder.feed()
                    services.check()
                    crowd.check()
                    scales.look()
                used = cpu_seconds(services, postgres.pid or 0) | cpu_seconds(crowd)
                used = {name: spent - before.get(name, 0.0) for name, spent in used.items()}
                elapsed = time.monotonic() - began
                told = Told(**json.loads(out.read_text()))
                stored = {row[0] for row in connection.execute("SELECT lease FROM results")}
                # The feeder asks in the place of a generator and counts nothing.
                violations = [v for v in check_database(connection) if v.check != "check_totals"]
                restarts = services.restarts + crowd.restarts
        finally:
            crowd.stop()
            services.stop()
    attacks = json.loads(attacked.read_text()) if attackers else {}
    calls = len(told.request) + len(told.submit) + len(told.beat) + sum(attacks.values())
    return Report(
        clients=len(honest), attackers=attackers, connected=told.connected, seconds=seconds,
        results=len(told.acknowledged), lost=len(set(told.acknowledged) - stored),
        failed_calls=told.failed, violations=len(violations), restarts=restarts,
        calls={"RequestWork": Calls.of(told.request), "SubmitResults": Calls.of(told.submit),
               "Heartbeat": Calls.of(told.beat)},
        own_delay_p99_ms=1000 * sorted(told.delays)[int(0.99 * len(told.delays))],
        cpu_per_call={name: 1e6 * spent / calls for name, spent in used.items()},
        cores={name: spent / elapsed for name, spent in used.items()},
        attacks=attacks, load_average=os.getloadavg()[0], memory=scales.memory,
    )  # fmt: skip


def show(report: Report) -> None:
    for name, value in asdict(report).items():
        if not isinstance(value, dict | list):
            print(f"{name:24} {f'{value:,.1f}' if isinstance(value, float) else value}")
    for status, count in sorted(report.failed_calls.items()):
        print(f"failed and made again    {status}: {count}")
    for name in SERVICES:
        told = " ".join(f"{look.megabytes.get(name, 0):.0f}" for look in report.memory)
        print(f"{name + ', MB':24} {told}")
    for status, count in sorted(report.attacks.items()):
        print(f"attacks                  {status}: {count:,}")
    print(f"\n{'':16}{'calls':>10}{'median, ms':>12}{'p99, ms':>10}{'most, ms':>10}")
    for name, calls in report.calls.items():
        print(f"{name:16}{calls.count:10,}{calls.p50_ms:12,.0f}{calls.p99_ms:10,.0f}"
              f"{calls.most_ms:10,.0f}")
    print(f"\n{'':16}{'µs a call':>10}{'cores':>12}")
    for name, spent in report.cpu_per_call.items():
        print(f"{name:16}{spent:10,.0f}{report.cores[name]:12.2f}")


def _rounded(value: Any) -> Any:
    """The same with numbers that can be read."""
    if isinstance(value, float):
        return round(value, 3)
    if isinstance(value, dict):
        return {name: _rounded(item) for name, item in value.items()}
    return [_rounded(item) for item in value] if isinstance(value, list) else value


def share(text: str) -> float:
    """A part of a whole, given in per cent."""
    value = float(text.removesuffix("%")) / 100
    if not 0 <= value < 1:
        raise ValueError(text)
    return value


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--clients", type=int, default=2000)
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--replication", choices=("none", "adaptive"), default="adaptive")
    parser.add_argument("--attackers", type=share, default=0.0, metavar="PERCENT",
                        help="which part of the clients attack, such as 5%%")
    parser.add_argument("--only", choices=KINDS, help="all attackers are of this kind")
    parser.add_argument("--json", action="store_true", help="nothing but the line of JSON")
    options = parser.parse_args()
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))  # a connection for every volunteer
    folder = Path(tempfile.mkdtemp(prefix="zermelo-bench-"))
    folder.chmod(0o755)
    try:
        report = measure(
            folder.resolve(), options.clients, options.seconds, options.replication,
            round(options.attackers * options.clients),
            (options.only,) if options.only else USUAL,
        )  # fmt: skip
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    if not options.json:
        show(report)
    print(json.dumps(_rounded(asdict(report))))


if __name__ == "__main__":
    main()
