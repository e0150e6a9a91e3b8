"""What volunteers see and do of their own, over real gRPC."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import grpc
import pytest

from tests.support.coordinator import Queue, answer, bearer, wait_until
from zermelo.proto import coordinator_pb2 as co
from zermelo.proto import operations_pb2 as op
from zermelo.proto import service
from zermelo.proto import volunteers_pb2 as pb
from zermelo.proto.remote import Identity, RefusedError, Remote
from zermelo.server.database import Connection
from zermelo.server.trust import accounts
from zermelo.server.trust.accounts import Role
from zermelo.server.trust.credit import grant
from zermelo.server.trust.operations import perform
from zermelo.server.validator import validate

KEYS = {"ada": b"a" * 16, "bob": b"b" * 16}
Ask = Any


@pytest.fixture
def tokens(connection: Connection) -> dict[str, str]:
    return {
        name: accounts.open_account(connection, name, Role.VOLUNTEER, actor="test")
        for name in ("ada", "bob")
    }


@pytest.fixture
def people(guarded: str, tokens: dict[str, str]) -> Iterator[dict[str, Ask]]:
    """How each of them asks the service Volunteers; "nobody" has no token."""
    remotes = {name: Remote(guarded, service.VOLUNTEERS, Identity(token))
               for name, token in {**tokens, "nobody": ""}.items()}  # fmt: skip
    yield {name: remote.ask for name, remote in remotes.items()}
    for remote in remotes.values():
        remote.close()


@pytest.fixture
def work(guarded: str, tokens: dict[str, str]) -> Iterator[Any]:
    """How each of them makes the calls of a client."""
    with grpc.insecure_channel(guarded) as channel:
        stub = service.CoordinatorStub(channel)

        def call(name: str, rpc: str, request: Any) -> Any:
            return getattr(stub, rpc)(request, metadata=bearer(tokens[name]), timeout=60)

        for name, key in KEYS.items():
            call(name, "Hello", co.HelloRequest(
                protocol_version=1, host_key=key, workers=2, host_name=f"{name}'s", cores=8,
                memory_mb=4096, platform="Linux\x1b[2J x86_64",
            ))  # fmt: skip
        yield call


def host_of(connection: Connection, name: str) -> int:
    row = connection.execute(
        "SELECT hosts.id FROM hosts JOIN users ON users.id = user_id WHERE users.name = %s", (name,)
    ).fetchone()
    assert row is not None
    return int(row[0])


def why_refused(ask: Ask) -> str:
    """What somebody is told who asks for the account; empty where the account is shown."""
    try:
        ask(pb.ShowAccountRequest())
    except RefusedError as error:
        return str(error)
    return ""


# -- hosts and results ------------------------------------------------------------------------


def test_hosts_are_shown_with_hardware_to_their_owner_alone(
    people: dict[str, Ask], work: Any, connection: Connection
) -> None:
    (host,) = people["ada"](pb.ListMyHostsRequest(most=10)).hosts
    assert (host.name, host.cores, host.memory_mb, host.workers) == ("ada's", 8, 4096, 2)
    assert host.platform == "Linux[2J x86_64"
    assert host.id == host_of(connection, "ada")
    with pytest.raises(RefusedError, match="you have no host"):
        people["bob"](pb.ListMyHostsRequest(host=host.id, most=10))


def test_results_are_in_tabs(
    people: dict[str, Ask], work: Any, connection: Connection, queue: Queue
) -> None:
    queue.add(4)
    taken = work("ada", "RequestWork", co.RequestWorkRequest(host_key=KEYS["ada"], wanted=3))
    first, second, third = taken.workunits

    def tabs(name: str = "ada", **fields: Any) -> dict[str, int]:
        return {
            tab: len(people[name](pb.ListMyResultsRequest(tab=tab, most=10, **fields)).results)
            for tab in ("in-progress", "pending", "inconclusive", "valid", "invalid", "error")
        }

    def counts(*numbers: int) -> dict[str, int]:
        return dict(zip(
            ("in-progress", "pending", "inconclusive", "valid", "invalid", "error"), numbers,
            strict=True,
        ))  # fmt: skip

    assert tabs() == counts(3, 0, 0, 0, 0, 0)
    work("ada", "SubmitResults", co.SubmitResultsRequest(
        host_key=KEYS["ada"], results=[answer(first), answer(second, hi=second.threshold)]
    ))  # fmt: skip
    assert tabs() == counts(1, 2, 0, 0, 0, 0)
    work("ada", "ReturnWork", co.ReturnWorkRequest(
        host_key=KEYS["ada"], leases=[co.ReturnedLease(lease_id=third.lease_id)]
    ))  # fmt: skip
    validate(connection)
    assert tabs() == counts(0, 0, 0, 2, 0, 1)
    assert tabs("bob") == counts(0, 0, 0, 0, 0, 0)
    assert tabs("bob", host=host_of(connection, "ada")) == counts(0, 0, 0, 0, 0, 0)
    valid = people["ada"](pb.ListMyResultsRequest(tab="valid", most=1)).results
    older = people["ada"](
        pb.ListMyResultsRequest(tab="valid", most=10, before=valid[0].lease)
    ).results
    assert {valid[0].lease, older[0].lease} == {first.lease_id, second.lease_id}
    assert valid[0].campaign == "reversi:4x4"
    with pytest.raises(RefusedError, match="no tab 'lost'"):
        people["ada"](pb.ListMyResultsRequest(tab="lost", most=1))


def test_why_there_is_no_work(
    people: dict[str, Ask], work: Any, connection: Connection, queue: Queue
) -> None:
    def why() -> str:
        return str(people["ada"](pb.ListMyHostsRequest(most=1)).hosts[0].no_work)

    assert "being worked on already" in why()
    queue.add(1)
    assert why() == ""
    connection.execute("UPDATE hosts SET errors = 2, error_at = now() - interval '30 minutes'"
                       " WHERE name = %s", ("ada's",))
    assert why().startswith("it gave a bad answer, and gets work again at 20")
    no_work = work("ada", "RequestWork", co.RequestWorkRequest(host_key=KEYS["ada"], wanted=1))
    assert "gave a bad answer" in no_work.no_work.message
    perform(connection, op.BanHostRequest(host=host_of(connection, "ada"), reason="hot"),
            actor="otto")
    assert why() == "this host is banned: hot"
    connection.execute("UPDATE campaigns SET state = 'paused'")
    perform(connection, op.UnbanHostRequest(host=host_of(connection, "ada")), actor="otto")
    assert why() == "the campaigns are paused"


def test_the_standing_is_fresh_and_says_the_notice(
    people: dict[str, Ask], work: Any, connection: Connection
) -> None:
    perform(connection, op.SetProjectRequest(notice="back at noon"), actor="otto")
    grant(connection, [(host_of(connection, "ada"), 3e6), (host_of(connection, "bob"), 5e6)])
    told = work("ada", "Standing", co.StandingRequest(host_key=KEYS["ada"]))
    assert (told.credit, told.rank, told.users, told.notice) == (3, 2, 2, "back at noon")
    grant(connection, [(host_of(connection, "ada"), 4e6)])
    told = work("ada", "Standing", co.StandingRequest())
    assert (told.credit, told.rank, told.users) == (7, 1, 2)


# -- teams ------------------------------------------------------------------------------------


def team_credit(people: dict[str, Ask]) -> dict[str, tuple[float, int]]:
    return {team.name: (team.credit, team.members)
            for team in people["bob"](pb.ListTeamsRequest(most=10)).teams}


def test_teams_are_founded_joined_described_and_left(
    people: dict[str, Ask], work: Any, connection: Connection
) -> None:
    ada, bob = people["ada"], people["bob"]
    assert ada(pb.FoundTeamRequest(name="Engines", description="we count")).name == "Engines"
    with pytest.raises(RefusedError, match="one that looks the same"):
        bob(pb.FoundTeamRequest(name="Ёngines".replace("Ё", "Е")))  # noqa: RUF001 - Cyrillic
    with pytest.raises(RefusedError, match="looks like a name that operators give"):
        bob(pb.FoundTeamRequest(name="0perator"))
    with pytest.raises(RefusedError, match="no team 'Boats'"):
        bob(pb.JoinTeamRequest(name="Boats"))
    bob(pb.JoinTeamRequest(name="Engines"))
    with pytest.raises(RefusedError, match="already"):
        bob(pb.JoinTeamRequest(name="Engines"))
    with pytest.raises(RefusedError, match="only the founder"):
        bob(pb.DescribeTeamRequest(description="mine"))
    with pytest.raises(RefusedError, match="one line of printable text"):
        ada(pb.DescribeTeamRequest(description="a\nb"))
    ada(pb.DescribeTeamRequest(description="<b>we</b> count"))
    grant(connection, [(host_of(connection, "ada"), 1e6), (host_of(connection, "bob"), 2e6)])
    assert team_credit(people) == {"Engines": (3, 2)}
    (team,) = ada(pb.ListTeamsRequest(most=10)).teams
    assert (team.founder, team.description) == ("ada", "<b>we</b> count")
    # Credit stays where it was earned; who stays is the founder next.
    ada(pb.LeaveTeamRequest())
    grant(connection, [(host_of(connection, "ada"), 8e6)])
    assert team_credit(people) == {"Engines": (3, 1)}
    assert bob(pb.ShowAccountRequest()).founder
    bob(pb.LeaveTeamRequest())
    with pytest.raises(RefusedError, match="you are in no team"):
        bob(pb.LeaveTeamRequest())
    ada(pb.JoinTeamRequest(name="Engines"))
    assert ada(pb.ShowAccountRequest()).founder


# -- consents, signing in, leaving --------------------------------------------------------------


def test_consents_are_off_until_somebody_says_otherwise(people: dict[str, Ask]) -> None:
    ada = people["ada"]
    told = ada(pb.ShowAccountRequest())
    assert (told.show_hosts, told.export_statistics) == (False, False)
    ada(pb.SetConsentsRequest(export_statistics=True))
    told = ada(pb.SetConsentsRequest(show_hosts=True))
    assert (told.show_hosts, told.export_statistics) == (True, True)
    told = ada(pb.SetConsentsRequest(export_statistics=False))
    assert (told.show_hosts, told.export_statistics) == (True, False)


def test_a_link_signs_in_once(
    guarded: str, people: dict[str, Ask], connection: Connection
) -> None:
    link = people["ada"](pb.OpenSignInRequest())
    session = people["nobody"](pb.SignInRequest(code=link.code))
    assert (session.name, session.role) == ("ada", "volunteer")
    with pytest.raises(RefusedError, match="used already or is too old"):
        people["nobody"](pb.SignInRequest(code=link.code))
    kept = b"".join(row[0] for row in connection.execute("SELECT digest FROM tokens"))
    assert session.token.encode() not in kept
    with Remote(guarded, service.VOLUNTEERS, Identity(session.token)) as web:
        account = web.ask(pb.ShowAccountRequest())
        assert [token.purpose for token in account.tokens] == ["web", ""]
        assert web.ask(pb.SignOutRequest(token=session.token)).ended
    with Remote(guarded, service.VOLUNTEERS, Identity(session.token)) as web:
        wait_until(lambda: "unknown or was revoked" in why_refused(web.ask))
    # The token of the account itself is no session.
    code = people["ada"](pb.OpenSignInRequest()).code
    connection.execute("UPDATE sign_ins SET expires_at = now()")
    with pytest.raises(RefusedError, match="too old"):
        people["nobody"](pb.SignInRequest(code=code))


def test_a_session_ends_by_itself(
    guarded: str, people: dict[str, Ask], connection: Connection
) -> None:
    code = people["ada"](pb.OpenSignInRequest()).code
    session = people["nobody"](pb.SignInRequest(code=code))
    connection.execute("UPDATE tokens SET expires_at = now() WHERE purpose = 'web'")
    with (
        Remote(guarded, service.VOLUNTEERS, Identity(session.token)) as web,
        pytest.raises(RefusedError, match="unknown or was revoked"),
    ):
        web.ask(pb.ShowAccountRequest())


def test_a_lost_token_is_recovered_with_the_secret_of_the_account(
    guarded: str, people: dict[str, Ask], connection: Connection
) -> None:
    first = people["ada"](pb.NewRecoveryCodeRequest()).code
    code = people["ada"](pb.NewRecoveryCodeRequest()).code
    nobody = people["nobody"]
    for name, wrong in (("ada", first), ("ada", "x"), ("bob", code), ("carol", code)):
        with pytest.raises(RefusedError, match="no account of this name with this recovery code"):
            nobody(pb.RecoverRequest(name=name, code=wrong))
    found = nobody(pb.RecoverRequest(name="ada", code=code, revoke_others=True))
    with Remote(guarded, service.VOLUNTEERS, Identity(found.token)) as again:
        assert again.ask(pb.ShowAccountRequest()).name == "ada"
    digests = connection.execute("SELECT recovery_digest FROM users WHERE name = 'ada'").fetchall()
    assert code.encode() not in digests[0][0]


def test_a_deleted_account_leaves_its_credit_and_nothing_else(
    people: dict[str, Ask], work: Any, tokens: dict[str, str], connection: Connection, queue: Queue
) -> None:
    queue.add(1)
    work("ada", "RequestWork", co.RequestWorkRequest(host_key=KEYS["ada"], wanted=1))
    host = host_of(connection, "ada")
    grant(connection, [(host, 3e6)])
    people["ada"](pb.FoundTeamRequest(name="Engines"))
    people["ada"](pb.SetConsentsRequest(show_hosts=True))
    with pytest.raises(RefusedError, match="repeat its name"):
        people["ada"](pb.DeleteAccountRequest(name="bob"))
    left = people["ada"](pb.DeleteAccountRequest(name="ada")).name
    assert left.startswith("deleted-")
    assert connection.execute("SELECT sum(nodes) FROM credits").fetchone() == (3e6,)
    assert connection.execute(
        "SELECT name, platform, version FROM hosts WHERE id = %s", (host,)
    ).fetchone() == ("", "", "")
    for table in ("tokens", "consents", "sign_ins"):
        rows = connection.execute(
            f"SELECT FROM {table} JOIN users ON users.id = user_id"
            " WHERE deleted_at IS NOT NULL".encode()
        ).fetchall()
        assert rows == []
    assert connection.execute("SELECT founder FROM teams").fetchone() == (None,)
    assert connection.execute("SELECT state::text FROM leases").fetchone() == ("cancelled",)
    wait_until(lambda: "unknown or was revoked" in why_refused(people["ada"]))
    # The name is free, and nobody takes one that looks like a deleted account.
    accounts.open_account(connection, "ada", Role.VOLUNTEER, actor="test")
    with pytest.raises(accounts.AccountError, match="reserved"):
        accounts.open_account(connection, "deleted-1", Role.VOLUNTEER, actor="test")


def test_registration_can_be_closed(guarded: str, connection: Connection) -> None:
    secret = bytes(range(32))
    with grpc.insecure_channel(guarded) as channel:
        stub = service.CoordinatorStub(channel)
        stub.Register(co.RegisterRequest(user_name="ada", secret=secret, team="Engines"))
        perform(connection, op.SetProjectRequest(registration_open=False), actor="otto")
        # Who has an account finds it again.
        stub.Register(co.RegisterRequest(user_name="ada", secret=secret))
        with pytest.raises(grpc.RpcError) as caught:
            stub.Register(co.RegisterRequest(user_name="bob"))
        assert "registration is closed here" in caught.value.details()  # type: ignore[attr-defined]
    names = [row[0] for row in connection.execute("SELECT name FROM users")]
    assert "bob" not in names
    row = connection.execute(
        "SELECT users.name FROM teams JOIN users ON users.id = founder"
    ).fetchone()
    assert row == ("ada",)


def test_alarms_are_settled_by_somebody_once(connection: Connection, campaign: Any) -> None:
    connection.execute(
        "INSERT INTO alarms (campaign, kind, detail) VALUES (%s, 'contradiction', 'two answers')",
        (campaign.id,),
    )
    (alarm,) = perform(connection, op.ListAlarmsRequest(most=5), actor="otto").alarms
    assert (alarm.campaign, alarm.detail) == ("reversi:4x4", "two answers")
    assert perform(connection, op.ShowQueueRequest(), actor="otto").alarms == 1
    perform(connection, op.SettleAlarmRequest(alarm=alarm.id, reason="bad RAM"), actor="otto")
    assert not perform(connection, op.ListAlarmsRequest(most=5), actor="otto").alarms
    (alarm,) = perform(connection, op.ListAlarmsRequest(settled=True, most=5), actor="x").alarms
    assert (alarm.settled_by, alarm.settled_reason) == ("otto", "bad RAM")
    with pytest.raises(Exception, match="settled by otto already"):
        perform(connection, op.SettleAlarmRequest(alarm=alarm.id, reason="again"), actor="olga")


def test_a_call_that_waits_while_its_host_is_banned_is_told_so(
    work: Any, connection: Connection
) -> None:
    """And not that the host gave a bad answer, which a ban looks like to its quota."""
    connection.execute("LISTEN zermelo_wanted")
    request = co.RequestWorkRequest(host_key=KEYS["ada"], wanted=1, wait_ms=50_000)
    with ThreadPoolExecutor(1) as caller:
        call = caller.submit(work, "ada", "RequestWork", request)
        assert list(connection.notifies(timeout=60, stop_after=1))  # it found nothing, and waits
        perform(connection, op.BanHostRequest(host=host_of(connection, "ada"), reason="odd"),
                actor="me")  # fmt: skip
        with pytest.raises(grpc.RpcError) as refused:
            call.result(60)
    assert refused.value.code() == grpc.StatusCode.PERMISSION_DENIED
    assert "this host is banned: odd" in refused.value.details()
