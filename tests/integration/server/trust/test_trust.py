"""Lying hosts in a real solve: what they say does not stay in the tree."""

from __future__ import annotations

import random
from typing import Any

import pytest

from tests.support.effort import REPEATED
from tests.support.harness import Host, Result, Solve, Work
from tests.support.minimax import KNOWN_VALUES
from tests.support.truth import wrong_bounds
from zermelo.games import Bounds
from zermelo.server import assimilator
from zermelo.server.assimilator import assimilate
from zermelo.server.campaigns import create_campaign, find_campaign, steer_campaign
from zermelo.server.check import check_database
from zermelo.server.database import Connection, connect_once
from zermelo.server.tree.backup import add_evidence
from zermelo.server.trust import records
from zermelo.server.trust.audit import actions
from zermelo.server.validator import validate

SPEC = "reversi:4x4"
VALUE = KNOWN_VALUES[SPEC]


@pytest.fixture(autouse=True)
def quick_trust(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small boards have few questions: hosts become trusted sooner."""
    monkeypatch.setattr(records, "TRUSTED_AFTER", 3)
    monkeypatch.setattr(records, "LEAST_CHECKED", 0.2)


def solve_of(connection: Connection, clients: int = 6, **options: Any) -> Solve:
    options = {"replication": "adaptive", "node_budget": 30} | options
    campaign = create_campaign(connection, SPEC, **options)
    return Solve(connection, campaign, clients=clients, users=True)


def lie(work: Work, truth: Result) -> Result:
    """The opposite answer; an exhausted search invents one."""
    if truth.answer == "yes":
        return Result(work.lease, "no", -16, work.threshold - 1)
    return Result(work.lease, "yes", work.threshold, 16)


class Liar:
    """Makes a host of a solve lie with a probability."""

    def __init__(self, host: Host, rate: float, seed: int = 1) -> None:
        self.lies = 0
        chance = random.Random(seed)
        honest = host.solve

        def answer(work: Work) -> Result:
            truth = honest(work)
            if chance.random() < rate:
                self.lies += 1
                return lie(work, truth)
            return truth

        host.solve = answer  # type: ignore[method-assign]


def count(connection: Connection, query: str, *parameters: Any) -> int:
    row = connection.execute(query.encode(), parameters).fetchone()
    assert row
    return int(row[0])


@pytest.mark.parametrize(("replication", "quorum"), [
    ("none", 1), ("adaptive", 1), ("quorum", 2), pytest.param("quorum", 3, marks=REPEATED),
])
def test_honest_hosts_solve_under_every_policy(
    connection: Connection, replication: str, quorum: int
) -> None:
    solve = solve_of(connection, clients=4, replication=replication, quorum=quorum)
    assert solve.run() == Bounds(VALUE, VALUE)
    assert check_database(connection) == []
    assert count(connection, "SELECT count(*) FROM results WHERE state = 'invalid'") == 0
    answers = connection.execute(
        "SELECT count(DISTINCT user_id) FROM results JOIN hosts ON hosts.id = results.host"
        " JOIN workunits ON workunits.id = workunit"
        " WHERE results.state = 'assimilated' AND workunits.state = 'answered'"
        "   AND NOT results.late GROUP BY workunit"
    ).fetchall()
    if replication == "quorum":
        assert min(users for (users,) in answers) >= quorum
    if replication == "none":
        assert max(users for (users,) in answers) == 1


@pytest.mark.parametrize(("seed", "rate", "liars"), [
    pytest.param(1, 1.0, 1, marks=REPEATED), pytest.param(2, 0.5, 1, marks=REPEATED), (3, 1.0, 2),
])
def test_liars_of_one_user_never_get_a_wrong_bound_in(
    connection: Connection, monkeypatch: pytest.MonkeyPatch, seed: int, rate: float, liars: int
) -> None:
    """While hosts are new every answer is checked, and never by a host of the same user."""
    monkeypatch.setattr(records, "TRUSTED_AFTER", 1000)
    solve = solve_of(connection, clients=5 + liars)
    solve.random.seed(seed)
    told = [Liar(host, rate, seed) for host in solve.hosts[:liars]]
    connection.execute(
        "UPDATE hosts SET user_id = (SELECT user_id FROM hosts WHERE id = %s) WHERE id = ANY(%s)",
        (solve.hosts[0].id, [host.id for host in solve.hosts[:liars]]),
    )
    assert solve.run() == Bounds(VALUE, VALUE)
    assert sum(liar.lies for liar in told) > 0
    assert wrong_bounds(connection, solve.campaign) == []
    assert check_database(connection) == []


def test_two_replicas_never_go_to_one_user(connection: Connection) -> None:
    solve = solve_of(connection, clients=5, replication="quorum", quorum=2)
    solve.run()
    assert count(
        connection,
        "SELECT count(*) FROM (SELECT workunit, user_id FROM leases JOIN hosts ON hosts.id = host"
        " WHERE leases.state = 'returned' GROUP BY 1, 2 HAVING count(*) > 1) AS twice",
    ) == 0


def test_a_single_user_waits_for_another(connection: Connection) -> None:
    campaign = create_campaign(connection, SPEC, replication="adaptive", node_budget=100_000)
    solve = Solve(connection, campaign, clients=2)  # two hosts of one user
    solve.plan.step(solve.demand())
    one, other = solve.hosts
    (work,) = one.take()
    one.send(one.solve(work))
    solve.assimilate()
    assert count(connection, "SELECT count(*) FROM results WHERE state = 'unconfirmed'") == 1
    taken = {again.workunit for again in other.take(100)}
    assert work.workunit not in taken


def everyday(connection: Connection) -> None:
    """Let little rest on the questions asked so far, although one of them is about the root."""
    connection.execute("UPDATE workunits SET stakes = 0")


def trusting(solve: Solve) -> None:
    """Let everybody be believed without checks."""
    solve.connection.execute("UPDATE hosts SET streak = 1000000")


def test_a_lie_that_got_in_is_taken_out_with_all_that_rests_on_it(
    connection: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(records, "LEAST_CHECKED", 0.0)
    monkeypatch.setattr(records, "LEAST_CHECKED_EXHAUSTED", 0.0)
    solve = solve_of(connection, clients=6, node_budget=10)
    trusting(solve)
    liar = Liar(solve.hosts[0], 1.0)
    got_in = "SELECT count(*) FROM evidence JOIN results ON lease = result WHERE host = %s"
    for _ in range(200):
        solve.step()
        if count(connection, got_in, solve.hosts[0].id) or solve.plan.finished:
            break
    before = find_campaign(connection, SPEC)
    assert liar.lies > 0
    # Somebody catches it once: everything else it said goes out as well.
    with connection.transaction():
        doubted = records.convict(connection, [solve.hosts[0].id], actor="test")
    assert doubted > 0
    solve.assimilate()
    assert wrong_bounds(connection, before) == []
    assert count(connection, got_in, solve.hosts[0].id) == 0
    assert check_database(connection) == []
    assert [action.action for action in actions(connection)][:1] == ["retract"]
    assert solve.run() == Bounds(VALUE, VALUE)
    assert wrong_bounds(connection, before) == []
    assert check_database(connection) == []


def test_a_bound_sharper_than_asked_is_checked_by_asking_for_it(
    connection: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(records, "LEAST_CHECKED", 1.0)
    solve = solve_of(connection, clients=4)
    trusting(solve)
    assert solve.run() == Bounds(VALUE, VALUE)
    kept = connection.execute(
        "SELECT results.state::text, count(*), sum(credit), sum(nodes) FROM results"
        " WHERE lease < 0 GROUP BY 1"
    ).fetchall()
    assert [(state, credit, nodes) for state, _, credit, nodes in kept] == [("assimilated", 0, 0)]
    assert count(connection, "SELECT count(*) FROM hosts WHERE errors > 0") == 0
    assert count(
        connection,
        "SELECT count(*) FROM results JOIN results AS first ON first.workunit = results.workunit"
        " AND first.lease < 0 JOIN hosts ON hosts.id = results.host JOIN hosts AS other"
        " ON other.id = first.host AND other.user_id = hosts.user_id WHERE results.lease > 0",
    ) == 0
    assert check_database(connection) == []


def test_who_boasts_of_sharper_bounds_is_found_out(
    connection: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The answers are right, so no second answer to the same question would object."""
    monkeypatch.setattr(records, "LEAST_CHECKED", 1.0)
    solve = solve_of(connection, clients=5)
    trusting(solve)
    boaster = solve.hosts[0]
    honest = boaster.solve

    def boast(work: Work) -> Result:
        truth = honest(work)
        if truth.answer == "yes":
            truth.lo = truth.hi = 16
        elif truth.answer == "no":
            truth.lo = truth.hi = -16
        return truth

    boaster.solve = boast  # type: ignore[method-assign]
    assert solve.run() == Bounds(VALUE, VALUE)
    assert wrong_bounds(connection, solve.campaign) == []
    assert connection.execute("SELECT id FROM hosts WHERE errors > 0").fetchall() == [
        (boaster.id,)
    ]
    assert check_database(connection) == []


def test_strangers_who_lie_alike_are_too_few(connection: Connection) -> None:
    """Two users whom nobody knows do not get in what they agree on, nor keep it in."""
    solve = solve_of(connection, clients=6, node_budget=100_000)
    solve.plan.step(solve.demand())
    (work,) = solve.hosts[0].take()
    for number, host in enumerate(solve.hosts):
        if number:
            (again,) = (taken for taken in host.take(100) if taken.workunit == work.workunit)
            work = again
        truth = host.solve(work)
        host.send(lie(work, truth) if number < 2 else truth)
        solve.assimilate()
        assert wrong_bounds(connection, solve.campaign) == []
        state = connection.execute(
            "SELECT state::text FROM workunits WHERE id = %s", (work.workunit,)
        ).fetchone()
        assert state == (("ready" if number < 5 else "answered"),)
    assert [
        row[0] for row in connection.execute("SELECT id FROM hosts WHERE errors > 0 ORDER BY id")
    ] == [host.id for host in solve.hosts[:2]]
    assert check_database(connection) == []


@pytest.mark.parametrize("trusted_seen", ["now", "12 hours ago"])
def test_strangers_need_one_who_is_trusted_however_many_they_are(
    connection: Connection, trusted_seen: str
) -> None:
    """Neither many idle accounts nor the sleep of trusted users puts strangers in charge."""
    solve = solve_of(connection, clients=9, node_budget=100_000)
    trusted = [host.id for host in solve.hosts[4:7]]
    connection.execute("UPDATE hosts SET streak = 1000000 WHERE id = ANY(%s)", (trusted,))
    if trusted_seen != "now":
        connection.execute(
            "UPDATE hosts SET seen_at = now() - interval '12 hours' WHERE id = ANY(%s)", (trusted,)
        )
    solve.plan.step(solve.demand())
    everyday(connection)
    (work,) = solve.hosts[0].take()
    for number, host in enumerate(solve.hosts[:5]):
        if number:
            (work,) = (taken for taken in host.take(100) if taken.workunit == work.workunit)
        host.send(host.solve(work))
        solve.assimilate()
        state = connection.execute(
            "SELECT state::text FROM workunits WHERE id = %s", (work.workunit,)
        ).fetchone()
        assert state == (("ready" if number < 4 else "answered"),)
    assert check_database(connection) == []


def test_strangers_who_proved_themselves_outnumber_the_few_who_are_trusted(
    connection: Connection,
) -> None:
    solve = solve_of(connection, clients=9, node_budget=100_000)
    tried = records.TRUSTED_AFTER // 2
    for hosts, streak in ((solve.hosts[:6], tried), (solve.hosts[6:], 1000000)):
        connection.execute(
            "UPDATE hosts SET streak = %s WHERE id = ANY(%s)",
            (streak, [host.id for host in hosts]),
        )
    solve.plan.step(solve.demand())
    everyday(connection)
    (work,) = solve.hosts[0].take()
    for number, host in enumerate(solve.hosts[:3]):
        if number:
            (work,) = (taken for taken in host.take(100) if taken.workunit == work.workunit)
        host.send(host.solve(work))
        solve.assimilate()
        state = connection.execute(
            "SELECT state::text FROM workunits WHERE id = %s", (work.workunit,)
        ).fetchone()
        assert state == (("ready" if number < 2 else "answered"),)


def test_who_is_found_out_before_the_tree_has_its_answer(
    connection: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(records, "LEAST_CHECKED", 0.0)
    solve = solve_of(connection, clients=3, node_budget=100_000)
    trusting(solve)
    solve.plan.step(solve.demand())
    everyday(connection)
    liar = solve.hosts[0]
    (work,) = liar.take()
    liar.send(lie(work, liar.solve(work)))
    while validate(connection):
        pass
    with connection.transaction():
        assert records.convict(connection, [liar.id], actor="test") == 1
    assert check_database(connection) == []
    solve.assimilate()
    assert check_database(connection) == []
    assert solve.run() == Bounds(VALUE, VALUE)


def test_who_is_found_out_while_its_answer_goes_into_the_tree(
    database: str, connection: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(records, "LEAST_CHECKED", 0.0)
    solve = solve_of(connection, clients=3, node_budget=100_000)
    trusting(solve)
    solve.plan.step(solve.demand())
    everyday(connection)
    liar = solve.hosts[0]
    (work,) = liar.take()
    liar.send(lie(work, liar.solve(work)))
    convictions = []

    def slowly(*arguments: Any) -> Any:
        if not convictions:
            with connect_once(database) as other, other.transaction():
                convictions.append(records.convict(other, [liar.id], actor="test"))
        return add_evidence(*arguments)

    monkeypatch.setattr(assimilator, "add_evidence", slowly)
    solve.assimilate()
    assert convictions == [1]
    assert count(connection, "SELECT count(*) FROM evidence") == 0
    assert check_database(connection) == []
    assert solve.run() == Bounds(VALUE, VALUE)


def test_a_campaign_can_be_cancelled_in_the_middle_of_a_dispute(connection: Connection) -> None:
    solve = solve_of(connection, clients=2, node_budget=100_000)
    solve.plan.step(solve.demand())
    one, other = solve.hosts
    (work,) = one.take()
    one.send(one.solve(work))
    solve.assimilate()
    (again,) = (taken for taken in other.take(100) if taken.workunit == work.workunit)
    other.send(lie(again, other.solve(again)))
    solve.assimilate()
    assert count(connection, "SELECT count(*) FROM workunits WHERE disputed") == 1
    steer_campaign(connection, solve.campaign, "cancelled")
    assert check_database(connection) == []


def test_a_finished_campaign_goes_on_when_its_value_is_in_doubt(connection: Connection) -> None:
    solve = solve_of(connection, clients=4, goal="outcome", node_budget=100_000)
    trusting(solve)
    for host in solve.hosts:
        Liar(host, 1.0)
    wrong = solve.run()
    assert find_campaign(connection, SPEC).state == "finished"
    with connection.transaction():
        records.convict(connection, [host.id for host in solve.hosts], actor="test")
    assimilate(connection, solve.campaign)
    assert find_campaign(connection, SPEC).state == "running"
    assert check_database(connection) == []
    honest = Solve(connection, find_campaign(connection, SPEC), clients=3, users=True)
    bounds = honest.run()
    assert bounds != wrong
    assert bounds.hi < 0  # the second player wins
    assert check_database(connection) == []


def test_seeds_from_a_liar_taint_honest_answers(connection: Connection) -> None:
    """What an honest host found with false seeds goes out with the seeds."""
    solve = solve_of(connection, clients=4, node_budget=20)
    trusting(solve)
    rows: list[tuple[int, int]] = []
    while len(rows) < 2:
        solve.step()
        rows = connection.execute(
            "SELECT results.lease, workunits.id FROM results"
            " JOIN workunits ON workunits.id = results.workunit"
            " WHERE results.state = 'assimilated' AND workunits.state = 'answered' ORDER BY 1"
        ).fetchall()
    (source, _), (resting, workunit) = rows[0], rows[-1]
    connection.execute(
        "UPDATE workunits SET known_from = ARRAY[%s]::bigint[] WHERE id = %s", (source, workunit)
    )
    connection.execute("UPDATE results SET state = 'doubted' WHERE lease = %s", (source,))
    solve.assimilate()
    states = connection.execute(
        "SELECT state::text FROM results WHERE lease IN (%s, %s)", (source, resting)
    ).fetchall()
    assert states == [("retracted",), ("retracted",)]
    assert count(
        connection, "SELECT count(*) FROM evidence WHERE result IN (%s, %s)", source, resting
    ) == 0
    assert check_database(connection) == []
    assert solve.run() == Bounds(VALUE, VALUE)
    assert check_database(connection) == []


def test_the_record_of_a_host(connection: Connection) -> None:
    solve = solve_of(connection, clients=5)
    Liar(solve.hosts[0], 1.0)
    solve.run()
    rows = {
        host: rest for host, *rest in connection.execute(
            "SELECT id, streak, errors, quota, confirmed FROM hosts"
        ).fetchall()
    }
    streak, errors, quota, _ = rows[solve.hosts[0].id]
    assert (streak, errors > 0, quota < 256) == (0, True, True)
    for host in solve.hosts[1:]:
        assert rows[host.id][1] == 0


def test_known_answers_are_asked_and_look_like_any_other(connection: Connection) -> None:
    solve = solve_of(connection, clients=6)
    solve.coordinator.probe_rate = 0.5
    solve.run()
    probes = count(connection, "SELECT count(*) FROM leases WHERE probe")
    assert probes > 0
    judged = connection.execute(
        "SELECT DISTINCT results.state::text FROM leases JOIN results ON lease = leases.id"
        " WHERE probe"
    ).fetchall()
    assert {state for (state,) in judged} <= {"assimilated", "valid", "retracted"}
    assert check_database(connection) == []


def test_credit_is_for_validated_work_and_cannot_be_claimed(connection: Connection) -> None:
    solve = solve_of(connection, clients=5)
    Liar(solve.hosts[0], 1.0)
    boaster = solve.hosts[1]
    honest = boaster.solve
    boaster.solve = lambda work: _boast(honest(work))  # type: ignore[method-assign]
    solve.run()
    rows = connection.execute(
        "SELECT hosts.id, coalesce(sum(nodes), 0),"
        " (SELECT coalesce(sum(credit), 0) FROM results WHERE host = hosts.id)"
        " FROM hosts LEFT JOIN credits ON credits.host = hosts.id GROUP BY hosts.id"
    ).fetchall()
    credit = {host: (granted, results) for host, granted, results in rows}
    assert credit[solve.hosts[0].id][0] == pytest.approx(0, abs=1e-3)
    others = [credit[host.id][0] for host in solve.hosts[2:]]
    assert min(others) > 0
    assert 0 < credit[boaster.id][0] < 5 * max(others)
    for granted, results in credit.values():
        assert granted == pytest.approx(results, rel=1e-4, abs=1e-3)


def _boast(result: Result) -> Result:
    result.nodes = 10**12
    return result
