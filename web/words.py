"""How templates write numbers, times and names."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote

from markupsafe import Markup, escape

from zermelo.figures import clock, share, short, short_time, signed, span
from zermelo.texts import harmless, one_line

#: Longer names are cut.
LONGEST_NAME = 60


def number(value: float) -> str:
    """With commas: 1,234,567."""
    return f"{value:,.0f}"


def moment(at: datetime) -> Markup:
    """A time that programs can read and people understand everywhere."""
    utc = at.astimezone(UTC)
    return Markup('<time datetime="{}">{}</time>').format(
        utc.isoformat(timespec="seconds"), f"{utc:%Y-%m-%d %H:%M:%S} UTC"
    )


def brief_moment(at: datetime) -> Markup:
    """The same in a table: the time of today, else the day; all of it where one points."""
    utc, now = at.astimezone(UTC), datetime.now(UTC)
    if utc.date() == now.date():
        text = f"{utc:%H:%M:%S}"
    else:
        text = f"{utc.day} {utc:%b %H:%M}" if utc.year == now.year else f"{utc:%Y-%m-%d}"
    return Markup('<time datetime="{}" title="{}">{}</time>').format(
        utc.isoformat(timespec="seconds"), f"{utc:%Y-%m-%d %H:%M:%S} UTC", text
    )


def person(name: str) -> Markup:
    """The name that somebody gave, whatever it is made of."""
    return Markup("<bdi>{}</bdi>").format(one_line(name, LONGEST_NAME) or "?")


def state_mark(state: Any) -> Markup:
    """Proved, bounded or unknown, told apart by shape, colour and word."""
    return Markup('<span class="state {0}">{0}</span>').format(escape(str(state)))


def path_part(text: str) -> str:
    """For one part of an address, slashes included: names of campaigns have them."""
    return quote(text, safe="/:,@=")


def as_shown(value: Any) -> Any:
    """What a template writes: texts lose what could steer a reader or cover other lines."""
    return harmless(value) if type(value) is str else value


FILTERS: dict[str, Callable[..., Any]] = {
    "brief_moment": brief_moment, "clock": clock, "moment": moment, "number": number,
    "path_part": path_part, "person": person, "share": share, "short": short,
    "short_time": short_time, "signed": signed, "span": lambda bounds: span(*bounds),
    "state_mark": state_mark,
}  # fmt: skip
