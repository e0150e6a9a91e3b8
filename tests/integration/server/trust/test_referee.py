"""The server's own search as a vote: what it decides, and what it leaves to the users."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from tests.support.harness import Host, Result, Solve, Work
from tests.support.minimax import KNOWN_VALUES
from tests.support.truth import wrong_bounds
from zermelo.games import Bounds
from zermelo.server import validator
from zermelo.server.campaigns import create_campaign
from zermelo.server.check import check_database
from zermelo.server.database import Connection
from zermelo.server.trust import records
from zermelo.server.trust.referee import Referee

SPEC = "reversi:4x4"
VALUE = KNOWN_VALUES[SPEC]


def solve_of(connection: Connection, clients: int, **options: Any) -> Solve:
    options = {"replication": "adaptive", "node_budget": 100_000} | options
    campaign = create_campaign(connection, SPEC, **options)
    return Solve(connection, campaign, clients=clients, users=True)


def lie(work: Work, truth: Result) -> Result:
    if truth.answer == "yes":
        return Result(work.lease, "no", -16, work.threshold - 1)
    return Result(work.lease, "yes", work.threshold, 16)


def first_question(solve: Solve, host: Host) -> Work:
    solve.plan.step(solve.demand())
    (work,) = host.take()
    return work


def errors(connection: Connection) -> list[int]:
    return [count for (count,) in connection.execute(
        "SELECT errors FROM hosts WHERE NOT referee ORDER BY id"
    )]  # fmt: skip


def state_of(connection: Connection, work: Work) -> str:
    row = connection.execute(
        "SELECT state::text FROM workunits WHERE id = %s", (work.workunit,)
    ).fetchone()
    assert row is not None
    return str(row[0])


def test_it_is_the_second_opinion_of_a_stranger(connection: Connection) -> None:
    solve = solve_of(connection, clients=1)
    (host,) = solve.hosts
    referee = Referee(connection)
    assert not referee.step()
    work = first_question(solve, host)
    host.send(host.solve(work))
    solve.assimilate()
    assert state_of(connection, work) == "ready"
    assert referee.step()
    solve.assimilate()
    assert state_of(connection, work) == "answered"
    row = connection.execute("SELECT streak + streak_part, confirmed FROM hosts WHERE id = %s",
                             (host.id,)).fetchone()  # fmt: skip
    assert row is not None
    assert row[1] == 1
    assert 0 < row[0] <= records.MOST_SHARE
    # Provenance: its own answer is a result of a host like any other.
    assert connection.execute(
        "SELECT count(*) FROM results JOIN leases ON leases.id = lease WHERE results.host = %s"
        " AND leases.state = 'returned' AND results.state = 'assimilated'", (referee.host,),
    ).fetchone() == (1,)  # fmt: skip
    assert check_database(connection) == []


def test_a_single_stranger_solves_with_the_referee_beside(connection: Connection) -> None:
    solve = solve_of(connection, clients=1, node_budget=60)
    referee = Referee(connection)
    for _ in range(2000):
        solve.step()
        referee.step()
        solve.assimilate()
        if solve.plan.finished:
            break
    assert solve.plan.bounds == Bounds(VALUE, VALUE)
    assert wrong_bounds(connection, solve.campaign) == []
    assert check_database(connection) == []


@pytest.mark.parametrize("liars", [1, 2])
def test_it_decides_a_contradiction_of_the_trusted(connection: Connection, liars: int) -> None:
    solve = solve_of(connection, clients=6)
    connection.execute("UPDATE hosts SET streak = 1000000")
    referee = Referee(connection)
    honest, *others = solve.hosts[: liars + 1]
    work = first_question(solve, honest)
    honest.send(honest.solve(work))
    solve.assimilate()
    for host in others:
        (again,) = (taken for taken in host.take(100) if taken.workunit == work.workunit)
        host.send(lie(again, host.solve(again)))
        solve.assimilate()
    assert state_of(connection, work) == "ready"
    assert referee.step()
    solve.assimilate()
    assert errors(connection) == [0] + [1] * liars + [0] * (5 - liars)
    assert wrong_bounds(connection, solve.campaign) == []
    assert check_database(connection) == []


def test_what_is_too_hard_for_it_stays_with_the_users(connection: Connection) -> None:
    solve = solve_of(connection, clients=4)
    referee = Referee(connection, node_budget=2)
    hosts = iter(solve.hosts)
    host = next(hosts)
    work = first_question(solve, host)
    host.send(host.solve(work))
    solve.assimilate()
    assert referee.step()
    solve.assimilate()
    assert not referee.step()
    for host in hosts:
        assert state_of(connection, work) == "ready"
        (again,) = (taken for taken in host.take(100) if taken.workunit == work.workunit)
        host.send(host.solve(again))
        solve.assimilate()
        if state_of(connection, work) != "ready":
            break
    assert state_of(connection, work) == "answered"
    assert errors(connection) == [0, 0, 0, 0]


def test_what_strangers_agree_on_is_searched_as_well(connection: Connection) -> None:
    """Three accounts of one liar agree; the referee finds out, and all of it goes out again."""
    solve = solve_of(connection, clients=3)
    solve.plan.step(solve.demand())
    connection.execute("UPDATE workunits SET stakes = 0")
    (work,) = solve.hosts[0].take()
    for number, host in enumerate(solve.hosts):
        if number:
            (work,) = (taken for taken in host.take(100) if taken.workunit == work.workunit)
        host.send(lie(work, host.solve(work)))
        solve.assimilate()
    assert state_of(connection, work) == "answered"
    assert wrong_bounds(connection, solve.campaign) != []
    assert Referee(connection).step()
    solve.assimilate()
    assert errors(connection) == [1, 1, 1]
    assert wrong_bounds(connection, solve.campaign) == []
    assert check_database(connection) == []


def test_it_searches_beside_the_validator_until_told_to_stop(
    database: str, connection: Connection
) -> None:
    solve = solve_of(connection, clients=1)
    (host,) = solve.hosts
    work = first_question(solve, host)
    host.send(host.solve(work))
    stop = threading.Event()
    service = threading.Thread(target=validator.run, args=(database, stop, 1.0))
    service.start()
    try:
        for _ in range(300):
            row = connection.execute("SELECT count(*) FROM results WHERE state = 'valid'")
            if row.fetchone() == (2,):
                break
            stop.wait(0.1)
        else:
            pytest.fail("nobody judges the answer")
    finally:
        stop.set()
        service.join(20)
    assert not service.is_alive()
    assert records.TRUSTED_AFTER > 1
