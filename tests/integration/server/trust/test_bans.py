"""Bans: the preview tells what they take, and lifting one brings back what is sound."""

from __future__ import annotations

from typing import Any

import grpc
import pytest

from tests.support.coordinator import bearer, running_coordinator, wait_until
from tests.support.harness import Solve
from zermelo.games import Bounds
from zermelo.proto import coordinator_pb2 as co
from zermelo.proto import operations_pb2 as pb
from zermelo.proto.service import CoordinatorStub
from zermelo.server.campaigns import campaign_summary, create_campaign
from zermelo.server.check import check_database
from zermelo.server.database import Connection, connect_once
from zermelo.server.trust import accounts, records
from zermelo.server.trust.accounts import Role
from zermelo.server.trust.bans import BanError
from zermelo.server.trust.operations import perform
from zermelo.server.trust.referee import Referee
from zermelo.sql import query

SPEC = "reversi:4x4"
KEY = b"k" * 16
RECORD = "SELECT streak, errors, quota FROM hosts WHERE id = %s"


def value(connection: Connection, statement: str, *parameters: Any) -> Any:
    row = connection.execute(statement.encode(), parameters).fetchone()
    assert row is not None
    return row[0]


def act(connection: Connection, request: Any) -> Any:
    return perform(connection, request, actor="otto")


@pytest.fixture
def solve(connection: Connection) -> Solve:
    """A campaign whose answers are compared, in the midst of its work."""
    campaign = create_campaign(connection, SPEC, node_budget=40, replication="adaptive")
    solve = Solve(connection, campaign, clients=4, users=True)
    for _ in range(120):
        solve.step()
        if value(connection, "SELECT count(*) FROM evidence") > 4:
            break
    return solve


def believed_host(connection: Connection) -> int:
    return int(value(
        connection,
        "SELECT host FROM results WHERE state = 'assimilated' AND credit > 0"
        " GROUP BY host ORDER BY count(*) DESC LIMIT 1",
    ))


def everything(connection: Connection) -> list[list[Any]]:
    return [
        connection.execute(f"SELECT * FROM {table} ORDER BY 1, 2".encode()).fetchall()  # noqa: S608
        for table in ("results", "hosts", "users", "credits", "daily_credits", "leases",
                      "workunits", "bans", "ban_records", "audit", "nodes", "evidence")
    ]  # fmt: skip


def test_a_preview_tells_what_a_ban_takes_and_changes_nothing(solve: Solve) -> None:
    connection = solve.connection
    host = believed_host(connection)
    before = everything(connection)
    told = act(connection, pb.PreviewBanRequest(host=host))
    assert everything(connection) == before
    credit = value(connection, "SELECT sum(nodes) / 1e6 FROM credits WHERE host = %s", host)
    assert told.credit == credit
    assert told.results > 0
    assert told.bounds > 0
    act(connection, pb.BanHostRequest(host=host, reason="hot"))
    left = value(connection, "SELECT sum(nodes) / 1e6 FROM credits WHERE host = %s", host)
    assert told.credit_lost == pytest.approx(credit - left)
    assert told.credit_lost > 0
    taken = value(connection, "SELECT results FROM bans")
    assert len(taken) == told.results + told.results_of_others
    by_day = value(connection, "SELECT sum(nodes) / 1e6 FROM daily_credits WHERE host = %s", host)
    assert by_day == pytest.approx(left)


def test_lifting_a_ban_brings_back_record_results_and_credit(solve: Solve) -> None:
    connection = solve.connection
    host = believed_host(connection)
    connection.execute("UPDATE hosts SET streak = 1000, quota = 300 WHERE id = %s", (host,))
    user = value(connection, "SELECT user_id FROM hosts WHERE id = %s", host)
    quota = value(connection, "SELECT quota FROM users WHERE id = %s", user)
    record = connection.execute(RECORD, (host,)).fetchone()
    credit = value(connection, "SELECT sum(nodes) FROM credits WHERE host = %s", host)
    act(connection, pb.BanHostRequest(host=host, reason="hot"))
    solve.assimilate()
    assert value(connection, "SELECT count(*) FROM evidence JOIN results ON lease = result"
                             " WHERE host = %s", host) == 0
    assert connection.execute(RECORD, (host,)).fetchone() == (0, 1, 75)
    lifted = act(connection, pb.UnbanHostRequest(host=host, reason="a mistake"))
    assert lifted.judged_again > 0
    assert connection.execute(RECORD, (host,)).fetchone() == record
    assert value(connection, "SELECT quota FROM users WHERE id = %s", user) == quota
    solve.assimilate()
    assert check_database(connection) == []
    # Trusted again, its answers are believed again, and paid.
    assert value(connection, "SELECT count(*) FROM evidence JOIN results ON lease = result"
                             " WHERE host = %s", host) > 0
    paid = value(connection, "SELECT sum(nodes) FROM credits WHERE host = %s", host)
    assert paid > 0.5 * credit
    for table in ("credits", "daily_credits"):
        total = value(connection, f"SELECT sum(nodes) FROM {table}")  # noqa: S608
        by_result = value(connection, "SELECT sum(credit) FROM results")
        assert total == pytest.approx(by_result, rel=1e-4)
    with pytest.raises(BanError, match="is not banned"):
        act(connection, pb.UnbanHostRequest(host=host))
    assert solve.run() == Bounds(-8, -8)
    assert check_database(connection) == []


def test_results_that_a_ban_takes_count_no_more(
    solve: Solve, caplog: pytest.LogCaptureFixture
) -> None:
    connection = solve.connection
    host = believed_host(connection)
    # Trusted again, its answers are believed again.
    connection.execute("UPDATE hosts SET streak = 1000 WHERE id = %s", (host,))

    def count_and_sums() -> tuple[int, set[int]]:
        count = value(connection, "SELECT count(*) FROM results WHERE host = %s"
                                  " AND state IN ('valid', 'assimilated')", host)
        return count, {
            value(connection, f"SELECT sum(results) FROM {table} WHERE host = %s", host)  # noqa: S608
            for table in ("credits", "daily_credits")
        }  # fmt: skip

    before, sums = count_and_sums()
    assert before > 0
    assert sums == {before}
    act(connection, pb.BanHostRequest(host=host, reason="hot"))
    assert not caplog.messages  # a command prints warnings, and the host gave no bad answer
    assert count_and_sums() == (0, {0})
    act(connection, pb.UnbanHostRequest(host=host))
    solve.assimilate()
    after, sums = count_and_sums()
    assert after > 0
    assert sums == {after}


def test_a_ban_takes_what_was_paid_days_later_and_in_two_teams(solve: Solve) -> None:
    connection = solve.connection
    host = believed_host(connection)
    user = value(connection, "SELECT user_id FROM hosts WHERE id = %s", host)
    others = "SELECT sum(nodes) FROM {} WHERE host <> %s"
    before = {
        table: value(connection, others.format(table), host)
        for table in ("credits", "daily_credits")
    }
    connection.execute("UPDATE results SET received_at = received_at - interval '40 days'")
    team = value(connection, "INSERT INTO teams (name, look) VALUES ('owls', 'owls') RETURNING id")
    # A third of it in another team, and yesterday.
    connection.execute(
        "INSERT INTO credits (host, user_id, team, month, nodes, results)"
        " SELECT host, user_id, %s, month, nodes / 3, results / 3 FROM credits WHERE host = %s",
        (team, host),
    )
    connection.execute(
        "UPDATE credits SET nodes = nodes - nodes / 3, results = results - results / 3"
        " WHERE host = %s AND team IS NULL", (host,),
    )  # fmt: skip
    connection.execute(
        "INSERT INTO daily_credits (host, day, user_id, nodes, results)"
        " SELECT host, day - 1, user_id, nodes / 3, results / 3 FROM daily_credits"
        " WHERE host = %s", (host,),
    )  # fmt: skip
    connection.execute(
        "UPDATE daily_credits SET nodes = nodes - nodes / 3, results = results - results / 3"
        " WHERE host = %s AND day = (SELECT max(day) FROM daily_credits)", (host,),
    )  # fmt: skip
    kept = 1e6  # for something that is not in doubt
    for table in before:
        connection.execute(
            f"UPDATE {table} SET nodes = nodes + %s WHERE ctid = (SELECT ctid FROM {table}"  # noqa: S608
            " WHERE host = %s LIMIT 1)", (kept, host),
        )  # fmt: skip
    act(connection, pb.BanHostRequest(host=host, reason="hot"))
    for table, of_others in before.items():
        left = connection.execute(
            f"SELECT sum(nodes), sum(results) FROM {table} WHERE user_id = %s", (user,)  # noqa: S608
        ).fetchone()
        assert left == (pytest.approx(kept), 0), table
        assert value(connection, others.format(table), host) == of_others


@pytest.mark.parametrize("host_first", [True, False])
def test_bans_within_bans_are_lifted_in_any_order(solve: Solve, host_first: bool) -> None:
    connection = solve.connection
    host = believed_host(connection)
    name = value(connection, "SELECT users.name FROM hosts JOIN users ON users.id = user_id"
                             " WHERE hosts.id = %s", host)
    record = connection.execute(RECORD, (host,)).fetchone()
    for reason in ("hot", "hot again"):
        act(connection, pb.BanHostRequest(host=host, reason=reason))
    act(connection, pb.BanUserRequest(name=name, reason="spam"))
    lifting = [pb.UnbanHostRequest(host=host), pb.UnbanUserRequest(name=name)]
    for request in lifting if host_first else reversed(lifting):
        act(connection, request)
    assert connection.execute(RECORD, (host,)).fetchone() == record
    assert check_database(connection) == []


def test_a_record_that_was_given_back_counts_no_answer_twice(solve: Solve) -> None:
    """Else a ban that is lifted would be the cheapest way to be trusted."""
    connection = solve.connection
    host = believed_host(connection)
    counted = b"SELECT confirmed, streak, quota FROM hosts WHERE id = %s"
    before = connection.execute(counted, (host,)).fetchone()
    assert before is not None
    assert before[0] > 0
    act(connection, pb.BanHostRequest(host=host, reason="hot"))
    solve.assimilate()
    assert act(connection, pb.UnbanHostRequest(host=host)).judged_again > 0
    # Those who had agreed say so once more.
    taken = value(connection, "SELECT results FROM bans")
    connection.execute(
        b"UPDATE results SET state = 'pending' WHERE lease = ANY(%s) AND host <> %s", (taken, host)
    )
    solve.assimilate()
    assert value(
        connection,
        "SELECT count(*) FROM results WHERE lease = ANY(%s) AND host = %s"
        " AND state IN ('valid', 'assimilated')", taken, host,
    ) > 0
    assert connection.execute(counted, (host,)).fetchone() == before


def test_a_ban_that_is_lifted_before_anything_was_retracted(solve: Solve) -> None:
    connection = solve.connection
    host = believed_host(connection)
    act(connection, pb.BanHostRequest(host=host, reason="hot"))
    act(connection, pb.UnbanHostRequest(host=host))
    assert value(connection, "SELECT count(*) FROM results WHERE state = 'doubted'") == 0
    assert solve.run() == Bounds(-8, -8)
    assert check_database(connection) == []


def test_a_user_with_all_hosts(solve: Solve) -> None:
    connection = solve.connection
    name = value(connection, "SELECT users.name FROM hosts JOIN users ON users.id = user_id"
                             " WHERE hosts.id = %s", believed_host(connection))
    told = act(connection, pb.PreviewBanRequest(name=name))
    assert (told.user, told.hosts) == (name, 1)
    act(connection, pb.BanUserRequest(name=name, reason="spam"))
    assert value(connection, "SELECT banned_at FROM users WHERE name = %s", name)
    assert act(connection, pb.UnbanUserRequest(name=name)).judged_again > 0
    assert value(connection, "SELECT count(*) FROM bans WHERE lifted_at IS NULL") == 0
    assert solve.run() == Bounds(-8, -8)


def test_the_projects_own_referee_is_not_banned(connection: Connection) -> None:
    host = Referee(connection).host
    name = value(connection, "SELECT name FROM users WHERE id = (SELECT user_id FROM hosts)")
    before = everything(connection)
    for request in (
        pb.PreviewBanRequest(host=host), pb.BanHostRequest(host=host), pb.BanUserRequest(name=name)
    ):  # fmt: skip
        with pytest.raises(BanError, match="own referee"):
            act(connection, request)
    assert everything(connection) == before


def test_the_counts_of_workunits_add_up(solve: Solve) -> None:
    connection = solve.connection

    def adds_up() -> None:
        told = campaign_summary(connection, SPEC)
        assert told.workunits == (
            told.ready + told.leased + told.returned + told.answered + told.splits + told.withdrawn
        )
        assert told.answered == value(
            connection, "SELECT count(*) FROM workunits WHERE state = 'answered'"
        )
        (project,) = connection.execute(query("project_totals")).fetchall()
        assert project[4] == told.answered

    adds_up()
    act(connection, pb.BanHostRequest(host=believed_host(connection), reason="hot"))
    for _ in range(5):
        solve.step()
        adds_up()
    assert solve.run() == Bounds(-8, -8)
    adds_up()


@pytest.mark.parametrize("by_host", [True, False])
def test_the_volunteer_reads_the_reason_without_what_steers_a_terminal(
    database: str, connection: Connection, by_host: bool
) -> None:
    token = accounts.open_account(connection, "eve", Role.VOLUNTEER, actor="test")
    with (
        running_coordinator(database, require_token=True) as address,
        grpc.insecure_channel(address) as channel,
    ):
        stub = CoordinatorStub(channel)
        stub.Hello(
            co.HelloRequest(protocol_version=1, host_key=KEY, workers=1), metadata=bearer(token)
        )
        number = value(connection, "SELECT id FROM hosts")
        request: Any = pb.BanUserRequest(name="eve", reason="answers too fast")
        if by_host:
            request = pb.BanHostRequest(host=number, reason="answers too fast")
        act(connection, request)
        # Whatever got into the database by another way is filtered when it is told.
        connection.execute("UPDATE bans SET reason = reason || E' \\x1b[31m' || repeat('x', 500)")
        connection.execute("SELECT pg_notify('zermelo_accounts', '')")

        def refused() -> str:
            try:
                stub.RequestWork(
                    co.RequestWorkRequest(host_key=KEY, wanted=1), metadata=bearer(token)
                )
            except grpc.RpcError as error:
                return str(error.details())  # type: ignore[attr-defined]
            return ""

        said = wait_until(refused)
        assert "banned: answers too fast [31mxxx" in said
        assert "\x1b" not in said
        assert len(said) < 300


@pytest.mark.parametrize("hosts", [1, 2])
def test_a_preview_tells_exactly_what_the_ban_then_takes(solve: Solve, hosts: int) -> None:
    connection = solve.connection
    for _ in range(30):
        solve.step()
    host = believed_host(connection)
    name = value(connection, "SELECT users.name FROM hosts JOIN users ON users.id = user_id"
                             " WHERE hosts.id = %s", host)
    if hosts > 1:  # of others, who agreed with it
        connection.execute(
            "UPDATE hosts SET user_id = (SELECT user_id FROM hosts WHERE id = %s)"
            " WHERE id = (SELECT id FROM hosts WHERE id <> %s ORDER BY id LIMIT 1)", (host, host),
        )  # fmt: skip
    # Some wait for another's answer, and some were paid before they were refuted; work without a
    # result was granted, too.
    connection.execute(
        "UPDATE results SET state = CASE WHEN lease %% 2 = 0 THEN 'unconfirmed' ELSE 'invalid' END"
        "::result_state WHERE lease IN (SELECT lease FROM results WHERE host = %s AND credit > 0"
        " ORDER BY lease LIMIT 2)", (host,),
    )  # fmt: skip
    connection.execute(
        "DELETE FROM evidence WHERE result IN (SELECT lease FROM results"
        " WHERE state IN ('unconfirmed', 'invalid'))"
    )
    for table in ("credits", "daily_credits"):
        connection.execute(
            f"UPDATE {table} SET nodes = nodes + 5e5, partial = 5e5 WHERE host = %s",  # noqa: S608
            (host,),
        )
    before = everything(connection)
    told = act(connection, pb.PreviewBanRequest(name=name))
    assert everything(connection) == before
    mine = "SELECT id FROM hosts WHERE user_id = (SELECT id FROM users WHERE name = %s)"
    open_leases = value(
        connection,
        f"SELECT count(*) FROM leases WHERE state = 'open' AND host IN ({mine})", name,  # noqa: S608
    )
    credit = f"SELECT sum(nodes) / 1e6 FROM credits WHERE host IN ({mine})"  # noqa: S608
    had = value(connection, credit, name)
    doubted = act(connection, pb.BanUserRequest(name=name, reason="hot")).doubted
    taken = value(connection, "SELECT results FROM bans")
    of_others = value(
        connection,
        f"SELECT count(*) FROM results WHERE lease = ANY(%s) AND host NOT IN ({mine})",  # noqa: S608
        taken, name,
    )  # fmt: skip
    bounds = value(
        connection, "SELECT count(DISTINCT node) FROM evidence WHERE result = ANY(%s)", taken
    )
    assert (told.hosts, told.open_leases) == (hosts, open_leases)
    assert (told.results, told.results_of_others, told.bounds) == (
        len(taken) - of_others, of_others, bounds
    )  # fmt: skip
    assert told.credit == pytest.approx(had)
    assert told.credit_lost == pytest.approx(had - value(connection, credit, name))
    assert told.credit_lost > 0.5
    assert 0 < doubted < len(taken) + 2


def test_a_preview_waits_for_nobody(database: str, solve: Solve) -> None:
    """Nor does anybody wait for it, who changes the host meanwhile."""
    connection = solve.connection
    host = believed_host(connection)
    with connect_once(database) as other, other.transaction():
        other.execute("SELECT FROM hosts WHERE id = %s FOR UPDATE", (host,))
        connection.execute("SET lock_timeout = '5s'")
        assert act(connection, pb.PreviewBanRequest(host=host)).results > 0


def test_lifting_a_ban_pays_nothing_that_was_not_paid(connection: Connection) -> None:
    """As `exhausted` answers of hosts that were new, and are trusted by now."""
    campaign = create_campaign(connection, "reversi:4x6", node_budget=40, replication="adaptive")
    solve = Solve(connection, campaign, clients=4, users=True)
    unpaid = (
        "SELECT host, array_agg(lease) FROM results"
        " WHERE answer = 'exhausted' AND state = 'assimilated' AND credit = 0"
        " GROUP BY host ORDER BY count(*) DESC LIMIT 1"
    )
    for step in range(100):
        solve.step()
        if step > 10 and (found := connection.execute(unpaid).fetchone()):
            break
    assert found is not None
    host, leases = found
    connection.execute(
        "UPDATE hosts SET streak = 1000, exhausted_confirmed = 100 WHERE id = %s", (host,)
    )
    act(connection, pb.BanHostRequest(host=host, reason="hot"))
    solve.assimilate()
    assert act(connection, pb.UnbanHostRequest(host=host)).judged_again > 0
    solve.assimilate()
    assert value(connection, "SELECT sum(credit) FROM results WHERE lease = ANY(%s)", leases) == 0
    assert check_database(connection) == []
    # What paid for one of them would leave behind.
    connection.execute(
        "UPDATE results SET credit = 5e6 WHERE lease = (SELECT lease FROM results"
        " WHERE host = %s AND former_credit = 0 LIMIT 1)", (host,),
    )  # fmt: skip
    assert {violation.check for violation in check_database(connection)} == {
        "check_paid_again", "check_credit"
    }


def test_an_answer_that_was_restated_is_judged_again(
    connection: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its sharper bound was a question already, to which it gave the answer."""
    monkeypatch.setattr(records, "LEAST_CHECKED", 1.0)
    campaign = create_campaign(connection, SPEC, node_budget=40, replication="adaptive")
    solve = Solve(connection, campaign, clients=4, users=True)
    connection.execute("UPDATE hosts SET streak = 1000")
    restated = (
        "SELECT min(one.lease) FROM results AS one JOIN results AS two ON two.lease = -one.lease"
        " WHERE one.lease > 0 AND one.state = 'assimilated' AND two.state = 'assimilated'"
    )
    while (lease := value(connection, restated)) is None:
        solve.step()
    host = value(connection, "SELECT host FROM results WHERE lease = %s", lease)
    act(connection, pb.BanHostRequest(host=host, reason="hot"))
    solve.assimilate()
    assert act(connection, pb.UnbanHostRequest(host=host)).judged_again >= 2
    solve.assimilate()
    believed = "SELECT state IN ('valid', 'assimilated') FROM results WHERE lease = %s"
    assert value(connection, believed, lease)
    assert solve.run() == Bounds(-8, -8)
    assert check_database(connection) == []
