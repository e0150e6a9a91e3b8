"""How long `zermelo serve all`, with its own PostgreSQL, takes to end after SIGTERM, under load.

Clients split the opening of reversi 8x8 as fast as the services let them, beside busy processes.
Then SIGTERM; and how long the next start takes until it serves.

    python bench/stopping.py [--rounds 3] [--load-seconds 20] [--busy 4] [--json]
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from options import bench_parser

from zermelo.server.ports import free_port

MOST = 3.0
PROGRAM = [sys.executable, "-c", "from zermelo.cli import main; main()"]


def command(*arguments: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [*PROGRAM, *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )


def wait_ready(address: str) -> float:
    """Seconds until a coordinator serves."""
    began = time.monotonic()
    while command("health", address, "--timeout", "1").wait():
        if time.monotonic() - began > 120:
            raise SystemExit("the services do not start")
    return time.monotonic() - began


def stopped(folder: Path, load_seconds: float) -> tuple[float, float]:
    """Seconds from the start until it serves, and from SIGTERM to the end."""
    address = f"127.0.0.1:{free_port()}"
    services = command(
        "serve", "all", "--open-access", "--data-dir", str(folder), "--listen", address
    )
    start = wait_ready(address)
    client = command(
        "client", "run", "--server", address, "--data-dir", str(folder / "volunteer"),
        "--workers", "2", "--memory-mb", "16",
    )  # fmt: skip
    time.sleep(load_seconds)
    began = time.monotonic()
    services.send_signal(signal.SIGTERM)
    code = services.wait()
    took = time.monotonic() - began
    client.kill()
    client.wait()
    if code:
        raise SystemExit(f"the services ended with {code}")
    return start, took


def main() -> None:
    parser = bench_parser(__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--load-seconds", type=float, default=20.0)
    parser.add_argument("--busy", type=int, default=2 * (os.cpu_count() or 1))
    options = parser.parse_args()
    busy = [
        subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(options.busy)
    ]
    try:
        with tempfile.TemporaryDirectory(prefix="zermelo-stopping-") as name:
            folder = Path(name)
            folder.chmod(0o755)
            for arguments in (("db", "init"),
                              ("campaign", "create", "reversi:8x8", "--target-seconds", "0.05")):
                if command(*arguments, "--data-dir", name).wait():
                    raise SystemExit(f"{arguments} failed")
            found = [stopped(folder, options.load_seconds) for _ in range(options.rounds)]
    finally:
        for process in busy:
            process.kill()
    if options.json:
        print(json.dumps({"start": [start for start, _ in found],
                          "stop": [stop for _, stop in found]}))
    else:
        for start, stop in found:
            print(f"serves after {start:.1f} s, ends {stop:.2f} s after SIGTERM")
    raise SystemExit(max(stop for _, stop in found) > MOST)


if __name__ == "__main__":
    main()
