"""What must not be cheap: trust without work, a wrong root value, an honest host's conviction."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.harness import Host, Result, Solve, Work
from tests.support.minimax import KNOWN_VALUES
from tests.support.truth import wrong_bounds
from zermelo.games import Bounds
from zermelo.server.assimilator import assimilate
from zermelo.server.campaigns import create_campaign
from zermelo.server.check import check_database
from zermelo.server.coordinator.in_process import Progress
from zermelo.server.database import Connection
from zermelo.server.planning.campaign_plan import CampaignPlan
from zermelo.server.trust import records
from zermelo.server.trust.audit import actions
from zermelo.server.trust.referee import Referee
from zermelo.server.validator import validate

SPEC = "reversi:4x4"
VALUE = KNOWN_VALUES[SPEC]


@pytest.fixture(autouse=True)
def quick_trust(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small boards have few questions."""
    monkeypatch.setattr(records, "TRUSTED_AFTER", 3)
    monkeypatch.setattr(records, "LEAST_CHECKED", 0.0)
    monkeypatch.setattr(records, "LEAST_CHECKED_EXHAUSTED", 0.0)


def solve_of(connection: Connection, clients: int, **options: Any) -> Solve:
    options = {"replication": "adaptive", "node_budget": 30} | options
    campaign = create_campaign(connection, SPEC, **options)
    return Solve(connection, campaign, clients=clients, users=True)


def trust(connection: Connection, *hosts: Host) -> None:
    connection.execute(
        "UPDATE hosts SET streak = 1000000 WHERE id = ANY(%s)", ([host.id for host in hosts],)
    )


def exhausted(work: Work) -> Result:
    return Result(work.lease, "exhausted", -16, 16, nodes=work.node_budget)


def lazy(host: Host) -> None:
    host.solve = exhausted  # type: ignore[method-assign]


def lie(work: Work, truth: Result) -> Result:
    if truth.answer == "yes":
        return Result(work.lease, "no", -16, work.threshold - 1)
    return Result(work.lease, "yes", work.threshold, 16)


def record(connection: Connection, host: Host) -> tuple[float, float, int, float]:
    """Streak, credit, errors and refuted `exhausted` answers of a host."""
    row = connection.execute(
        "SELECT streak, (SELECT coalesce(sum(nodes), 0) FROM credits WHERE host = hosts.id),"
        " errors, exhausted_refuted FROM hosts WHERE id = %s", (host.id,),
    ).fetchone()  # fmt: skip
    assert row is not None
    return row[0], row[1], row[2], row[3]


def answer_first(solve: Solve, host: Host) -> Work:
    """The first question of the campaign, in this host's hands."""
    solve.plan.step(solve.demand())
    (work,) = host.take()
    return work


def take_again(host: Host, work: Work) -> Work:
    """The same question, asked of another host."""
    (again,) = (taken for taken in host.take(100) if taken.workunit == work.workunit)
    return again


def test_accounts_that_search_nothing_earn_nothing(
    connection: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However often they agree: here all that they say is compared."""
    monkeypatch.setattr(records, "CHECKED_EXHAUSTED_OF_STRANGERS", 1.0)
    solve = solve_of(connection, clients=3)
    for host in solve.hosts:
        lazy(host)
    while not solve.plan.finished:  # by splitting alone
        solve.step()
    agreed = connection.execute(
        "SELECT workunit FROM results GROUP BY workunit HAVING count(DISTINCT host) > 1"
    ).fetchall()
    assert len(agreed) > 10 * records.TRUSTED_AFTER
    for host in solve.hosts:
        assert record(connection, host)[:2] == (0, 0)
    assert check_database(connection) == []


def test_exhausted_answers_do_not_lead_to_a_wrong_root_value(connection: Connection) -> None:
    """The attack of issue 15: `exhausted` to everything, then lies about the root."""
    warm_up = solve_of(connection, clients=4)
    attacker, *honest = warm_up.hosts
    trust(connection, *honest)
    lazy(attacker)
    for _ in range(400):
        warm_up.step()
        if warm_up.plan.finished:
            break
    assert record(connection, attacker)[0] == 0
    campaign = create_campaign(
        connection, SPEC, name="the root", replication="adaptive", node_budget=100_000
    )
    solve = Solve(connection, campaign, clients=4, users=True)
    attacker = solve.hosts[0]
    trust(connection, *solve.hosts)  # even if it were trusted
    truth, root = attacker.solve, attacker.game.initial()

    def answer(work: Work) -> Result:
        right = truth(work)
        return lie(work, right) if work.position == root else right

    attacker.solve = answer  # type: ignore[method-assign]
    solve.random.choice = lambda busy: busy[0]  # type: ignore[method-assign,assignment]
    assert solve.run() == Bounds(VALUE, VALUE)
    assert record(connection, attacker)[2] > 0
    assert wrong_bounds(connection, campaign) == []
    assert check_database(connection) == []


def test_an_exhausted_that_others_answer_counts_against_its_host(
    connection: Connection,
) -> None:
    """What is said late, after the lone word of a trusted host was believed, counts as well."""
    solve = solve_of(connection, clients=2, node_budget=100_000)
    lone, other = solve.hosts
    for refutations in range(1, records.TOLERATED_REFUTED + 2):
        campaign = create_campaign(
            connection, SPEC, name=f"again {refutations}", replication="adaptive",
            node_budget=100_000,
        )
        CampaignPlan(connection, campaign, solve.engine).step(solve.demand())
        trust(connection, lone, other)
        work = other.take(100)[-1]
        connection.execute(
            "UPDATE workunits SET state = 'ready', stakes = 0 WHERE id = %s", (work.workunit,)
        )
        lone.send(exhausted(take_again(lone, work)))
        while validate(connection):
            pass
        assert record(connection, lone)[1:] == (0, 0, refutations - 1)
        assert other.send(other.solve(work)) == ["late"]
        while validate(connection):
            pass
    # One more than is tolerated: the record ends like that of a liar.
    assert record(connection, lone) == (0, 0, 1, 0)
    assert record(connection, other)[2:] == (0, 0)
    assert actions(connection)[0].action == "distrust"


def test_one_trusted_and_two_fresh_accounts_do_not_convict_an_honest_trusted_host(
    connection: Connection,
) -> None:
    solve = solve_of(connection, clients=8, node_budget=100_000)
    honest, liar, *rest = solve.hosts
    fresh, peers = rest[:2], rest[2:]
    trust(connection, honest, liar, *peers)
    work = answer_first(solve, honest)
    honest.send(honest.solve(work))
    solve.assimilate()
    connection.execute(
        "UPDATE workunits SET state = 'ready', quorum = 2 WHERE id = %s", (work.workunit,)
    )
    for host in (liar, *fresh):
        again = take_again(host, work)
        host.send(lie(again, host.solve(again)))
        solve.assimilate()
        assert record(connection, honest)[2] == 0
        assert wrong_bounds(connection, solve.campaign) == []
    for host in peers[:2]:
        again = take_again(host, work)
        host.send(host.solve(again))
        solve.assimilate()
    assert record(connection, honest)[2] == 0
    assert [record(connection, host)[2] for host in (liar, *fresh)] == [1, 1, 1]
    assert check_database(connection) == []


def test_accounts_that_contradict_themselves_hold_nobody_up(connection: Connection) -> None:
    """Three who agree on two bounds that exclude each other, believed at the same moment."""
    solve = solve_of(connection, clients=6, node_budget=100_000)
    referee = Referee(connection)
    referee.step()  # it is at work
    accounts, honest = solve.hosts[:3], solve.hosts[3:]
    solve.plan.step(solve.demand())
    asked = set()
    for host in accounts:
        for work in host.take(100):
            asked.add(work.threshold)
            value = 16 if work.threshold > VALUE else -16
            yes = value >= work.threshold
            bounds = (value, 16) if yes else (-16, value)
            host.send(Result(work.lease, "yes" if yes else "no", *bounds))
        while validate(connection):
            pass
    assert len(asked) > 1
    solve.assimilate()
    for _ in range(200):
        solve.plan.step(solve.demand())
        if solve.plan.finished:
            break
        for host in honest:
            host.send(*map(host.solve, host.take(4)))
        referee.step()
        solve.assimilate()
    assert solve.plan.bounds == Bounds(VALUE, VALUE)
    assert wrong_bounds(connection, solve.campaign) == []
    assert check_database(connection) == []


def test_who_only_takes_what_it_likes_is_not_trusted(connection: Connection) -> None:
    """Leases that are given back cost the record, once they are more than a client's stop needs."""
    solve = solve_of(connection, clients=2)
    picky, other = solve.hosts
    trust(connection, picky, other)
    given_back = 0
    while given_back <= records.TOLERATED_ABANDONED:
        assert record(connection, picky)[0] > 0
        solve.plan.step(solve.demand())
        given_back += picky.coordinator.give_back(
            [Progress(picky.id, work.lease, 0) for work in picky.take(4)]
        )
        assimilate(connection, solve.campaign)
    assert record(connection, picky) == (0, 0, 0, 0)
    assert record(connection, other)[0] > 0
