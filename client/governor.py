"""How much the client may do right now, and why: preferences meet sensors."""

from __future__ import annotations

from dataclasses import dataclass

from zermelo.client.preferences import ALL_DAY, Limits, Preferences
from zermelo.client.sensors import Sensors

#: After a pause the load must fall to this share of its limit, and the temperature by
#: CALM_DEGREES, before work goes on: else the client would start and stop all the time.
CALM_SHARE = 0.8
CALM_DEGREES = 5.0
#: The share of the past in the average load, one reading a second.
MEMORY = 0.7


@dataclass(frozen=True, slots=True)
class Allowance:
    """What the client may do at the moment."""

    limits: Limits
    #: Whether somebody uses the computer.
    in_use: bool
    #: Why nothing may run; empty when something may.
    reason: str = ""

    @property
    def workers(self) -> int:
        return 0 if self.reason else self.limits.cores


class Governor:
    """Asks only the sensors that the preferences depend on."""

    def __init__(self, preferences: Preferences, sensors: Sensors) -> None:
        self._preferences = preferences
        self._sensors = sensors
        self._load: float | None = None
        self._too_busy = self._too_hot = False

    def prefer(self, preferences: Preferences) -> None:
        """Judge by other preferences from now on."""
        self._preferences = preferences

    def judge(self) -> Allowance:
        in_use = self._in_use()
        limits = self._preferences.in_use if in_use else self._preferences.idle
        where = "while the computer is in use" if in_use else "while the computer is idle"
        reason = ""
        if limits.cores == 0:
            reason = f"your preferences allow no cores {where}"
        for check in (self._hours, self._battery, self._temperature, self._other_load):
            # Every check sees every reading, so that none is out of date when it matters.
            found = check(limits)
            reason = reason or found
        return Allowance(limits, in_use, reason)

    def _in_use(self) -> bool:
        if self._preferences.in_use == self._preferences.idle:
            return False
        idle = self._sensors.idle_seconds()
        return idle is not None and idle < self._preferences.idle_minutes * 60

    def _hours(self, limits: Limits) -> str:
        if limits.hours == ALL_DAY or self._sensors.local_time() in limits.hours:
            return ""
        return f"your preferences allow work only at {limits.hours}"

    def _battery(self, limits: Limits) -> str:
        if limits.on_battery or not self._sensors.on_battery():
            return ""
        return "the computer runs on battery"

    def _temperature(self, limits: Limits) -> str:
        most = limits.max_temperature
        degrees = None if most is None else self._sensors.temperature()
        if most is None or degrees is None:
            self._too_hot = False
            return ""
        self._too_hot = degrees > (most - CALM_DEGREES if self._too_hot else most)
        return f"the computer is hot: {degrees:.0f} °C" if self._too_hot else ""

    def _other_load(self, limits: Limits) -> str:
        most = limits.load_by_others
        load = None if most is None else self._sensors.load_by_others()
        if most is None or load is None:
            self._too_busy = self._too_busy and most is not None
            return ""
        self._load = load if self._load is None else self._load * MEMORY + load * (1 - MEMORY)
        self._too_busy = self._load > (most * CALM_SHARE if self._too_busy else most)
        if not self._too_busy:
            return ""
        return f"other programs use {100 * self._load:.0f} % of the computer"
