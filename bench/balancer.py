"""Two coordinators behind HAProxy, beside one behind it and one alone: workunits a second.

As pipeline.py, with the clients that hammer; the proxy has deploy/haproxy/haproxy.cfg, in plain
text on loopback. All three share one database and take turns. A workunit counts when it is in the
tree, and the clock stops when all are that were handed in: where processors are short results
pile up before the tree, the more so the faster coordinators take them in.

    python bench/balancer.py [--seconds 15] [--rounds 2] [--json]
"""

from __future__ import annotations

import json
import statistics
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from fresh import Fresh, fresh_database
from options import bench_parser
from pipeline import (
    HAMMER_WANTED,
    HAMMERS,
    Feeder,
    cpu,
    cpu_seconds,
    number,
    percentile,
    phase,
    plant,
)

from zermelo.server.coordinator.settings import CoordinatorSettings
from zermelo.server.database import Connection, connect_once
from zermelo.server.launcher import service_process
from zermelo.server.ports import free_port
from zermelo.server.supervisor import Supervisor

CONFIGURATION = Path(__file__).parents[1] / "deploy" / "haproxy" / "haproxy.cfg"
#: Coordinators and whether they stand behind the proxy.
SETUPS = {"one alone": (1, False), "one behind HAProxy": (1, True), "two behind HAProxy": (2, True)}


#: How long the tree may take for what was handed in, in seconds.
DRAIN_SECONDS = 120.0


class Round(NamedTuple):
    #: Workunits a second, from the first client to the last result in the tree.
    rate: float
    #: Results that were not in the tree yet when the clients ended.
    behind: int
    request_p99_ms: float
    #: Results that were not accepted.
    refused: int
    #: Microseconds of processor time a workunit, by service, those of one name together; of the
    #: proxy and of the clients.
    cpu_per_workunit: dict[str, float]


class Proxy(NamedTuple):
    address: str
    pid: int


@contextmanager
def balancing(folder: Path, coordinators: list[str]) -> Iterator[Proxy]:
    """A proxy before these coordinators."""
    address = f"127.0.0.1:{free_port()}"
    lines = []
    servers = iter(coordinators)
    for line in CONFIGURATION.read_text().partition("frontend operators")[0].splitlines():
        words = line.split()
        if words[:1] == ["bind"]:
            line = f"    bind {address} proto h2"
        elif words[:1] == ["server"]:
            server = next(servers, None)
            line = "" if server is None else line.replace(words[2], server)
        lines.append(line)
    file = folder / "haproxy.cfg"
    file.write_text("\n".join(lines) + "\n")
    proxy = subprocess.Popen(
        ["haproxy", "-db", "-f", str(file)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        yield Proxy(address, proxy.pid)
    finally:
        proxy.terminate()
        proxy.wait()


def measure(fresh: Fresh, seconds: float, rounds: int) -> dict[str, list[Round]]:
    found: dict[str, list[Round]] = {name: [] for name in SETUPS}
    with connect_once(fresh.url) as connection:
        campaign = plant(connection, 10_000)
        feeder = None
        for turn in range(rounds):
            for name, (count, balanced) in SETUPS.items():
                addresses = [f"127.0.0.1:{free_port()}" for _ in range(count)]
                services = start(fresh, addresses)
                feeder = feeder or Feeder(connection, campaign)
                lives = Lives(connection)
                try:
                    with balancing(fresh.folder, addresses) as proxy:
                        before = cpu_seconds(services, fresh.postgres.pid or 0)
                        _, _, times = phase(
                            fresh.folder, services, feeder, f"{name}-{turn}",
                            proxy.address if balanced else addresses[0], count=HAMMERS,
                            wanted=HAMMER_WANTED, per_second=None, seconds=seconds,
                        )  # fmt: skip
                        handed_in = lives.handed_in
                        behind = handed_in - lives.ended
                        rate = lives.drain(handed_in)
                        after = cpu_seconds(services, fresh.postgres.pid or 0)
                        after |= {"haproxy": cpu(proxy.pid), "clients": times.cpu}
                finally:
                    services.stop()
                used = {
                    name: 1e6 * (spent - before.get(name, 0.0)) / handed_in
                    for name, spent in after.items()
                }
                p99 = percentile(times.request, 0.99)
                found[name].append(Round(rate, behind, p99, times.refused, used))
    return found


class Lives:
    """Workunits that were handed in and that reached the tree since this was made."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._began = time.monotonic()
        self._handed_in_before, self._ended_before = self._all_handed_in(), self._all_ended()

    @property
    def handed_in(self) -> int:
        return self._all_handed_in() - self._handed_in_before

    @property
    def ended(self) -> int:
        return self._all_ended() - self._ended_before

    def drain(self, handed_in: int) -> float:
        """Wait until all that was handed in is in the tree; how many a second that are."""
        deadline = time.monotonic() + DRAIN_SECONDS
        while (ended := self.ended) < handed_in:
            if time.monotonic() > deadline:
                raise SystemExit(f"{handed_in - ended} results do not reach the tree")
            time.sleep(0.02)
        return ended / (time.monotonic() - self._began)

    def _all_handed_in(self) -> int:
        return number(self._connection, "SELECT count(*) FROM results")

    def _all_ended(self) -> int:
        return number(self._connection, "SELECT sum(answered) FROM totals")


def start(fresh: Fresh, addresses: list[str]) -> Supervisor:
    """The services, with a coordinator at each of these addresses."""
    services = Supervisor(fresh.folder / "services.log")
    for address in addresses:
        settings = CoordinatorSettings(
            listen=address, require_token=False, balancers=("127.0.0.1",)
        )
        services.start("coordinator", service_process("coordinator", fresh.url, settings))
    for service in ("validator", "assimilator"):
        services.start(service, service_process(service, fresh.url, settings))
    return services


def show(found: dict[str, list[Round]]) -> None:
    for setup, rounds in found.items():
        rates = ", ".join(f"{round_.rate:,.0f}" for round_ in rounds)
        p99 = statistics.median(round_.request_p99_ms for round_ in rounds)
        refused = sum(round_.refused for round_ in rounds)
        used = ", ".join(
            f"{name} {statistics.mean(round_.cpu_per_workunit[name] for round_ in rounds):.0f}"
            for name in rounds[0].cpu_per_workunit
        )
        behind = max(round_.behind for round_ in rounds)
        print(f"{setup:20} {rates} workunits/s; RequestWork p99 {p99:.0f} ms; {refused} refused;"
              f" at most {behind} behind at the end")
        print(f"{'':20} CPU per workunit in µs: {used}")


def main() -> None:
    parser = bench_parser(__doc__)
    parser.add_argument("--seconds", type=float, default=15)
    parser.add_argument("--rounds", type=int, default=2)
    options = parser.parse_args()
    with fresh_database("balancer") as fresh:
        found = measure(fresh, options.seconds, options.rounds)
    if options.json:
        print(json.dumps(found))
    else:
        show(found)


if __name__ == "__main__":
    main()
