"""Starts clients within milliseconds: a process that has loaded everything and forks.

A line of JSON on its input says what to start; a line on its output names the process.
`{"kill": pid}` kills one and answers when it is gone. Sensors may come from a file.
"""

from __future__ import annotations

import json
import logging
import os
import signal
import subprocess
import sys
import traceback
from datetime import time
from pathlib import Path
from typing import Any


class FileSensors:
    """Sensors whose readings a test writes into a file."""

    def __init__(self, path: str) -> None:
        self._path = Path(path)

    def _read(self, name: str) -> Any:
        return json.loads(self._path.read_text()).get(name) if self._path.name else None

    def idle_seconds(self) -> float | None:
        return self._read("idle_seconds")  # type: ignore[no-any-return]

    def on_battery(self) -> bool | None:
        return self._read("on_battery")  # type: ignore[no-any-return]

    def load_by_others(self) -> float | None:
        return self._read("load_by_others")  # type: ignore[no-any-return]

    def temperature(self) -> float | None:
        return self._read("temperature")  # type: ignore[no-any-return]

    def local_time(self) -> time:
        return time.fromisoformat(self._read("local_time") or "12:00")


class Forker:
    """The test's side of it."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def start(self, **wanted: Any) -> int:
        """A new client; its process id."""
        return int(self._ask(wanted))

    def kill(self, pid: int) -> None:
        """kill -9, and wait until it is gone."""
        self._ask({"kill": pid})

    def __enter__(self) -> Forker:
        return self

    def __exit__(self, *_: object) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(120)
        assert self._process.stdout is not None
        self._process.stdout.close()

    def _ask(self, request: dict[str, Any]) -> str:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        assert answer, "the forker died"
        return answer


def live(wanted: dict[str, Any]) -> None:
    from zermelo.client import daemon
    from zermelo.client.preferences import Hours, Limits, Preferences
    from zermelo.client.settings import ClientSettings, ServerAddress

    def limits(fields: dict[str, Any]) -> Limits:
        if "hours" in fields:
            fields["hours"] = Hours.parse(fields["hours"])
        return Limits(**{"cores": 1, "memory_mb": 2, "priority": "low", **fields})

    folder = Path(wanted["folder"])
    folder.mkdir(exist_ok=True)
    logging.basicConfig(filename=folder / "log", level=logging.INFO, force=True)
    settings = ClientSettings(
        address=ServerAddress(wanted["server"]),
        data_dir=folder,
        preferences=Preferences(
            limits(wanted.get("in_use", {})), limits(wanted.get("idle", {})), idle_minutes=1.0
        ),
        quit_seconds=0.0,
        leave_seconds=120.0,
        checkpoint_seconds=wanted.get("checkpoint_seconds", 60.0),
        benchmark_seconds=0.02,
        durable=wanted.get("durable", True),
    )
    daemon.run(settings, FileSensors(wanted.get("sensors", "")))


def main() -> None:
    from zermelo.client import daemon  # noqa: F401

    running: set[int] = set()
    for line in sys.stdin:
        wanted = json.loads(line)
        if "kill" in wanted:
            end(wanted["kill"])
            running.remove(wanted["kill"])
            print("gone", flush=True)  # noqa: T201
            continue
        pid = os.fork()
        if pid == 0:
            code = 1
            try:
                os.dup2(2, 1)
                live(wanted)
                code = 0
            except BaseException:
                traceback.print_exc()
            finally:
                os._exit(code)
        running.add(pid)
        print(pid, flush=True)  # noqa: T201
    # A test that failed leaves nothing behind.
    for pid in running:
        end(pid)


def end(pid: int) -> None:
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)


if __name__ == "__main__":
    main()
