"""Teams: founded, joined, left and described by volunteers.

Credit counts for the team that a user is in when it is granted; whoever changes the team leaves
earlier credit there.
"""

from __future__ import annotations

from typing import NamedTuple

from zermelo.server.database import Connection
from zermelo.server.trust.accounts import AccountError, UserId, checked_own_name, team_look
from zermelo.server.trust.looks import look_of
from zermelo.sql import query

LONGEST_DESCRIPTION = 500


class Membership(NamedTuple):
    team: int
    name: str
    founder: UserId | None


def team_of(connection: Connection, user: UserId) -> Membership | None:
    row = connection.execute(query("team_of"), {"user": user}).fetchone()
    return Membership(*row) if row else None


def found_team(connection: Connection, user: UserId, name: str, description: str = "") -> str:
    """A new team with this founder; its name, normalised."""
    name = checked_own_name(name, "team")
    with connection.transaction():
        connection.execute(query("lock_looks"), {"looks": [team_look(name)]})
        row = connection.execute(
            query("found_team"),
            {
                "name": name, "look": look_of(name), "user": user,
                "description": _checked_description(description),
            },
        ).fetchone()  # fmt: skip
        if row is None:
            raise AccountError(
                f"there is a team {name!r} already, or one that looks the same; join it, or choose"
                " another name"
            )
        leave_team(connection, user)
        connection.execute(query("enter_team"), {"user": user, "team": row[0]})
    return name


def join_team(connection: Connection, user: UserId, name: str) -> str:
    """Work for a team from now on."""
    with connection.transaction():
        row = connection.execute(query("find_team"), {"name": name}).fetchone()
        if row is None:
            raise AccountError(f"there is no team {name!r}; `zermelo client team list` names them")
        team, founder = row
        before = team_of(connection, user)
        if before is not None and before.team == team:
            raise AccountError(f"you are in the team {name!r} already")
        leave_team(connection, user)
        connection.execute(query("enter_team"), {"user": user, "team": team})
        if founder is None:  # everybody had left
            connection.execute(query("set_founder"), {"user": user, "team": team})
    return name


def leave_team(connection: Connection, user: UserId) -> str:
    """Work for no team from now on; the team that was left, empty without one."""
    with connection.transaction():
        before = team_of(connection, user)
        if before is None:
            return ""
        connection.execute(query("enter_team"), {"user": user, "team": None})
        connection.execute(query("pass_on_team"), {"user": user, "team": before.team})
    return before.name


def describe_team(connection: Connection, user: UserId, description: str) -> str:
    """Say what the founder's team is about."""
    description = _checked_description(description)
    before = team_of(connection, user)
    if before is None:
        raise AccountError("you are in no team; found one or join one")
    row = connection.execute(
        query("describe_team"), {"user": user, "team": before.team, "description": description}
    ).fetchone()
    if row is None:
        raise AccountError(f"only the founder describes the team {before.name!r}")
    return before.name


def _checked_description(text: str) -> str:
    text = text.strip()
    if not text.isprintable() or len(text.encode()) > LONGEST_DESCRIPTION:
        raise AccountError(
            f"a description is one line of printable text, at most {LONGEST_DESCRIPTION} bytes"
        )
    return text
