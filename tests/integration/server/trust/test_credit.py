"""Credit: what it is for, how it is summed, and that claiming more brings nothing."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.harness import Result, Solve
from zermelo.proto import operations_pb2 as pb
from zermelo.server.assimilator import assimilate
from zermelo.server.campaigns import Campaign, create_campaign
from zermelo.server.check import check_database
from zermelo.server.coordinator.account_store import place
from zermelo.server.coordinator.in_process import InProcessCoordinator, Returned
from zermelo.server.database import Connection
from zermelo.server.trust import accounts, comparison, records
from zermelo.server.trust.accounts import Role
from zermelo.server.trust.credit import PARTIAL_SHARE, grant, grant_partial
from zermelo.server.trust.operations import perform
from zermelo.server.trust.retraction import dispute
from zermelo.server.validator import validate
from zermelo.sql import query

SPEC = "reversi:4x4"
#: What the host below has shown, in nodes a second, and was granted for results this month.
SPEED, GRANTED = 1000.0, 1_000_000.0


def value(connection: Connection, text: str, *parameters: Any) -> Any:
    row = connection.execute(text.encode(), parameters).fetchone()
    assert row is not None
    return row[0]


@pytest.fixture
def campaign(connection: Connection) -> Campaign:
    return create_campaign(connection, SPEC, replication="adaptive")


def make_host(connection: Connection, name: str, team: str = "") -> int:
    accounts.open_account(connection, name, Role.VOLUNTEER, team=team, actor="test")
    return add_host(connection, name)


def add_host(connection: Connection, user: str) -> int:
    """A trusted host, as fast as `SPEED` by what others confirmed."""
    return int(value(
        connection,
        "INSERT INTO hosts (user_id, host_key_digest, streak, validated_nodes, validated_seconds)"
        " SELECT id, gen_random_uuid(), %s, %s, 100 FROM users WHERE name = %s RETURNING id",
        records.TRUSTED_AFTER, SPEED * 100, user,
    ))  # fmt: skip


def ended_lease(
    connection: Connection, campaign: Campaign, host: int, *,
    nodes: int, seconds: float, node_budget: int = 10**12, state: str = "cancelled",
) -> int:  # fmt: skip
    """A lease without a result, whose last progress came after `seconds`."""
    threshold = value(connection, "SELECT count(*) - 16 FROM workunits")
    workunit = value(
        connection,
        "INSERT INTO workunits (node, campaign, threshold, priority, expected, guess, plies_left,"
        " ply, state) VALUES (%s, %s, %s, 0, 5000, 0, 12, 0, 'withdrawn') RETURNING id",
        campaign.root, campaign.id, threshold,
    )  # fmt: skip
    lease = value(
        connection,
        "INSERT INTO leases (id, workunit, host, node_budget, nodes, state, leased_at, progress_at,"
        " deadline, ended_at) SELECT coalesce(max(id), 0) + 1, %s, %s, %s, %s, %s,"
        " now() - %s * interval '1 second', now(), now(), now() FROM leases RETURNING id",
        workunit, host, node_budget, nodes, state, seconds,
    )  # fmt: skip
    connection.execute("UPDATE totals SET workunits = workunits + 1, withdrawn = withdrawn + 1")
    return int(lease)


def partial(connection: Connection, host: int) -> float:
    return float(value(
        connection, "SELECT coalesce(sum(partial), 0) FROM credits WHERE host = %s", host
    ))


# -- work without a result ----------------------------------------------------------------


def test_withdrawn_and_returned_work_earns_a_part_once(
    connection: Connection, campaign: Campaign
) -> None:
    host = make_host(connection, "ada")
    grant(connection, [(host, GRANTED)])
    ended_lease(connection, campaign, host, nodes=60_000, seconds=90)
    ended_lease(connection, campaign, host, nodes=10_000, seconds=90, state="abandoned")
    ended_lease(connection, campaign, host, nodes=10_000, seconds=90, state="expired")
    for _ in range(2):
        assimilate(connection, campaign)
        assert partial(connection, host) == 70_000
        assert value(connection, "SELECT nodes FROM credits") == GRANTED + 70_000
    assert check_database(connection) == []


@settings(max_examples=40)
@given(leases=st.lists(
    st.tuples(
        st.integers(0, 10**15), st.integers(1, 10**9), st.floats(0, 10**6), st.booleans()
    ),
    min_size=1, max_size=6,
))
def test_no_claim_earns_more_than_time_budget_and_record_allow(
    connection: Connection, leases: list[tuple[int, int, float, bool]]
) -> None:
    with connection.transaction(force_rollback=True):
        campaign = create_campaign(connection, SPEC, replication="adaptive")
        host = make_host(connection, "ada")
        grant(connection, [(host, GRANTED)])
        ids = [
            ended_lease(connection, campaign, host, nodes=nodes, node_budget=most,
                        seconds=seconds, state="cancelled" if withdrawn else "abandoned")
            for nodes, most, seconds, withdrawn in leases
        ]
        grant_partial(connection, ids)
        granted = dict(connection.execute("SELECT lease, nodes FROM partial_credits").fetchall())
        for lease, (nodes, node_budget, seconds, _) in zip(ids, leases, strict=True):
            most = min(nodes, node_budget, seconds * SPEED)
            assert granted.get(lease, 0) <= most * 1.001 + 1
        earned = partial(connection, host)
        assert earned <= PARTIAL_SHARE * GRANTED * 1.001
        assert earned == pytest.approx(sum(granted.values()), rel=1e-3)
        deserved = [min(nodes, most, seconds * SPEED) for nodes, most, seconds, _ in leases]
        if all(most == 0 or most >= 2 for most in deserved):
            assert earned == pytest.approx(
                min(sum(deserved), PARTIAL_SHARE * GRANTED), rel=1e-2, abs=2
            )


@pytest.mark.parametrize("change", [
    "UPDATE hosts SET streak = 0", "UPDATE hosts SET validated_nodes = 0, validated_seconds = 0",
    "UPDATE hosts SET banned_at = now()", "DELETE FROM credits",
])
def test_who_has_proved_nothing_gets_nothing_for_claims(
    connection: Connection, campaign: Campaign, change: str
) -> None:
    host = make_host(connection, "ada")
    grant(connection, [(host, GRANTED)])
    connection.execute(change.encode())
    ended_lease(connection, campaign, host, nodes=60_000, seconds=90)
    assimilate(connection, campaign)
    assert partial(connection, host) == 0


def test_a_late_answer_is_not_paid_twice(connection: Connection) -> None:
    campaign = create_campaign(connection, SPEC, replication="none")
    host = make_host(connection, "ada")
    grant(connection, [(host, GRANTED)])
    lease = ended_lease(connection, campaign, host, nodes=2_000, seconds=90)
    assimilate(connection, campaign)
    assert partial(connection, host) == 2_000
    late = Returned(host, lease, "exhausted", -16, 16, nodes=9_000, seconds=100.0)
    assert InProcessCoordinator(connection).submit([late]) == ["late"]
    assert validate(connection) == 1
    # The question was expected to take 5,000 nodes.
    assert value(connection, "SELECT sum(nodes) FROM credits") == GRANTED + 5_000


def test_a_convicted_host_loses_what_it_got_on_its_word(
    connection: Connection, campaign: Campaign
) -> None:
    host = make_host(connection, "ada")
    grant(connection, [(host, GRANTED)])
    ended_lease(connection, campaign, host, nodes=60_000, seconds=90)
    assimilate(connection, campaign)
    with connection.transaction():
        records.convict(connection, [host], actor="test")
    assert partial(connection, host) == 0
    assert value(connection, "SELECT nodes FROM credits") == GRANTED


# -- sums -----------------------------------------------------------------------------------


def credit_by(connection: Connection, what: str) -> dict[str, float]:
    reply = perform(connection, pb.ListCreditRequest(by=what, most=100), actor="test")
    return {line.name: line.credit for line in reply.credit}


def test_sums_per_user_host_team_and_month(connection: Connection, campaign: Campaign) -> None:
    first = make_host(connection, "ada", team="engines")
    second = add_host(connection, "ada")
    third = make_host(connection, "bob", team="engines")
    fourth = make_host(connection, "eve")
    grant(connection, [(first, 1e6), (second, 2e6), (third, 4e6)])
    connection.execute("UPDATE credits SET month = '2026-02-01'")
    grant(connection, [(first, 8e6), (fourth, 16e6), (first, 32e6)])
    now = value(connection, "SELECT to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM')")
    assert credit_by(connection, "user") == {"ada": 43, "bob": 4, "eve": 16}
    assert credit_by(connection, "host") == {
        str(first): 41, str(second): 2, str(third): 4, str(fourth): 16,
    }  # fmt: skip
    assert credit_by(connection, "team") == {"engines": 47, "": 16}
    assert credit_by(connection, "month") == {"2026-02": 7, now: 56}
    ada = value(connection, "SELECT id FROM users WHERE name = 'ada'")
    standing = connection.execute(query("standing"), {"user": ada, "host": first}).fetchone()
    assert standing is not None
    sums = [row[0] for row in connection.execute(query("credit_of_users"))]
    assert standing[:6] + place(sums, standing[2]) == ("ada", "engines", 43, 40, 41, 47, 1, 3)
    # Who changes the team keeps the old one's credit where it was earned.
    connection.execute("UPDATE users SET team = NULL WHERE name = 'bob'")
    grant(connection, [(third, 64e6)])
    assert credit_by(connection, "team") == {"engines": 47, "": 80}


def test_sums_agree_with_the_results_of_a_real_solve(connection: Connection) -> None:
    campaign = create_campaign(connection, SPEC, replication="adaptive", node_budget=60)
    Solve(connection, campaign, clients=4, users=True).run()
    by_result = value(connection, "SELECT sum(credit) FROM results")
    assert by_result > 0
    for what in ("user", "host", "team", "month"):
        total = sum(credit_by(connection, what).values()) * 1e6
        assert total == pytest.approx(by_result, rel=1e-4)


def contested_solve(connection: Connection, *, lie: bool) -> tuple[Solve, int]:
    """A solve among trusted users, and an answer of its first host that was paid, then contested.

    So it happens when an answer contradicts the tree.
    """
    campaign = create_campaign(connection, SPEC, replication="adaptive", node_budget=60)
    solve = Solve(connection, campaign, clients=5, users=True)
    connection.execute("UPDATE hosts SET streak = 100000")
    paid = None
    while paid is None:
        solve.plan.step(solve.demand())
        host = solve.hosts[0]
        for work in host.take():
            result = host.solve(work)
            if lie and result.answer == "yes":
                result = Result(work.lease, "no", -16, work.threshold - 1)
            elif lie and result.answer == "no":
                result = Result(work.lease, "yes", work.threshold, 16)
            host.send(result)
        validate(connection)
        paid = connection.execute(
            "SELECT lease FROM results"
            " WHERE answer <> 'exhausted' AND state = 'valid' AND credit > 0 LIMIT 1"
        ).fetchone()
        if paid is None:
            solve.assimilate()
    with connection.transaction():
        dispute(connection, campaign, [paid[0]])
    return solve, paid[0]


def test_a_contested_answer_that_was_right_is_paid_once(
    connection: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Another draw of the answers to check may end the solve before this question is needed again.
    monkeypatch.setattr(comparison, "CHANCE", random.Random(1))
    solve, lease = contested_solve(connection, lie=False)
    before = value(connection, "SELECT credit FROM results WHERE lease = %s", lease)
    solve.run()
    assert value(connection, "SELECT state FROM results WHERE lease = %s", lease) == "assimilated"
    assert value(connection, "SELECT credit FROM results WHERE lease = %s", lease) == before
    assert value(connection, "SELECT sum(nodes) FROM credits") == pytest.approx(
        value(connection, "SELECT sum(credit) FROM results"), rel=1e-4
    )


def test_a_contested_answer_that_was_wrong_is_paid_back(connection: Connection) -> None:
    solve, lease = contested_solve(connection, lie=True)
    liar = solve.hosts.pop(0)
    solve.run()
    assert value(connection, "SELECT state FROM results WHERE lease = %s", lease) == "invalid"
    assert value(connection, "SELECT sum(nodes) FROM credits WHERE host = %s", liar.id) == 0
    assert value(connection, "SELECT sum(credit) FROM results WHERE host = %s", liar.id) == 0


# -- quotas ---------------------------------------------------------------------------------


def quotas(connection: Connection, host: int) -> tuple[int, int]:
    row = connection.execute(
        "SELECT hosts.quota, users.quota FROM hosts JOIN users ON users.id = user_id"
        " WHERE hosts.id = %s", (host,),
    ).fetchone()  # fmt: skip
    assert row is not None
    return row[0], row[1]


def test_quotas_shrink_with_errors_and_recover_with_good_answers(connection: Connection) -> None:
    host = make_host(connection, "ada")
    assert quotas(connection, host) == (256, 2)
    connection.execute("UPDATE users SET quota = 4096")
    records.note_errors(connection, [host])
    assert quotas(connection, host) == (64, 2048)
    for _ in range(20):
        records.note_errors(connection, [host])
    assert quotas(connection, host) == (1, records.LEAST_LEASES_OF_USER)
    records.confirm(connection, [records.Confirmed(host, 1.0, 100.0, 1.0)] * 50)
    assert quotas(connection, host) == (51, records.LEAST_LEASES_OF_USER + 50)
    records.confirm(connection, [records.Confirmed(host, 1.0, 100.0, 1.0)] * 100_000)
    assert quotas(connection, host) == (records.MOST_LEASES, records.MOST_LEASES_OF_USER)


def test_a_new_host_does_not_help_a_user_who_erred(connection: Connection) -> None:
    host = make_host(connection, "ada")
    connection.execute("UPDATE users SET quota = 4096")
    records.note_errors(connection, [host])
    assert quotas(connection, add_host(connection, "ada")) == (256, 2048)
