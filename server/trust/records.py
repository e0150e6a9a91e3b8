"""What hosts have earned with their answers, and how they lose it."""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Iterable, Sequence

from zermelo.server.database import Connection
from zermelo.server.listening import notify
from zermelo.server.trust.audit import record
from zermelo.server.trust.voting import STRANGERS
from zermelo.server.vocabulary import Channel
from zermelo.sql import query

log = logging.getLogger(__name__)

#: A host is trusted after this many answers in a row that others confirmed.
TRUSTED_AFTER = 60
#: At least this share of a trusted host's answers is checked.
LEAST_CHECKED = 0.04
#: What the quota of a host may grow to.
MOST_LEASES = 1024
#: What the quota of a user, for all its hosts together, may grow and shrink to.
MOST_LEASES_OF_USER = 65_536
LEAST_LEASES_OF_USER = 16


def confirm(connection: Connection, answers: Iterable[tuple[int, float, float]]) -> None:
    """Answers that others confirmed, as (host, effort, seconds): the records grow."""
    told: dict[int, list[float]] = defaultdict(lambda: [0, 0.0, 0.0])
    for host, effort, seconds in answers:
        for at, more in enumerate((1, effort, seconds)):
            told[host][at] += more
    hosts = sorted(told)
    if hosts:
        connection.execute(
            query("note_confirmed"),
            {
                "hosts": hosts, "most": MOST_LEASES, "trusted_after": TRUSTED_AFTER,
                "most_of_user": MOST_LEASES_OF_USER,
                "answers": [int(told[host][0]) for host in hosts],
                "nodes": [told[host][1] for host in hosts],
                "seconds": [told[host][2] for host in hosts],
            },
        )  # fmt: skip


def note_errors(connection: Connection, hosts: Sequence[int]) -> None:
    """Bad answers: the records of these hosts end, quotas shrink, and they get no work a while."""
    connection.execute(
        query("note_errors"), {"hosts": list(hosts), "least": LEAST_LEASES_OF_USER}
    )


def convict(
    connection: Connection, hosts: Sequence[int], actor: str = "validator", detail: str = ""
) -> int:
    """Hosts that lied: their records end, and what rests on their word is doubted."""
    note_errors(connection, hosts)
    connection.execute(query("revoke_partial_credit"), {"hosts": list(hosts)})
    rows = connection.execute(
        query("doubt_results"),
        {"hosts": list(hosts), "trusted_after": TRUSTED_AFTER, "strangers": STRANGERS},
    ).fetchall()
    doubted: int = sum(count for _, count in rows)
    for host in hosts:
        record(connection, actor, "convict", f"host {host}", detail or "outvoted")
    for campaign, _ in rows:
        notify(connection, Channel.VALID, campaign)
    log.warning("hosts %s gave bad answers; %d results are in doubt", list(hosts), doubted)
    return doubted
