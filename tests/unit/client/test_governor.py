"""Preferences and sensors: when the client may work, how much, and what it says when not."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import time

import pytest

from zermelo.client.governor import Governor
from zermelo.client.preferences import Hours, Limits, PreferenceError, Preferences
from zermelo.client.sensors import SystemSensors

IN_USE = Limits(cores=1, memory_mb=10, cpu_share=0.5)
IDLE = Limits(cores=4, memory_mb=100)


@dataclass
class FakeSensors:
    idle: float | None = None
    battery: bool | None = None
    load: float | None = None
    degrees: float | None = None
    now: time = time(12, 0)

    def idle_seconds(self) -> float | None:
        return self.idle

    def on_battery(self) -> bool | None:
        return self.battery

    def load_by_others(self) -> float | None:
        return self.load

    def temperature(self) -> float | None:
        return self.degrees

    def local_time(self) -> time:
        return self.now


def test_in_use_and_idle_have_limits_of_their_own() -> None:
    sensors = FakeSensors(idle=0.0)
    governor = Governor(Preferences(IN_USE, IDLE, idle_minutes=3), sensors)
    allowance = governor.judge()
    assert (allowance.in_use, allowance.limits, allowance.workers) == (True, IN_USE, 1)
    sensors.idle = 179.0
    assert governor.judge().in_use
    sensors.idle = 180.0
    allowance = governor.judge()
    assert (allowance.in_use, allowance.limits, allowance.workers) == (False, IDLE, 4)
    # A computer that cannot tell, such as a server without a screen, is idle.
    sensors.idle = None
    assert not governor.judge().in_use


def test_no_cores_means_a_pause_with_a_reason() -> None:
    governor = Governor(Preferences(replace(IN_USE, cores=0), IDLE), FakeSensors(idle=1.0))
    allowance = governor.judge()
    assert allowance.workers == 0
    assert "no cores while the computer is in use" in allowance.reason


@pytest.mark.parametrize("idle", [0.0, 9999.0])
def test_battery(idle: float) -> None:
    sensors = FakeSensors(idle=idle, battery=True)
    never = Preferences(replace(IN_USE, on_battery=False), replace(IDLE, on_battery=False))
    assert Governor(never, sensors).judge().reason == "the computer runs on battery"
    assert Governor(Preferences(IN_USE, IDLE), sensors).judge().reason == ""
    for told in (False, None):
        sensors.battery = told
        assert Governor(never, sensors).judge().reason == ""


def test_hours_may_go_over_midnight() -> None:
    sensors = FakeSensors()
    night = Preferences.always(replace(IDLE, hours=Hours.parse("22:00-7:30")))
    governor = Governor(night, sensors)
    for now, works in (("21:59", False), ("22:00", True), ("03:00", True), ("07:30", False)):
        sensors.now = time.fromisoformat(now)
        assert (governor.judge().reason == "") == works, now
    assert "22:00-07:30" in governor.judge().reason


def test_hours_of_use_and_of_idleness_differ() -> None:
    sensors = FakeSensors(idle=0.0, now=time(12, 0))
    governor = Governor(Preferences(replace(IN_USE, hours=Hours.parse("18-24")), IDLE), sensors)
    assert governor.judge().workers == 0
    sensors.idle = 9999.0
    assert governor.judge().workers == 4


def test_heat_pauses_until_it_is_clearly_cooler() -> None:
    sensors = FakeSensors(degrees=80.0)
    governor = Governor(Preferences.always(replace(IDLE, max_temperature=80.0)), sensors)
    readings = [(80.0, False), (80.5, True), (79.0, True), (75.5, True), (75.0, False), (80, False)]
    for degrees, paused in readings:
        sensors.degrees = degrees
        assert bool(governor.judge().reason) == paused, degrees
    sensors.degrees = None
    assert governor.judge().reason == ""


def test_the_load_of_others_pauses_when_it_lasts() -> None:
    sensors = FakeSensors(load=0.1)
    governor = Governor(Preferences.always(replace(IDLE, load_by_others=0.5)), sensors)
    assert governor.judge().reason == ""
    sensors.load = 1.0
    # One busy second is not yet a reason.
    assert governor.judge().reason == ""
    reasons = [governor.judge().reason for _ in range(5)]
    assert reasons[-1].startswith("other programs use")
    # A little below the limit is not yet a reason to go on, either.
    sensors.load = 0.45
    assert all(governor.judge().reason for _ in range(40))
    sensors.load = 0.0
    assert any(not governor.judge().reason for _ in range(10))


@pytest.mark.parametrize("text", ["", "7", "7-", "25-3", "7:60-8", "8-8", "seven-eight"])
def test_nonsense_is_no_time_of_the_day(text: str) -> None:
    with pytest.raises(PreferenceError, match="22:00-07:00"):
        Hours.parse(text)


def test_the_sensors_of_this_computer_answer_in_range() -> None:
    sensors = SystemSensors()
    assert sensors.on_battery() in (True, False, None)
    idle = sensors.idle_seconds()
    assert idle is None or idle >= 0
    degrees = sensors.temperature()
    assert degrees is None or -50 < degrees < 150
    assert isinstance(sensors.local_time(), time)


def test_load_by_others_does_not_count_our_own_work() -> None:
    sensors = SystemSensors()
    total, own = iter([100.0, 104.0, 112.0]), iter([10.0, 14.0, 14.0])
    sensors._total_before, sensors._own_before = next(total), next(own)
    sensors._total_seconds = lambda: next(total)  # type: ignore[method-assign]
    sensors._own_seconds = lambda: next(own)  # type: ignore[method-assign]
    sensors._measured_at -= 4.0
    assert sensors.load_by_others() == 0.0
    sensors._measured_at -= 4.0
    load = sensors.load_by_others()
    assert load is not None
    assert load > 0
