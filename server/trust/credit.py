"""Credit for validated work, in nodes as the cost model expected them.

No number that a client claims enters: the same answer is worth the same to everybody.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from zermelo.server.database import Connection
from zermelo.sql import query


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
