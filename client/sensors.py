"""What the computer tells about itself. Whatever it does not tell is None.

`Sensors` is the interface; tests put their own in its place.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import time
from datetime import datetime
from datetime import time as time_of_day
from pathlib import Path
from typing import Protocol

import psutil

LOGIND_SECONDS = 10.0
COMMAND_SECONDS = 2.0


class Sensors(Protocol):
    def idle_seconds(self) -> float | None:
        """How long nobody has touched keyboard, mouse or terminal."""

    def on_battery(self) -> bool | None:
        """Whether the computer runs on its battery."""

    def load_by_others(self) -> float | None:
        """Share of all cores that other programs used since the last time, 0 to 1."""

    def temperature(self) -> float | None:
        """The hottest processor sensor, in degrees Celsius."""

    def local_time(self) -> time_of_day:
        """The time of the day where the computer stands."""


class SystemSensors:
    """The sensors of this computer."""

    def __init__(self) -> None:
        self._total_before = self._total_seconds()
        self._own_before = self._own_seconds()
        self._measured_at = time.monotonic()
        #: For each terminal when it was last used, by its own clock, and since when we know it.
        self._used: dict[str, tuple[float, float]] = {}
        self._session_idle: float | None = None
        self._session_asked_at = -LOGIND_SECONDS

    def idle_seconds(self) -> float | None:
        sources = (self._terminals_idle(), self._desktop_idle())
        return min((idle for idle in sources if idle is not None), default=None)

    def on_battery(self) -> bool | None:
        battery = psutil.sensors_battery() if hasattr(psutil, "sensors_battery") else None
        if battery is None or battery.power_plugged is None:
            return None
        return not battery.power_plugged

    def load_by_others(self) -> float | None:
        total, own, now = self._total_seconds(), self._own_seconds(), time.monotonic()
        passed = now - self._measured_at
        if passed < 0.1:
            return None
        others = (total - self._total_before) - max(0.0, own - self._own_before)
        self._total_before, self._own_before, self._measured_at = total, own, now
        return max(0.0, min(1.0, others / passed / (psutil.cpu_count() or 1)))

    def temperature(self) -> float | None:
        if not hasattr(psutil, "sensors_temperatures"):
            return None
        readings = psutil.sensors_temperatures()
        named = [name for name in ("coretemp", "k10temp", "zenpower", "cpu_thermal")
                 if name in readings]
        hottest = [item.current for name in named or readings for item in readings[name]
                   if item.current]
        return max(hottest, default=None)

    def local_time(self) -> time_of_day:
        return datetime.now().astimezone().time()

    # -- processor time ---------------------------------------------------------------

    @staticmethod
    def _total_seconds() -> float:
        times = psutil.cpu_times()
        # Time that a virtual machine's guests used is in `user` already.
        return sum(
            getattr(times, kind, 0.0)
            for kind in ("user", "system", "nice", "irq", "softirq", "steal")
        )

    @staticmethod
    def _own_seconds() -> float:
        seconds = 0.0
        me = psutil.Process()
        for process in [me, *me.children(recursive=True)]:
            try:
                times = process.cpu_times()
            except psutil.Error:
                continue
            seconds += times.user + times.system
        return seconds

    # -- idleness ---------------------------------------------------------------------

    def _terminals_idle(self) -> float | None:
        """A terminal's device is read whenever somebody types."""
        idle: list[float] = []
        for user in psutil.users():
            if user.terminal:
                try:
                    used = (Path("/dev") / user.terminal).stat().st_atime
                except OSError:
                    continue
                idle.append(self._idle_since(user.terminal, used))
        return min(idle, default=None)

    def _idle_since(self, terminal: str, used: float) -> float:
        """How long a terminal was not used, whatever happens to the clock meanwhile.

        Its time of use is compared with the clock once; after that only its change counts.
        """
        now = time.monotonic()
        before = self._used.get(terminal)
        if before is None:
            self._used[terminal] = used, now - max(0.0, time.time() - used)
        elif before[0] != used:
            self._used[terminal] = used, now
        return now - self._used[terminal][1]

    def _desktop_idle(self) -> float | None:
        """What the desktop says; asked seldom, because it takes a process to ask."""
        now = time.monotonic()
        if now - self._session_asked_at >= LOGIND_SECONDS:
            self._session_asked_at = now
            self._session_idle = _mac_idle() if sys.platform == "darwin" else _logind_idle()
        elif self._session_idle is not None:
            return self._session_idle + now - self._session_asked_at
        return self._session_idle


def _logind_idle() -> float | None:
    """Since when the sessions of this user are idle, as systemd-logind knows it."""
    text = _output("loginctl", "show-user", str(os.getuid()), "-p", "IdleHint",
                   "-p", "IdleSinceHintMonotonic")  # fmt: skip
    facts = dict(line.split("=", 1) for line in text.splitlines() if "=" in line)
    if facts.get("IdleHint") == "no":
        return 0.0
    since = facts.get("IdleSinceHintMonotonic", "")
    if facts.get("IdleHint") == "yes" and since.isdigit() and int(since):
        return max(0.0, time.monotonic() - int(since) / 1e6)
    return None


def _mac_idle() -> float | None:
    found = re.search(r'"HIDIdleTime" = (\d+)', _output("ioreg", "-c", "IOHIDSystem"))
    return int(found[1]) / 1e9 if found else None


def _output(command: str, *arguments: str) -> str:
    path = shutil.which(command)
    if path is None:
        return ""
    try:
        return subprocess.run(  # noqa: S603
            [path, *arguments], capture_output=True, text=True, timeout=COMMAND_SECONDS, check=False
        ).stdout
    except (OSError, subprocess.TimeoutExpired):
        return ""
