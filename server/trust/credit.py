"""Credit for validated work, in nodes as the cost model expected them.

No number that a client claims enters: the same answer is worth the same to everybody.
Long work that ended without a result, because nobody needed it any more or because the
client handed it back, earns a part: docs/security.md says why that cannot be inflated.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

from zermelo.server.database import Connection
from zermelo.server.trust import records
from zermelo.sql import query

#: What may be granted without a result, as a share of what was granted for results.
PARTIAL_SHARE = 0.25


def grant(connection: Connection, efforts: Iterable[tuple[int, float]]) -> None:
    """Add what answers are worth, given as (host, nodes), to the sums of their hosts."""
    nodes: dict[int, float] = defaultdict(float)
    count: dict[int, int] = defaultdict(int)
    for host, effort in efforts:
        nodes[host] += effort
        count[host] += 1
    if nodes:
        connection.execute(
            query("grant_credit"),
            {
                "hosts": list(nodes), "nodes": list(nodes.values()),
                "results": [count[host] for host in nodes],
            },
        )  # fmt: skip


def grant_partial(connection: Connection, leases: Sequence[int]) -> None:
    """Credit for the work of leases that have just ended without a result."""
    if leases:
        connection.execute(
            query("grant_partial_credit"),
            {
                "leases": list(leases), "trusted_after": records.TRUSTED_AFTER,
                "share": PARTIAL_SHARE, "month": datetime.now(UTC).date().replace(day=1),
            },
        )  # fmt: skip
