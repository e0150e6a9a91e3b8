"""A fleet of clients on a Dask cluster: the unchanged daemon, once per Dask worker.

Each worker runs `zermelo client run` as a process of its own, with a folder of its own in
the worker's local directory, until the launcher says stop or goes away.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from zermelo.client.settings import ClientError
from zermelo.parts import MissingPartError, install_command

STOP_SECONDS = 30.0
LOOK_SECONDS = 0.5
CONNECT_SECONDS = 15.0
TOKEN = "ZERMELO_TOKEN"  # noqa: S105 - where it is, not what
RUN = "from zermelo.cli import main; main()"


def run_client(options: Sequence[str], token: str, stop_name: str) -> int:
    """On a Dask worker: run one client until it ends or the stop variable is set.

    The token goes into its environment: everybody on the worker's machine reads command lines.
    """
    from distributed import Event, get_worker

    worker: Any = get_worker()
    folder = Path(worker.local_directory) / "zermelo"
    stop = Event(stop_name)
    process = subprocess.Popen(  # noqa: S603
        [sys.executable, "-c", RUN, "client", "run", "--data-dir", str(folder), *options],
        stdin=subprocess.DEVNULL,
        env={**os.environ, TOKEN: token} if token else None,
    )
    try:
        while process.poll() is None and not stop.is_set():
            time.sleep(LOOK_SECONDS)
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
        try:
            process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
    return process.returncode


class DaskFleet:
    """Clients on every worker of a cluster. Use as ``with DaskFleet(...) as fleet``."""

    def __init__(self, scheduler: str, options: Sequence[str], token: str = "") -> None:
        try:
            import distributed
        except ImportError:
            raise MissingPartError("distributed", install_command("dask")) from None
        self._distributed: Any = distributed
        self._options, self._token = list(options), token
        try:
            self._client: Any = distributed.Client(scheduler, timeout=CONNECT_SECONDS)
        except (OSError, ValueError, TimeoutError) as error:
            raise ClientError(f"no Dask scheduler at {scheduler}: {error}") from error
        self._stop_name = f"zermelo-stop-{os.getpid()}-{time.time_ns()}"
        self._stop = distributed.Event(self._stop_name, client=self._client)
        self._futures: dict[str, Any] = {}

    def __enter__(self) -> DaskFleet:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
        self._client.close()

    @property
    def workers(self) -> list[str]:
        return sorted(self._client.scheduler_info(n_workers=-1)["workers"])

    def spread(self) -> int:
        """Start a client on every Dask worker that has none; how many run."""
        for name in self.workers:
            if name not in self._futures or self._futures[name].done():
                self._futures[name] = self._client.submit(
                    run_client, self._options, self._token, self._stop_name, workers=[name],
                    allow_other_workers=False, pure=False, retries=0,
                    key=f"zermelo-client-{name}-{time.time_ns()}",
                )  # fmt: skip
        return self.running

    @property
    def running(self) -> int:
        return sum(not future.done() for future in self._futures.values())

    def results(self) -> dict[str, Any]:
        """How the clients that ended did: an exit code, or an error."""
        ended = {name: future for name, future in self._futures.items() if future.done()}
        return {
            name: future.result() if future.status == "finished" else str(future.exception())
            for name, future in ended.items()
        }

    def wait(self, seconds: float, tell: Callable[[int], None] = lambda _: None) -> None:
        """Until every client has ended, at most so long."""
        deadline = time.monotonic() + seconds
        while self.running and time.monotonic() < deadline:
            tell(self.running)
            time.sleep(LOOK_SECONDS)

    def stop(self) -> None:
        """Have every client stop in good order."""
        self._stop.set()
        self.wait(STOP_SECONDS + 5.0)
