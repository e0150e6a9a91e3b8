"""Who contributed is counted where results change, and agrees with all results at any moment."""

from __future__ import annotations

import random
from typing import Any

import zermelo
from tests.support.harness import Solve
from zermelo.research.replies import Contributor
from zermelo.server.campaigns import create_campaign
from zermelo.server.check import check_database
from zermelo.server.database import Connection
from zermelo.server.dropping import drop, remove_some
from zermelo.server.vocabulary import ResultState
from zermelo.sql import query

SPEC = "reversi:4x4"
#: The same, by reading every result.
COUNTED = """
    SELECT users.name, count(DISTINCT host), count(*),
           count(*) FILTER (WHERE state = 'assimilated'),
           count(*) FILTER (WHERE state IN ('invalid', 'quarantined')),
           coalesce(sum(nodes) FILTER (WHERE state = 'assimilated'), 0)::bigint,
           coalesce(sum(seconds), 0)::float8, max(received_at)
    FROM results JOIN hosts ON hosts.id = results.host JOIN users ON users.id = hosts.user_id
    WHERE campaign = %s GROUP BY users.id ORDER BY 6 DESC, 1
"""
CHECK = "check_contributions"


def half_solved(connection: Connection, name: str = SPEC) -> Solve:
    campaign = create_campaign(connection, SPEC, name=name, node_budget=40, replication="none")
    solve = Solve(connection, campaign, clients=3, users=True)
    for _ in range(6):
        solve.step()
    return solve


def contributors(database: str, campaign: str) -> list[Contributor]:
    with zermelo.open(database) as opened:
        return opened.campaign(campaign).contributors()


def violated(connection: Connection) -> list[tuple[Any, ...]]:
    return connection.execute(query(CHECK)).fetchall()


def test_they_agree_with_all_results_whatever_becomes_of_these(
    connection: Connection, database: str
) -> None:
    solves = [half_solved(connection), half_solved(connection, "another")]
    choose = random.Random(1)
    leases = [row[0] for row in connection.execute("SELECT lease FROM results")]
    assert len(leases) > 8
    for _ in range(60):
        changed = choose.sample(leases, choose.randrange(1, 9))
        connection.execute(
            "UPDATE results SET state = told.state::result_state, counted = true"
            " FROM unnest(%s::bigint[], %s::text[]) AS told (lease, state)"
            " WHERE results.lease = told.lease",
            (changed, [choose.choice(list(ResultState)) for _ in changed]),
        )
        assert violated(connection) == []
    for solve in solves:
        rows = connection.execute(COUNTED, (solve.campaign.id,)).fetchall()
        assert contributors(database, solve.campaign.name) == [Contributor(*row) for row in rows]


def test_a_solve_counts_them(connection: Connection, database: str) -> None:
    solve = half_solved(connection)
    solve.run()
    told = contributors(database, SPEC)
    assert len(told) == 3
    assert sum(each.accepted for each in told) == connection.execute(
        "SELECT count(*) FROM results WHERE state = 'assimilated'"
    ).fetchall()[0][0] > 0  # fmt: skip


def test_a_wrong_count_is_found(connection: Connection) -> None:
    half_solved(connection)
    assert violated(connection) == []
    connection.execute("UPDATE contributions SET accepted = accepted + 1 WHERE host = 1")
    assert CHECK in {violation.check for violation in check_database(connection)}


def test_they_go_with_their_campaign(connection: Connection) -> None:
    solve = half_solved(connection)
    connection.execute("UPDATE campaigns SET state = 'cancelled'")
    drop(connection, solve.campaign.name)
    assert connection.execute("SELECT FROM contributions").fetchall() == []
    # A result that a service judges before its row is removed.
    connection.execute("UPDATE results SET state = 'invalid'")
    while remove_some(connection):
        pass
    assert connection.execute("SELECT FROM contributions").fetchall() == []
