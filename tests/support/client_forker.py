"""Clients that start within milliseconds and can be killed; their sensors may come from a file."""

from __future__ import annotations

import json
import logging
import subprocess
from datetime import time
from pathlib import Path
from typing import Any

from tests.support.preloaded import Forked


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
    """The clients of one test, none of which outlives it."""

    def __init__(self) -> None:
        self._running: dict[int, Forked] = {}

    def start(self, **wanted: Any) -> int:
        """A new client; its process id."""
        process = Forked(f"{__name__}:live", wanted, stdout=subprocess.DEVNULL)
        self._running[process.pid] = process
        return process.pid

    def kill(self, pid: int) -> None:
        """kill -9, and wait until it is gone."""
        process = self._running.pop(pid)
        process.kill()
        process.wait(120)

    def __enter__(self) -> Forker:
        return self

    def __exit__(self, *_: object) -> None:
        for pid in list(self._running):
            self.kill(pid)


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
