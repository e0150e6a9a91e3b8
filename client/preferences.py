"""What the owner allows, separately for a computer in use and an idle one."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import time

from zermelo.client.settings import ClientError, usable_cores

#: From giving way to everything to giving way to nothing.
PRIORITIES = ("lowest", "low", "below-normal", "normal")
_HOURS = re.compile(r"([01]?\d|2[0-4])(?::([0-5]\d))?-([01]?\d|2[0-4])(?::([0-5]\d))?")
_DAY = 24 * 60
DEFAULT_HASH_MB = 64


class PreferenceError(ClientError, ValueError):
    """A preference makes no sense; the message says which value and what is possible."""

    exit_code = 2


@dataclass(frozen=True, slots=True)
class Hours:
    """A part of the day, also over midnight; the default is all of it."""

    begin: int = 0
    end: int = _DAY

    @classmethod
    def parse(cls, text: str) -> Hours:
        """From ``22-7`` or ``08:30-17:00``."""
        matched = _HOURS.fullmatch(text.strip())
        if matched is None:
            raise PreferenceError(f"{text!r} are no hours; write them like 22:00-07:00")
        begin, end = (int(matched[at]) * 60 + int(matched[at + 1] or 0) for at in (1, 3))
        if begin > _DAY or end > _DAY or begin == end:
            raise PreferenceError(f"{text!r} are no hours; write them like 22:00-07:00")
        return cls(begin, end)

    def __contains__(self, moment: time) -> bool:
        minute = moment.hour * 60 + moment.minute
        if self.begin < self.end:
            return self.begin <= minute < self.end
        return minute >= self.begin or minute < self.end

    def __str__(self) -> str:
        begin, end = (f"{at // 60:02d}:{at % 60:02d}" for at in (self.begin, self.end))
        return f"{begin}-{end}"


ALL_DAY = Hours()


@dataclass(frozen=True, slots=True)
class Limits:
    """What the client may use. `None` means: no limit."""

    #: Searches at the same time, each on a core of its own; 0 for none at all.
    cores: int
    #: Share of the time that each search runs, above 0 to 1.
    cpu_share: float = 1.0
    #: For the tables of all searches together.
    memory_mb: int = 0
    on_battery: bool = True
    hours: Hours = ALL_DAY
    #: Pause while other programs use more than this share of the whole computer.
    load_by_others: float | None = None
    #: Pause while the computer is hotter, in degrees Celsius.
    max_temperature: float | None = None
    priority: str = "lowest"

    @property
    def hash_mb(self) -> int:
        """The table of one search."""
        return max(1, self.memory_mb // max(1, self.cores))


@dataclass(frozen=True, slots=True)
class Preferences:
    in_use: Limits
    idle: Limits
    #: Without keyboard, mouse or terminal for so long, the computer is idle.
    idle_minutes: float = 3.0

    @classmethod
    def default(cls, cores: int | None = None, memory_mb: int | None = None) -> Preferences:
        """Everything while the computer is idle, half of it beside its owner."""
        cores = cores or usable_cores()
        memory_mb = memory_mb or cores * DEFAULT_HASH_MB
        half = max(1, cores // 2)
        return cls(
            in_use=Limits(
                cores=half,
                # The same, because another size means new workers.
                memory_mb=memory_mb,
                on_battery=False,
                load_by_others=0.5,
                max_temperature=85.0,
            ),
            idle=Limits(
                cores=cores, memory_mb=memory_mb, on_battery=False, max_temperature=90.0
            ),
        )

    @classmethod
    def always(cls, limits: Limits) -> Preferences:
        """The same whether the computer is in use or not."""
        return cls(limits, limits)

    @property
    def workers(self) -> int:
        """Worker processes that these preferences can ever occupy."""
        return max(self.in_use.cores, self.idle.cores)

