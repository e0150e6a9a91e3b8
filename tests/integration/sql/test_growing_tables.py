"""What is asked again and again reads no whole table, however much lies behind a project."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support.harness import Solve
from zermelo.server.campaigns import create_campaign
from zermelo.server.check import check_database
from zermelo.server.database import Connection
from zermelo.sql import query

SPEC = "reversi:4x4"
#: The tables that grow with every answer.
GROWING = {"workunits", "leases", "results", "evidence"}
#: Answers of a campaign that has ended, copies of one that was given.
PAST = (
    """
    CREATE TEMPORARY TABLE past AS
    SELECT 1000000 + i AS id, results.workunit, results.host, results.campaign
    FROM generate_series(1, 20000) AS i,
         (SELECT * FROM results WHERE state = 'assimilated' ORDER BY lease LIMIT 1) AS results
    """,
    """
    INSERT INTO leases (id, workunit, host, deadline, ended_at, node_budget, state, counted)
    SELECT id, workunit, host, now(), now(), 1000, 'returned', true FROM past
    """,
    """
    INSERT INTO results (lease, workunit, host, nodes, seconds, state, answer, campaign, lo, hi,
                         late, counted)
    SELECT id, workunit, host, 1000, 1, 'assimilated', 'yes', campaign, -16, 16, false, true
    FROM past
    """,
    """
    INSERT INTO workunits (node, state, priority, expected, campaign, threshold, guess, plies_left,
                           ply)
    SELECT node, 'answered', 0, 1000, campaign, threshold, guess, plies_left, ply
    FROM workunits, generate_series(1, 20000)
    WHERE id = (SELECT workunit FROM past LIMIT 1)
    """,
    "ANALYZE workunits, leases, results, evidence",
)
ASKED: dict[str, dict[str, Any]] = {
    "measured_queue": {}, "measured_backlog": {}, "measured_trouble": {}, "waiting_results": {},
    "contributors": {"campaign": 2, "most": 10}, "contributing_hosts": {"campaign": 2, "most": 10},
    "newest_results": {"campaign": 2, "before": 0, "most": 10},
    "cost_samples": {"campaign": 2, "most": 3000},
    "campaign_standings": {"campaign": None, "most": 10, "skip": 0},
    "open_by_ply": {"campaign": 2}, "running_searches": {"campaign": 2, "most": 10},
    "proofs_of_volunteer": {"name": "tester", "most": 10}, "pending_results": (1000,),  # type: ignore[dict-item]
    "valid_results": {"campaign": 2, "most": 1000}, "exhausted_workunits": (2,),  # type: ignore[dict-item]
}  # fmt: skip


@pytest.fixture
def long_past(connection: Connection) -> Connection:
    """A campaign with a long past, and another that has just begun."""
    for name in ("old", "young"):
        campaign = create_campaign(
            connection, SPEC, name=name, node_budget=40, replication="none"
        )
        solve = Solve(connection, campaign)
        for _ in range(6):
            solve.step()
    for statement in PAST:
        connection.execute(statement)
    connection.execute("RESET ALL")  # pages and commands plan as they like
    return connection


def test_no_whole_table_is_read(long_past: Connection) -> None:
    whole = {}
    for name, values in ASKED.items():
        ((plan,),) = long_past.execute(
            b"EXPLAIN (FORMAT JSON) " + query(name), values or None
        ).fetchall()
        found = set(tables_read(json.loads(plan) if isinstance(plan, str) else plan))
        if found & GROWING:
            whole[name] = found & GROWING
    assert whole == {}


@pytest.mark.parametrize("newest", [True, False])
def test_the_newest_workunits_of_a_campaign_are_found_beside_those_of_others(
    long_past: Connection, newest: bool
) -> None:
    """Which are newer, 20,000 of them, or in between."""
    long_past.execute(
        "UPDATE workunits SET campaign = 2 WHERE id = (SELECT max(id) - 300 FROM workunits)"
    )
    long_past.execute(
        "INSERT INTO workunit_blocks SELECT 2, id | 255 FROM workunits WHERE campaign = 2"
        " ON CONFLICT DO NOTHING"
    )
    last = long_past.execute("SELECT max(id) FROM workunits WHERE campaign = 2").fetchone()
    before = 0 if newest or last is None else last[0]
    wanted = {"campaign": 2, "most": 10, "before": before}
    found = [row[0] for row in long_past.execute(query("newest_workunits"), wanted)]
    plain = long_past.execute(
        "SELECT id FROM workunits WHERE campaign = 2 AND (id < %s OR %s = 0)"
        " ORDER BY id DESC LIMIT 10", (before, before),
    ).fetchall()  # fmt: skip
    assert found == [row[0] for row in plain]
    assert len(found) > 1
    ((plan,),) = long_past.execute(
        b"EXPLAIN (ANALYZE, FORMAT JSON) " + query("newest_workunits"), wanted
    ).fetchall()
    read = rows_in_vain(json.loads(plan) if isinstance(plan, str) else plan)
    assert read < 3 * 256


def test_a_workunit_that_lists_do_not_find_is_told(long_past: Connection) -> None:
    def told() -> set[str]:
        return {violation.check for violation in check_database(long_past)}

    before = told()
    long_past.execute("DELETE FROM workunit_blocks WHERE campaign = 2")
    assert told() - before == {"check_workunit_blocks"}


def rows_in_vain(plan: Any) -> int:
    """How many rows a plan read that were none of those it looked for."""
    if isinstance(plan, list):
        return sum(map(rows_in_vain, plan))
    if not isinstance(plan, dict):
        return 0
    own = plan.get("Rows Removed by Filter", 0) * plan.get("Actual Loops", 1)
    return int(own) + sum(map(rows_in_vain, plan.values()))


def tables_read(plan: Any) -> list[str]:
    """The tables that a plan reads from their beginning to their end."""
    if isinstance(plan, list):
        return [table for part in plan for table in tables_read(part)]
    if not isinstance(plan, dict):
        return []
    own = [plan["Relation Name"]] if plan.get("Node Type", "").endswith("Seq Scan") else []
    return own + [table for part in plan.values() for table in tables_read(part)]
