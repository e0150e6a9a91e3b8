"""What hosts have earned with their answers, and how they lose it."""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from zermelo.server.database import Connection
from zermelo.server.listening import notify
from zermelo.server.trust.audit import record
from zermelo.server.trust.voting import STRANGERS
from zermelo.server.vocabulary import Channel
from zermelo.sql import query

log = logging.getLogger(__name__)

#: A host is trusted when others confirmed the work of this many typical workunits in a row.
TRUSTED_AFTER = 12
#: No answer counts as more typical workunits than this, so that a record takes several; on
#: probation and later as one, so that it takes as many checks.
MOST_SHARE = 3.0
#: Nobody is believed alone about more than this many times the work behind the record. To be asked
#: one certain question takes more honest work than that: bench/trust.py.
MOST_STAKES = 8.0
#: Then it is on probation until PROBATION more are confirmed, and this share of its answers is
#: checked: who waits only for trust, to lie, is soon found, and so is who lies one time in ten.
PROBATION = 12
CHECKED_ON_PROBATION = 0.75
#: From then on at least this share is.
LEAST_CHECKED = 0.025
#: Of `exhausted` answers this share is, of a trusted host and of one that is not: they prove
#: nothing, but are the cheapest to invent, and the dearest to check.
LEAST_CHECKED_EXHAUSTED = 0.03
CHECKED_EXHAUSTED_OF_STRANGERS = 0.3
#: Answers `exhausted` that others refuted by answering within the same budget are an error when
#: they are more than TOLERATED_REFUTED and this share of those that were compared. (Of honest
#: ones at most 1.1 % were, by a search that had a warm table: bench/exhausted.py.)
TOLERATED_REFUTED = 3
TOLERATED_SHARE = 0.1
#: Leases that a host ended without a result cost its record when they are more than
#: TOLERATED_ABANDONED and this share of its results.
TOLERATED_ABANDONED = 32
ABANDONED_SHARE = 0.2
#: What the quota of a host may grow to.
MOST_LEASES = 1024
#: What the quota of a user, for all its hosts together, may grow and shrink to.
MOST_LEASES_OF_USER = 65_536
LEAST_LEASES_OF_USER = 16


class Users(NamedTuple):
    """How many users there are, by how far they are trusted."""

    active: int
    #: Halfway to being trusted.
    tried: int
    trusted: int
    #: Whether a referee is at work.
    refereed: bool


def count_users(connection: Connection) -> Users:
    """Accounts cost nothing, so idle ones do not count; trusted ones may sleep a day."""
    row = connection.execute(
        query("count_users"),
        {"trusted_after": TRUSTED_AFTER, "tried_after": TRUSTED_AFTER // 2},
    ).fetchone()
    return Users(*row) if row else Users(0, 0, 0, refereed=False)


def check_rate(streak: int) -> float:
    """How likely a yes or no is checked by another user, by the record of its host."""
    if streak < TRUSTED_AFTER:
        return 1.0
    if streak < TRUSTED_AFTER + PROBATION:
        return CHECKED_ON_PROBATION
    return LEAST_CHECKED


def most_share(streak: int) -> float:
    """As how many typical workunits a confirmed answer counts at most."""
    return MOST_SHARE if streak < TRUSTED_AFTER else 1.0


class Confirmed(NamedTuple):
    """A yes or no that others confirmed."""

    host: int
    #: The work in it, in typical workunits, and in nodes.
    work: float
    effort: float
    seconds: float


class Shown(NamedTuple):
    """An exhausted answer, and whether another's answer shows that it is honest."""

    lease: int
    host: int
    before: bool | None
    honest: bool


def confirm(connection: Connection, answers: Iterable[Confirmed]) -> None:
    """Answers that others confirmed: the records grow."""
    told: dict[int, list[float]] = defaultdict(lambda: [0, 0.0, 0.0, 0.0])
    for host, *work in answers:
        for at, more in enumerate((1, *work)):
            told[host][at] += more
    hosts = sorted(told)
    if hosts:
        connection.execute(
            query("note_confirmed"),
            {
                "hosts": hosts, "most": MOST_LEASES, "trusted_after": TRUSTED_AFTER,
                "most_of_user": MOST_LEASES_OF_USER,
                "answers": [int(told[host][0]) for host in hosts],
                "work": [told[host][1] for host in hosts],
                "nodes": [told[host][2] for host in hosts],
                "seconds": [told[host][3] for host in hosts],
            },
        )  # fmt: skip


def note_exhausted(connection: Connection, answers: Sequence[Shown]) -> None:
    """Exhausted answers that others confirmed or refuted; too many refuted ones are an error.

    Nothing in the tree rests on `exhausted`, so nothing is taken out of it.
    """
    if not answers:
        return
    told: dict[int, list[int]] = defaultdict(lambda: [0, 0])
    for answer in answers:
        told[answer.host][0] += (1 if answer.honest else 0) - (1 if answer.before else 0)
        told[answer.host][1] += 0 if answer.honest else 1
    hosts = sorted(told)
    rows = connection.execute(
        query("note_exhausted"),
        {
            "leases": [answer.lease for answer in answers],
            "honest": [answer.honest for answer in answers],
            "hosts": hosts,
            "confirmed": [told[host][0] for host in hosts],
            "refuted": [told[host][1] for host in hosts],
            "tolerated": TOLERATED_REFUTED, "share": TOLERATED_SHARE,
        },
    ).fetchall()  # fmt: skip
    lazy = [host for (host,) in rows]
    if lazy:
        note_errors(connection, lazy)
        for host in lazy:
            record(connection, "validator", "distrust", f"host {host}",
                   "others answer what it calls exhausted")
        log.warning("hosts %s gave up what others answer within the same budget", lazy)


def note_errors(connection: Connection, hosts: Sequence[int]) -> None:
    """Bad answers: the records of these hosts end, quotas shrink, and they get no work a while."""
    connection.execute(
        query("note_errors"), {"hosts": list(hosts), "least": LEAST_LEASES_OF_USER}
    )


def convict(
    connection: Connection, hosts: Sequence[int], actor: str = "validator", detail: str = "",
    ban: int | None = None,
) -> int:  # fmt: skip
    """Hosts that are not believed: their records end, and what rests on their word is doubted.

    What is taken so is noted in the `ban`, if it is one.
    """
    note_errors(connection, hosts)
    connection.execute(query("revoke_partial_credit"), {"hosts": list(hosts)})
    rows = connection.execute(query("doubt_results"), {**doubting(hosts), "ban": ban}).fetchall()
    doubted: dict[int, int] = defaultdict(int)
    credits, results = dict.fromkeys(hosts, 0.0), dict.fromkeys(hosts, 0)
    for campaign, host, in_doubt, granted, paid in rows:
        doubted[campaign] += in_doubt
        if host in results:  # others keep what they were granted
            credits[host] += granted
            results[host] += paid
    connection.execute(
        query("revoke_credit"),
        {
            "hosts": list(results), "credits": list(credits.values()),
            "results": list(results.values()),
        },
    )  # fmt: skip
    for host in hosts:
        record(connection, actor, "convict", f"host {host}", detail or "outvoted")
    for campaign, count in doubted.items():
        if count:
            notify(connection, Channel.VALID, campaign)
    return sum(doubted.values())


def doubting(hosts: Sequence[int]) -> dict[str, object]:
    """What the queries need to know that tell what rests on the word of hosts."""
    return {"hosts": list(hosts), "trusted_after": TRUSTED_AFTER, "strangers": STRANGERS}
