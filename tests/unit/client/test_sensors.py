"""How long nobody has touched a terminal, also when the clock is set meanwhile."""

from __future__ import annotations

from types import SimpleNamespace

import psutil
import pytest

from tests.support.clocks import replace_in
from zermelo.client import sensors
from zermelo.client.sensors import SystemSensors


class Terminal:
    """The one terminal of this computer, last used by its own clock."""

    def __init__(self) -> None:
        self.used = 0.0

    def __truediv__(self, name: str) -> Terminal:
        return self

    def stat(self) -> SimpleNamespace:
        return SimpleNamespace(st_atime=self.used)


class Clock:
    def __init__(self) -> None:
        self.wall, self.steady = 1e9, 100.0

    def time(self) -> float:
        return self.wall

    def monotonic(self) -> float:
        return self.steady

    def pass_by(self, seconds: float) -> None:
        self.wall += seconds
        self.steady += seconds


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    replace_in(monkeypatch, sensors, "time", time=clock.time, monotonic=clock.monotonic)
    return clock


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    terminal = Terminal()
    monkeypatch.setattr(psutil, "users", lambda: [SimpleNamespace(terminal="tty1")])
    monkeypatch.setattr(sensors, "Path", lambda _: terminal)
    monkeypatch.setattr(sensors, "_logind_idle", lambda: None)
    monkeypatch.setattr(sensors, "_mac_idle", lambda: None)
    return terminal


@pytest.mark.parametrize("jump", [0.0, 6 * 3600.0, -6 * 3600.0])
def test_idleness_does_not_follow_a_clock_that_is_set(
    clock: Clock, terminal: Terminal, jump: float
) -> None:
    system = SystemSensors()
    terminal.used = clock.wall - 60
    assert system.idle_seconds() == pytest.approx(60)
    clock.pass_by(10)
    clock.wall += jump
    assert system.idle_seconds() == pytest.approx(70)
    terminal.used = clock.wall  # somebody types, by the new clock
    assert system.idle_seconds() == pytest.approx(0)
    clock.pass_by(5)
    assert system.idle_seconds() == pytest.approx(5)
