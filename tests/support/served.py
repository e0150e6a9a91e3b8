"""All services as one command, and a client by hand that never solves anything."""

from __future__ import annotations

import os
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import grpc

from tests.support.command import ZERMELO
from tests.support.coordinator import Host, answer, listens, wait_until
from zermelo.proto import coordinator_pb2 as pb
from zermelo.server.ports import free_port

PASSING = {grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED}


class Served:
    """`zermelo serve all` in a process; what it said is in `log`."""

    def __init__(self, log: Path, *options: str, environment: Mapping[str, str] = {}) -> None:
        self.address = f"127.0.0.1:{free_port()}"
        self.log = log
        with log.open("wb") as stream:
            self.process = subprocess.Popen(
                [*ZERMELO, "serve", "all", "--open-access", "--listen", self.address, *options],
                stdout=stream, stderr=stream, env={**os.environ, **environment},
            )  # fmt: skip

    def said(self) -> str:
        return self.log.read_text(errors="replace")


@contextmanager
def served(log: Path, *options: str, environment: Mapping[str, str] = {}) -> Iterator[Served]:
    """Ends in good order, and never with a traceback."""
    running = Served(log, *options, environment=environment)
    try:
        wait_until(lambda: listens(running.address) or running.process.poll() is not None)
        assert running.process.poll() is None, running.said()
        yield running
        running.process.terminate()
        assert running.process.wait(120) == 0, running.said()
    finally:
        running.process.kill()
        running.process.wait()
    assert "Traceback" not in running.said(), running.said()


class Splitter:
    """Answers that every budget was exhausted, so that all services have to write; in a thread."""

    def __init__(self, address: str) -> None:
        self._host = Host(address, hello=False)
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._work)
        #: Leases whose results were acknowledged, and how often the coordinator was in trouble.
        self.acknowledged: list[int] = []
        self.refused = 0

    def __enter__(self) -> Splitter:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join(120)
        self._host.close()
        assert not self._thread.is_alive()

    def _work(self) -> None:
        self._insist(self._host.hello)
        while not self._stop.is_set():
            taken = self._insist(lambda: self._host.take(4)) or []
            results = [
                answer(item, answer=pb.EXHAUSTED, lo=-64, hi=64, milliseconds=20)
                for item in taken
            ]
            if results:
                receipts = self._insist(lambda: self._host.submit(*results)) or []  # noqa: B023
                self.acknowledged += [
                    item.lease_id for item, receipt in zip(taken, receipts, strict=False)
                    if receipt != pb.Receipt.REFUSED
                ]  # fmt: skip
            else:
                time.sleep(0.05)

    def _insist(self, call: Any) -> Any:
        """What a call gives, tried again while the coordinator or its database is in trouble."""
        while not self._stop.is_set():
            try:
                return call()
            except grpc.RpcError as error:
                if error.code() not in PASSING:
                    raise
                self.refused += 1
                time.sleep(0.1)
        return None
