"""Results that come twice, late, wrong or contradict what is known."""

from __future__ import annotations

import pytest
from psycopg import sql

from tests.support.harness import Host, Result, Solve, Work
from zermelo.games import Bounds
from zermelo.server.assimilator import MOST_CONTRADICTIONS
from zermelo.server.campaigns import campaign_summary, create_campaign
from zermelo.server.check import check_database
from zermelo.server.database import Connection


@pytest.fixture
def solve(connection: Connection) -> Solve:
    campaign = create_campaign(connection, "reversi:4x4", node_budget=60, replication="none")
    solve = Solve(connection, campaign, clients=2)
    solve.plan.step(solve.demand())
    return solve


def take(host: Host) -> Work:
    (work,) = host.take()
    return work


def states(connection: Connection, lease: int) -> tuple[str, str, str]:
    """The states of a lease, its result and its workunit."""
    row = connection.execute(
        "SELECT leases.state::text, results.state::text, workunits.state::text FROM leases"
        " JOIN workunits ON workunits.id = leases.workunit"
        " LEFT JOIN results ON results.lease = leases.id WHERE leases.id = %s",
        (lease,),
    ).fetchone()
    assert row
    return row[0], row[1], row[2]


def everything(connection: Connection) -> list[object]:
    tables = ("nodes", "evidence", "results", "leases", "workunits", "totals")
    return [
        connection.execute(
            sql.SQL("SELECT * FROM {} ORDER BY 1, 2").format(sql.Identifier(table))
        ).fetchall()
        for table in tables
    ]


def test_the_same_result_twice_changes_nothing(solve: Solve) -> None:
    host = solve.hosts[0]
    result = host.solve(take(host))
    assert host.send(result) == ["accepted"]
    solve.assimilate()
    before = everything(solve.connection)
    assert host.send(result) == ["duplicate"]
    solve.assimilate()
    assert everything(solve.connection) == before


def test_a_late_result_is_used_and_counted_as_wasted(solve: Solve) -> None:
    slow, fast = solve.hosts
    work = take(slow)
    solve.connection.execute("UPDATE leases SET state = 'expired', ended_at = now()")
    solve.connection.execute("UPDATE workunits SET state = 'ready' WHERE state = 'leased'")
    again = next(w for w in fast.take(100) if w.workunit == work.workunit)
    fast.send(fast.solve(again))
    solve.assimilate()
    assert slow.send(slow.solve(work)) == ["late"]
    solve.assimilate()
    assert states(solve.connection, work.lease)[:2] == ("expired", "assimilated")
    assert campaign_summary(solve.connection, "reversi:4x4").wasted_nodes > 0
    assert check_database(solve.connection) == []


def test_a_result_for_withdrawn_work_is_harmless(solve: Solve) -> None:
    host = solve.hosts[0]
    work = take(host)
    solve.connection.execute(
        "UPDATE workunits SET state = 'withdrawn' WHERE id = %s", (work.workunit,)
    )
    assert host.send(host.solve(work)) == ["late"]
    solve.assimilate()
    assert states(solve.connection, work.lease) == ("returned", "assimilated", "withdrawn")


@pytest.mark.parametrize("wrong", [
    Result(0, "yes", -99, 99), Result(0, "no", -99, 99), Result(0, "exhausted", -99, 99),
    Result(0, "exhausted", -16, 16, proved=b"\xff\xff\xff"),
])
def test_an_unsound_result_is_refused_and_asked_again(solve: Solve, wrong: Result) -> None:
    host = solve.hosts[0]
    work = take(host)
    wrong.lease = work.lease
    host.send(wrong)
    solve.assimilate()
    assert states(solve.connection, work.lease)[2] == "ready"
    assert check_database(solve.connection) == []
    assert solve.run() == Bounds(-8, -8)


def test_a_contradiction_is_quarantined_with_an_alarm(solve: Solve) -> None:
    connection = solve.connection
    host, liar = solve.hosts
    work = take(host)
    result = host.solve(work)
    while result.answer == "exhausted":
        host.send(result)
        work = take(host)
        result = host.solve(work)
    host.send(result)
    solve.assimilate()
    connection.execute(
        "UPDATE workunits SET state = 'ready' WHERE id = %s", (work.workunit,)
    )
    again = next(w for w in liar.take(100) if w.workunit == work.workunit)
    lie = (
        Result(again.lease, "no", -16, work.threshold - 1)
        if result.answer == "yes"
        else Result(again.lease, "yes", work.threshold, 16)
    )
    before = connection.execute("SELECT id, lo, hi FROM nodes ORDER BY id").fetchall()
    liar.send(lie)
    solve.assimilate()
    assert states(connection, again.lease)[1] == "quarantined"
    assert connection.execute("SELECT id, lo, hi FROM nodes ORDER BY id").fetchall() == before
    assert connection.execute("SELECT kind, result FROM alarms").fetchall() == [
        ("contradiction", again.lease)
    ]
    assert campaign_summary(connection, "reversi:4x4").alarms == 1


def test_the_same_lie_again_and_again_pauses_the_campaign(solve: Solve) -> None:
    connection = solve.connection
    host, liar = solve.hosts
    solve.plan.step(solve.demand())
    work = take(host)
    # The tree knows the opposite of what the liar will say.
    connection.execute(
        "UPDATE nodes SET lo = %s WHERE id = (SELECT node FROM workunits WHERE id = %s)",
        (work.threshold, work.workunit),
    )
    lie = Result(work.lease, "no", -16, work.threshold - 1)
    host.send(lie)
    lies = 1
    while campaign_summary(connection, "reversi:4x4").state == "running":
        solve.assimilate()
        lies += 1
        assert lies < 10
        for again in liar.take(100):
            if again.workunit == work.workunit:
                liar.send(Result(again.lease, "no", -16, work.threshold - 1))
    assert campaign_summary(connection, "reversi:4x4").alarms == MOST_CONTRADICTIONS
    assert liar.take(100) == []
    tree = connection.execute("SELECT count(*) FROM evidence").fetchone()
    assert tree == (0,)


def test_one_lie_in_a_batch_does_not_hold_up_the_others(solve: Solve) -> None:
    connection = solve.connection
    host, liar = solve.hosts
    for _ in range(12):
        solve.step()
    solve.assimilate()
    for work in list(host.holding):
        host.send(host.solve(work))
    rows = connection.execute(
        "SELECT workunits.id, nodes.lo, threshold FROM workunits"
        " JOIN nodes ON nodes.id = node WHERE state = 'answered' ORDER BY 1 LIMIT 1"
    ).fetchall()
    ((workunit, lo, threshold),) = rows
    connection.execute("UPDATE workunits SET state = 'ready' WHERE id = %s", (workunit,))
    work = next(w for w in liar.take(100) if w.workunit == workunit)
    lie = (
        Result(work.lease, "no", -16, threshold - 1) if lo >= threshold
        else Result(work.lease, "yes", threshold, 16)
    )
    liar.send(lie)
    solve.assimilate()
    pending = connection.execute("SELECT count(*) FROM results WHERE state = 'valid'").fetchone()
    assert pending == (0,)
    assert states(connection, work.lease)[1] == "quarantined"
