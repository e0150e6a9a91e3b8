"""The record of whoever overruled something: operators by name, services by what they are."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

from zermelo.server.database import Connection
from zermelo.sql import query


class Action(NamedTuple):
    id: int
    at: datetime
    actor: str
    action: str
    #: What it was done to, such as ``host 17``.
    subject: str
    detail: str


def record(
    connection: Connection, actor: str, action: str, subject: str, detail: str = ""
) -> None:
    """Write a line; in the transaction of what it tells about, so that neither is alone."""
    connection.execute(
        query("record_action"),
        {"actor": actor, "action": action, "subject": subject, "detail": detail},
    )


def actions(connection: Connection, subject: str | None = None, most: int = 100) -> list[Action]:
    """The latest first; of one subject or of all."""
    rows = connection.execute(query("list_audit"), {"subject": subject, "most": most})
    return [Action(*row) for row in rows]
