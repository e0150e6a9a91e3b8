"""What operators decide about the project as a whole, and look at: registration, the notice to
volunteers, alarms, and what waits for which service."""

from __future__ import annotations

import re
from typing import NamedTuple
from urllib.parse import urlsplit

from zermelo import ZermeloError
from zermelo.server.database import Connection
from zermelo.server.trust.audit import record
from zermelo.sql import query

_SETTABLE = ("registration_open", "notice", "web_url")
_HOST = re.compile(r"[A-Za-z0-9.\-\[\]:]+")


class ProjectError(ZermeloError, ValueError):
    """The project cannot be set so; the message says why."""

    exit_code = 2


class Project(NamedTuple):
    registration_open: bool
    #: What all volunteers are told; usually empty.
    notice: str
    #: Where the pages are; empty where there are none.
    web_url: str


def show_project(connection: Connection) -> Project:
    row = connection.execute(query("show_project")).fetchone()
    return Project(*row) if row else Project(True, "", "")


def set_project(
    connection: Connection,
    *,
    registration_open: bool | None = None,
    notice: str | None = None,
    web_url: str | None = None,
    reason: str = "",
    actor: str,
) -> Project:
    """Change what is given; what the project is now."""
    if notice is not None and not notice.isprintable():
        raise ProjectError("a notice is one line of printable text")
    if web_url:
        web_url = _checked_url(web_url)
    given = dict(zip(_SETTABLE, (registration_open, notice, web_url), strict=True))
    with connection.transaction():
        connection.execute(query("set_project"), given)
        for name, value in given.items():
            if value is not None:
                detail = f"{value}: {reason}" if reason else str(value)
                record(connection, actor, f"set {name.replace('_', ' ')}", "project", detail)
    return show_project(connection)


def settle_alarm(connection: Connection, alarm: int, reason: str, *, actor: str) -> None:
    """Note that somebody looked into an alarm, and what came of it."""
    with connection.transaction():
        settled = connection.execute(
            query("settle_alarm"), {"alarm": alarm, "actor": actor, "reason": reason}
        ).fetchone()
        if settled is None:
            found = connection.execute(query("find_alarm"), {"alarm": alarm}).fetchone()
            if found is None:
                raise ProjectError(f"there is no alarm {alarm}; see `zermelo admin alarms`")
            raise ProjectError(f"alarm {alarm} was settled by {found[0] or 'somebody'} already")
        record(connection, actor, "settle", f"alarm {alarm}", reason)


def _checked_url(text: str) -> str:
    """An address that a link can begin with."""
    try:
        parts = urlsplit(text)
        good = parts.scheme in ("http", "https") and bool(parts.hostname)
    except ValueError:
        good = False
    if not good or not _HOST.fullmatch(parts.netloc) or parts.query or parts.fragment:
        raise ProjectError(f"{text!r} is no address of pages, such as https://example.org")
    return text.rstrip("/")
