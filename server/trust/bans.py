"""Bans: what one would take, taking it, and giving back what it took.

A ban of a user is a ban of the account and of all hosts. What it takes is written down, so
that lifting it brings back what can be brought back soundly: the records of the hosts and the
credit on their word at once, their results by way of the validator, which judges them anew.
What others had agreed to, or found with the help of those results, is asked again where it is
needed.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from zermelo import ZermeloError
from zermelo.server.campaigns import find_campaign
from zermelo.server.database import Connection
from zermelo.server.listening import notify
from zermelo.server.trust.accounts import UserId, forget_accounts, user_id
from zermelo.server.trust.audit import record
from zermelo.server.trust.records import convict, doubting
from zermelo.server.trust.retraction import retract_doubted
from zermelo.server.vocabulary import Channel
from zermelo.sql import query

log = logging.getLogger(__name__)


class BanError(ZermeloError, ValueError):
    """There is nobody to ban, or no ban to lift."""

    exit_code = 2


class Banned(NamedTuple):
    """Whom a ban concerns: a host of a user, or (without a host) the user with all hosts."""

    user: UserId
    name: str
    host: int | None
    hosts: list[int]

    @property
    def subject(self) -> str:
        return f"user {self.name}" if self.host is None else f"host {self.host}"


@dataclass(frozen=True, slots=True)
class Preview:
    """What a ban would take; credit in millions of nodes."""

    user: str
    hosts: int
    open_leases: int
    results: int
    results_of_others: int
    bounds: int
    credit: float
    credit_lost: float


def host_to_ban(connection: Connection, host: int) -> Banned:
    row = connection.execute(query("owner_of_host"), {"host": host}).fetchone()
    if row is None:
        raise BanError(f"there is no host {host}; see `zermelo admin hosts`")
    return Banned(row[0], row[1], host, [host])


def user_to_ban(connection: Connection, name: str) -> Banned:
    user = user_id(connection, name)
    rows = connection.execute(query("hosts_of_user"), {"user": user})
    return Banned(user, name, None, [row[0] for row in rows])


def preview(connection: Connection, banned: Banned) -> Preview:
    """What a ban would take now. Nothing is changed, and nobody waits for it."""
    _spare_referee(connection, banned)
    ((leases, own, of_others, bounds, credit, lost),) = connection.execute(
        query("preview_ban"), doubting(banned.hosts)
    ).fetchall()
    return Preview(
        banned.name, len(banned.hosts), leases, own, of_others, bounds, credit, lost
    )


def ban(connection: Connection, banned: Banned, reason: str, *, actor: str) -> int:
    """Refuse the calls and doubt all that was said; how many results are in doubt."""
    with connection.transaction():
        doubted = _ban(connection, banned, reason, actor)
        record(connection, actor, "ban", banned.subject, reason)
        forget_accounts(connection)
    log.info("%s is banned by %s; %d results are in doubt", banned.subject, actor, doubted)
    return doubted


def lift(connection: Connection, banned: Banned, reason: str, *, actor: str) -> int:
    """Let it call again with its former record; how many results are judged anew.

    `BanError` when it is not banned.
    """
    with connection.transaction():
        connection.execute(query("lock_hosts"), (banned.hosts,))
        if not _set_ban(connection, banned, on=False):
            raise BanError(f"{banned.subject} is not banned")
        judged = 0
        for number, results, quota in connection.execute(
            query("lift_bans"), {"user": banned.user, "host": banned.host}
        ).fetchall():
            connection.execute(query("return_records"), {"ban": number, "user_quota": quota})
            connection.execute(query("return_partial_credit"), {"ban": number})
            judged += _judge_again(connection, results)
        if judged:
            notify(connection, Channel.RESULTS)
        record(connection, actor, "unban", banned.subject, reason)
        forget_accounts(connection)
    return judged


def _ban(connection: Connection, banned: Banned, reason: str, actor: str) -> int:
    """How many results are in doubt."""
    hosts = banned.hosts
    _spare_referee(connection, banned)
    connection.execute(query("lock_hosts"), (hosts,))
    _set_ban(connection, banned, on=True)
    ((number,),) = connection.execute(
        query("record_ban"),
        {
            "host": banned.host, "user": banned.user, "hosts": hosts, "actor": actor,
            "reason": reason,
        },
    ).fetchall()  # fmt: skip
    if not hosts:
        return 0
    connection.execute(query("end_leases_of"), {"hosts": hosts})
    return convict(connection, hosts, actor, reason or "banned", ban=number)


def _spare_referee(connection: Connection, banned: Banned) -> None:
    referee = connection.execute(query("find_referee")).fetchone()
    if referee and referee[0] in banned.hosts:
        raise BanError(
            f"host {referee[0]} is the project's own referee, which makes no calls; "
            "`--referee-share 0` of the validator has it search no more"
        )


def _set_ban(connection: Connection, banned: Banned, *, on: bool) -> bool:
    """Whether there was anything to set."""
    if banned.host is None:
        cursor = connection.execute(query("set_user_ban"), {"user": banned.user, "banned": on})
    else:
        cursor = connection.execute(query("set_host_ban"), {"host": banned.host, "banned": on})
    return cursor.rowcount > 0


def _judge_again(connection: Connection, results: Sequence[int]) -> int:
    """Have the validator look at results that a ban took; how many can be judged."""
    wanted = {"results": list(results)}
    for (name,) in connection.execute(query("campaigns_in_doubt"), wanted).fetchall():
        campaign = find_campaign(connection, name)
        connection.execute(query("lock_tree"), (campaign.id,))
        retract_doubted(connection, campaign)
    return len(connection.execute(query("judge_again"), wanted).fetchall())
