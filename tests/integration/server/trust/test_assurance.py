"""Before a campaign ends somebody trusted stands behind all that its value rests on."""

from __future__ import annotations

import pytest

from tests.support.harness import Host, Result, Solve, Work
from tests.support.minimax import KNOWN_VALUES
from tests.support.truth import wrong_bounds
from zermelo.games import Bounds
from zermelo.server.campaigns import create_campaign
from zermelo.server.check import check_database
from zermelo.server.database import Connection
from zermelo.server.trust import assurance, records
from zermelo.server.trust.provenance import proof_of_root
from zermelo.server.trust.referee import Referee

SPEC = "reversi:4x4"
VALUE = KNOWN_VALUES[SPEC]
#: Accounts of one person that agree on a lie, and honest users who become trusted later.
ACCOUNTS, HONEST = 3, 3


@pytest.fixture(autouse=True)
def short_records(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(records, "LEAST_CHECKED", 0.0)
    monkeypatch.setattr(records, "LEAST_CHECKED_EXHAUSTED", 0.0)


def corrupted(connection: Connection) -> Solve:
    """A young campaign that three accounts of one person end with a lie about its root."""
    campaign = create_campaign(connection, SPEC, replication="adaptive", node_budget=100_000)
    solve = Solve(connection, campaign, clients=ACCOUNTS + HONEST, users=True)
    for _ in range(20):
        solve.plan.step(solve.demand())
        if solve.plan.finished:
            break
        for host in solve.hosts[:ACCOUNTS]:
            for work in host.take(100):
                host.send(lie(host, work))
            solve.assimilate()
    return solve


def lie(host: Host, work: Work) -> Result:
    """The score of the root is 16, whatever is asked about it; else the truth."""
    if work.position != host.game.canonical(host.game.initial()):
        return host.solve(work)
    return Result(work.lease, "yes", 16, 16)


def finish(solve: Solve, referee: Referee | None = None) -> Bounds:
    """The honest hosts, and the referee if there is one, go on until the campaign ends."""
    for _ in range(400):
        solve.plan.step(solve.demand())
        if solve.plan.finished:
            return solve.plan.bounds
        for host in solve.hosts[ACCOUNTS:]:
            host.send(*map(host.solve, host.take(4)))
        if referee:
            referee.step()
        solve.assimilate()
    raise AssertionError("the campaign does not end")


def test_without_anybody_to_trust_three_accounts_decide(connection: Connection) -> None:
    """What the next tests prevent; docs/security.md says so."""
    solve = corrupted(connection)
    assert solve.plan.finished
    assert wrong_bounds(connection, solve.campaign) != []


def test_trusted_users_are_asked_before_the_end(
    connection: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(assurance, "FEW_TRUSTED", HONEST)
    monkeypatch.setattr("zermelo.server.trust.comparison.FEW_TRUSTED", HONEST)
    finished = assurance.assure
    monkeypatch.setattr("zermelo.server.planning.campaign_plan.assure", lambda *_: 1)
    solve = corrupted(connection)
    assert not solve.plan.finished
    connection.execute(
        "UPDATE hosts SET streak = 100 WHERE id = ANY(%s)",
        ([host.id for host in solve.hosts[ACCOUNTS:]],),
    )
    monkeypatch.setattr("zermelo.server.planning.campaign_plan.assure", finished)
    assert finish(solve) == Bounds(VALUE, VALUE)
    assert wrong_bounds(connection, solve.campaign) == []
    assert check_database(connection) == []


def test_in_a_young_project_the_referee_is(connection: Connection) -> None:
    referee = Referee(connection)
    referee.step()  # it is at work
    solve = corrupted(connection)
    assert not solve.plan.finished
    assert finish(solve, referee) == Bounds(VALUE, VALUE)
    assert wrong_bounds(connection, solve.campaign) == []
    unassured = connection.execute(
        "SELECT count(*) FROM results AS own WHERE lease = ANY(%s) AND NOT EXISTS ("
        "  SELECT FROM results JOIN hosts ON hosts.id = results.host"
        "  WHERE results.workunit = own.workunit AND hosts.referee)",
        (proof_of_root(connection, solve.campaign),),
    ).fetchone()
    assert unassured == (0,)
    assert check_database(connection) == []
