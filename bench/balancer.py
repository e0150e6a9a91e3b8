"""Two coordinators behind HAProxy, beside one behind it and one alone: workunits a second.

As pipeline.py, with the clients that hammer; the proxy has deploy/haproxy/haproxy.cfg, in plain
text on loopback. All three share one database and take turns.

    python bench/balancer.py [--seconds 15] [--rounds 2] [--json]
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pipeline import HAMMER_WANTED, HAMMERS, Feeder, percentile, phase, plant

from zermelo.server.coordinator.settings import CoordinatorSettings
from zermelo.server.database import connect_once, ensure_schema
from zermelo.server.embedded import EmbeddedPostgres, running
from zermelo.server.launcher import service_process
from zermelo.server.ports import free_port
from zermelo.server.supervisor import Supervisor

CONFIGURATION = Path(__file__).parents[1] / "deploy" / "haproxy" / "haproxy.cfg"
#: Coordinators and whether they stand behind the proxy.
SETUPS = {"one alone": (1, False), "one behind HAProxy": (1, True), "two behind HAProxy": (2, True)}


@contextmanager
def balancing(folder: Path, coordinators: list[str]) -> Iterator[str]:
    """The address of a proxy before these coordinators."""
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
        yield address
    finally:
        proxy.terminate()
        proxy.wait()


def measure(folder: Path, seconds: float, rounds: int) -> dict[str, list[tuple[float, float]]]:
    """Workunits a second and the 99th percentile of RequestWork in ms, of each round."""
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in SETUPS}
    with running(EmbeddedPostgres(folder)) as url:
        ensure_schema(url)
        with connect_once(url) as connection:
            campaign = plant(connection, 10_000)
            feeder = None
            for number in range(rounds):
                for name, (count, balanced) in SETUPS.items():
                    addresses = [f"127.0.0.1:{free_port()}" for _ in range(count)]
                    services = Supervisor(folder / "services.log")
                    for address in addresses:
                        settings = CoordinatorSettings(
                            listen=address, require_token=False, balancers=("127.0.0.1",)
                        )
                        services.start("coordinator", service_process("coordinator", url, settings))
                    for service in ("validator", "assimilator"):
                        services.start(service, service_process(service, url, settings))
                    feeder = feeder or Feeder(connection, campaign)
                    try:
                        with balancing(folder, addresses) as proxy:
                            rate, _, times = phase(
                                folder, services, feeder, f"{name}-{number}",
                                proxy if balanced else addresses[0], count=HAMMERS,
                                wanted=HAMMER_WANTED, per_second=None, seconds=seconds,
                            )  # fmt: skip
                    finally:
                        services.stop()
                    found[name].append((rate, percentile(times.request, 0.99)))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=15)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="zermelo-balancer-") as name:
        Path(name).chmod(0o711)
        found = measure(Path(name), options.seconds, options.rounds)
    if options.json:
        print(json.dumps(found))
        return
    for setup, rounds in found.items():
        rates = ", ".join(f"{rate:,.0f}" for rate, _ in rounds)
        p99 = statistics.median(p99 for _, p99 in rounds)
        print(f"{setup:20} {rates} workunits/s; RequestWork p99 {p99:.0f} ms")


if __name__ == "__main__":
    main()
