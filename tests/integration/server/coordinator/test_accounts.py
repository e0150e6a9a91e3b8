"""Who may call what: tokens, roles, certificates, rates, over real gRPC."""

from __future__ import annotations

import hashlib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import grpc
import pytest
from click.testing import CliRunner

from tests.support.coordinator import Host, bearer, refusal, running_coordinator, wait_until
from zermelo.cli import zermelo
from zermelo.proto import coordinator_pb2 as pb
from zermelo.proto import service
from zermelo.server.campaigns import Campaign
from zermelo.server.coordinator import admission, holding, hosts, reading
from zermelo.server.coordinator.rates import Rate, RateLimiter
from zermelo.server.coordinator.settings import CoordinatorSettings
from zermelo.server.coordinator.transport import TransportError, bind, is_loopback
from zermelo.server.database import Connection
from zermelo.server.trust import accounts
from zermelo.server.trust.accounts import Role
from zermelo.server.trust.certificates import add_operator, make_certificates

KEY = b"k" * 16
SECRET = bytes(range(7, 39))
HELLO = pb.HelloRequest(protocol_version=1, host_key=KEY, workers=1)
ASK_FOR_WORK = pb.RequestWorkRequest(host_key=KEY, wanted=1)


def test_a_token_is_shown_once_and_stored_as_a_digest(
    stub: service.CoordinatorStub, connection: Connection
) -> None:
    reply = stub.Register(pb.RegisterRequest(user_name="ada", team="engines"), timeout=120)
    assert reply.user_name == "ada"
    (stored,) = connection.execute("SELECT digest FROM tokens").fetchall()
    assert stored == (hashlib.sha256(reply.token.encode()).digest(),)
    dump = repr(connection.execute("SELECT * FROM users, tokens, teams").fetchall())
    assert reply.token not in dump
    standing = stub.Standing(pb.StandingRequest(), metadata=bearer(reply.token), timeout=120)
    assert (standing.user_name, standing.team, standing.credit) == ("ada", "engines", 0.0)


def test_names_are_unique_and_anonymity_is_allowed(stub: service.CoordinatorStub) -> None:
    stub.Register(pb.RegisterRequest(user_name="ada"), timeout=120)
    assert refusal(stub.Register, pb.RegisterRequest(user_name="ada")) == (
        grpc.StatusCode.ALREADY_EXISTS, service.NAME_TAKEN,
    )  # fmt: skip
    for bad in (" ada", "a\nb", "Anonymous-x"):
        code, _ = refusal(stub.Register, pb.RegisterRequest(user_name=bad))
        assert code == grpc.StatusCode.INVALID_ARGUMENT
    names = {stub.Register(pb.RegisterRequest(), timeout=120).user_name for _ in range(3)}
    assert len(names) == 3


@pytest.mark.parametrize("name", ["ada", ""])
def test_the_same_secret_once_more_gives_the_same_account(
    stub: service.CoordinatorStub, connection: Connection, name: str
) -> None:
    request = pb.RegisterRequest(user_name=name, team="engines", secret=SECRET)
    with ThreadPoolExecutor(6) as pool:
        calls = [pool.submit(stub.Register, request, timeout=120) for _ in range(6)]
        replies = [call.result() for call in calls]
    assert all(reply == replies[0] for reply in replies)
    assert replies[0].user_name == name or not name
    assert connection.execute("SELECT count(*) FROM tokens").fetchone() == (1,)
    assert SECRET.hex() not in repr(connection.execute("SELECT * FROM users").fetchall())
    standing = stub.Standing(pb.StandingRequest(), metadata=bearer(replies[0].token), timeout=120)
    assert standing.user_name == replies[0].user_name


def test_nobody_gets_an_account_by_repeating_its_registration(
    stub: service.CoordinatorStub, connection: Connection
) -> None:
    mine = stub.Register(pb.RegisterRequest(user_name="ada", secret=SECRET), timeout=120)
    # Another secret, none at all: the name is taken.
    for secret in (bytes(reversed(SECRET)), b""):
        assert refusal(stub.Register, pb.RegisterRequest(user_name="ada", secret=secret)) == (
            grpc.StatusCode.ALREADY_EXISTS, service.NAME_TAKEN,
        )  # fmt: skip
    # One secret is good for one account.
    code, _ = refusal(stub.Register, pb.RegisterRequest(user_name="bob", secret=SECRET))
    assert code == grpc.StatusCode.INVALID_ARGUMENT
    assert connection.execute("SELECT count(*) FROM users WHERE name = 'bob'").fetchone() == (0,)
    # What was revoked does not come back.
    accounts.revoke_tokens(connection, "ada", actor="test")
    assert refusal(stub.Register, pb.RegisterRequest(user_name="ada", secret=SECRET)) == (
        grpc.StatusCode.ALREADY_EXISTS, service.NAME_TAKEN,
    )  # fmt: skip
    wait_until(lambda: is_refused(stub, mine.token))


@pytest.mark.parametrize("secret", [bytes(32), b"ab" * 16, b"0123456789abcdef" * 2, b"short"])
def test_a_secret_that_can_be_guessed_is_refused(
    stub: service.CoordinatorStub, secret: bytes
) -> None:
    assert refusal(stub.Register, pb.RegisterRequest(secret=secret)) == (
        grpc.StatusCode.INVALID_ARGUMENT, service.BROKEN_LIMIT,
    )  # fmt: skip


def is_refused(stub: service.CoordinatorStub, token: str) -> bool:
    try:
        stub.Standing(pb.StandingRequest(), metadata=bearer(token), timeout=120)
    except grpc.RpcError as error:
        return bool(error.code() == grpc.StatusCode.UNAUTHENTICATED)
    return False


def test_a_revoked_token_is_worthless_at_once(
    stub: service.CoordinatorStub, connection: Connection
) -> None:
    token = accounts.open_account(connection, "ada", Role.VOLUNTEER, actor="test")
    stub.Standing(pb.StandingRequest(), metadata=bearer(token), timeout=120)
    new = accounts.renew_token(connection, "ada", actor="test")
    wait_until(lambda: is_refused(stub, token))
    stub.Standing(pb.StandingRequest(), metadata=bearer(new), timeout=120)


def test_a_host_belongs_to_its_user(stub: service.CoordinatorStub, connection: Connection) -> None:
    ada, bob = (
        accounts.open_account(connection, name, Role.VOLUNTEER, actor="test")
        for name in ("ada", "bob")
    )
    stub.Hello(HELLO, metadata=bearer(ada), timeout=120)
    connection.execute("UPDATE hosts SET streak = 77")
    assert refusal(stub.RequestWork, ASK_FOR_WORK, metadata=bearer(bob)) == (
        grpc.StatusCode.UNAUTHENTICATED, service.UNKNOWN_HOST,
    )  # fmt: skip
    stub.RequestWork(ASK_FOR_WORK, metadata=bearer(ada), timeout=120)
    stub.Hello(HELLO, metadata=bearer(bob), timeout=120)
    assert connection.execute("SELECT streak FROM hosts").fetchall() == [(0,)]
    assert refusal(stub.RequestWork, ASK_FOR_WORK, metadata=bearer(ada))[1] == (
        service.UNKNOWN_HOST
    )


def test_strangers_are_slowed_down(
    database: str, campaign: Campaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    burst = 5
    # A bucket that is not refilled while the test runs, however slow the computer.
    monkeypatch.setattr(admission, "STRANGER_RATE", Rate(per_second=0.001, burst=burst))
    monkeypatch.setattr(holding, "LONGEST_SECONDS", 0.01)
    with (
        running_coordinator(database, require_token=True) as address,
        grpc.insecure_channel(address) as channel,
    ):
        stub = service.CoordinatorStub(channel)
        for _ in range(burst):
            stub.Register(pb.RegisterRequest(), timeout=120)
        for _ in range(3):
            with pytest.raises(grpc.RpcError) as caught:
                stub.Register(pb.RegisterRequest(), timeout=120)
            assert caught.value.code() == grpc.StatusCode.RESOURCE_EXHAUSTED
            assert int(dict(caught.value.trailing_metadata())[service.RETRY_AFTER]) > 0


@pytest.mark.parametrize(("host", "address"), [
    ("192.0.2.7", "192.0.2.7"),
    ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
    ("2001:db8:1:2::9", "2001:db8:1:2::/64"),
    ("fe80::1", "fe80::/64"),
    ("", ""),
])
def test_an_address_is_what_one_person_has(host: str, address: str) -> None:
    assert reading.Callers().address_of(FromAfar(host)) == address


class FromAfar:
    """A call with nothing but an origin."""

    def __init__(self, host: str, forwarded: str = "") -> None:
        self.host = host
        self.headers = {reading.FORWARDED: forwarded} if forwarded else {}


@pytest.mark.parametrize(("host", "forwarded", "address"), [
    ("192.0.2.7", "198.51.100.3", "198.51.100.3"),
    # Whatever a caller says of itself stands before what the balancer says.
    ("192.0.2.7", "203.0.113.9, 198.51.100.3", "198.51.100.3"),
    ("2001:db8:1:2::9", "2001:db8:7:8::1", "2001:db8:7:8::/64"),
    ("192.0.3.7", "198.51.100.3", "192.0.3.7"),
    ("", "198.51.100.3", ""),
])
def test_a_balancer_speaks_for_callers_and_nobody_else(
    host: str, forwarded: str, address: str
) -> None:
    callers = reading.Callers(["192.0.2.0/24", "2001:db8:1:2::9"])
    assert callers.address_of(FromAfar(host, forwarded)) == address


def test_a_balancer_has_an_address() -> None:
    with pytest.raises(reading.BalancerError, match=r"example\.org"):
        reading.Callers(["example.org"])


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """Limits so low that a test meets them, and refilled so slowly that it must."""
    slow = Rate(per_second=1e-6, burst=3)
    monkeypatch.setattr(holding, "LONGEST_SECONDS", 0.01)
    monkeypatch.setattr(admission, "ACCOUNT_RATE", Rate(per_second=1e-6, burst=20))
    monkeypatch.setattr(hosts, "HOST_RATE", slow)
    monkeypatch.setattr(hosts, "HELLO_RATE", slow)


def too_fast(call: Any, request: Any, token: str) -> bool:
    """Whether a call is refused for coming too soon, and told when to come again."""
    try:
        call(request, metadata=bearer(token), timeout=60)
    except grpc.RpcError as error:
        if error.code() != grpc.StatusCode.RESOURCE_EXHAUSTED:
            raise
        told = dict(error.trailing_metadata())
        return told[service.REASON] == service.TOO_FAST and int(told[service.RETRY_AFTER]) > 0
    return False


def test_calls_of_a_host_and_of_an_account_are_limited(
    hasty: None, stub: service.CoordinatorStub, connection: Connection
) -> None:
    ada, bob = (
        accounts.open_account(connection, name, Role.VOLUNTEER, actor="test")
        for name in ("ada", "bob")
    )
    for token, key in ((ada, b"a"), (bob, b"b")):  # the limits of one do not touch the other
        first, second = (
            pb.HelloRequest(protocol_version=1, host_key=16 * key, workers=1)
            for key in (key, key.upper())
        )
        assert not too_fast(stub.Hello, first, token)
        assert not too_fast(stub.Hello, second, token)
        beat = pb.HeartbeatRequest(host_key=16 * key)
        assert [too_fast(stub.Heartbeat, beat, token) for _ in range(3)] == [False, False, True]
        assert not too_fast(stub.Hello, second, token)
        assert too_fast(stub.Hello, second, token)  # the fourth of its account
        standing = [too_fast(stub.Standing, pb.StandingRequest(), token) for _ in range(20)]
        assert standing == [False] * 13 + [True] * 7  # after seven calls of this account


def test_a_bucket_gives_what_it_is_filled_with() -> None:
    now = 0.0
    limiter = RateLimiter(Rate(per_second=2, burst=5), clock=lambda: now)
    assert [limiter.wait_needed("a") for _ in range(5)] == [0.0] * 5
    assert limiter.wait_needed("a") == pytest.approx(0.5)
    assert limiter.wait_needed("b") == 0.0
    now = 0.5
    assert limiter.wait_needed("a") == 0.0
    assert limiter.wait_needed("a") > 0
    now = 1000.0
    assert [limiter.wait_needed("a") for _ in range(6)].count(0.0) == 5


# -- transport --------------------------------------------------------------------------


@pytest.mark.parametrize(("listen", "loopback"), [
    ("127.0.0.1:1", True), ("[::1]:1", True), ("localhost:1", True), ("127.9.9.9:1", True),
    ("0.0.0.0:1", False), ("[::]:1", False), ("example.org:1", False), (":1", False),
])
def test_plain_text_is_for_loopback_alone(listen: str, loopback: bool) -> None:
    assert is_loopback(listen) is loopback
    if not loopback:
        with pytest.raises(TransportError, match="tls make"):
            bind(CoordinatorSettings(listen=listen))


@pytest.fixture
def certificates(tmp_path: Path) -> Path:
    folder = tmp_path / "tls"
    for command, *more in (("make", "--operator", "otto"), ("operator", "olga")):
        run = CliRunner().invoke(zermelo, ["tls", command, str(folder), *more, "--json"])
        assert run.exit_code == 0, run.output
    return folder


def test_certificates_are_made_once_and_keys_are_private(certificates: Path) -> None:
    for file in certificates.iterdir():
        assert file.stat().st_mode & 0o777 == (0o600 if "key" in file.name else 0o644)
    with pytest.raises(ValueError, match="exists already"):
        make_certificates(certificates, ["localhost"], 10)
    with pytest.raises(ValueError, match="exists already"):
        add_operator(certificates, "olga", 10)


@pytest.mark.parametrize("name", ["", "../up", "a/b", ".hidden", "ca", "server", "two\nlines"])
def test_certificates_go_nowhere_else(certificates: Path, name: str) -> None:
    before = set(certificates.parent.rglob("*"))
    with pytest.raises(ValueError, match="name"):
        add_operator(certificates, name, 10)
    assert set(certificates.parent.rglob("*")) == before


def test_without_its_key_an_authority_signs_nothing(certificates: Path) -> None:
    (certificates / "ca-key.pem").unlink()
    with pytest.raises(ValueError, match=r"ca-key\.pem"):
        add_operator(certificates, "emil", 10)


def secure_channel(address: str, folder: Path, operator: str = "") -> Any:
    pair: dict[str, bytes] = {}
    if operator:
        pair = {
            "private_key": (folder / f"{operator}-key.pem").read_bytes(),
            "certificate_chain": (folder / f"{operator}.pem").read_bytes(),
        }
    credentials = grpc.ssl_channel_credentials((folder / "ca.pem").read_bytes(), **pair)
    return grpc.secure_channel(address, credentials)


def test_tls_and_certificates_of_operators(
    database: str, campaign: Campaign, connection: Connection, certificates: Path
) -> None:
    from zermelo.server.ports import free_port

    everybody, operators = (f"127.0.0.1:{free_port()}" for _ in range(2))
    volunteer = accounts.open_account(connection, "ada", Role.VOLUNTEER, actor="test")
    operator = accounts.open_account(connection, "otto", Role.OPERATOR, actor="test")
    with running_coordinator(
        database, listen=everybody, require_token=True, operator_listen=operators,
        certificate=certificates / "server.pem", key=certificates / "server-key.pem",
        client_ca=certificates / "ca.pem", channel=secure_channel(everybody, certificates),
    ):  # fmt: skip
        request = pb.StandingRequest()
        with secure_channel(everybody, certificates) as channel:
            stub = service.CoordinatorStub(channel)
            assert stub.Standing(request, metadata=bearer(volunteer), timeout=120)
            assert refusal(stub.Standing, request, metadata=bearer(operator)) == (
                grpc.StatusCode.PERMISSION_DENIED, service.CERTIFICATE_NEEDED,
            )  # fmt: skip
        with secure_channel(operators, certificates, "otto") as channel:
            stub = service.CoordinatorStub(channel)
            assert stub.Standing(request, metadata=bearer(operator), timeout=120)
        # Another operator's certificate does not help who has stolen a token.
        with secure_channel(operators, certificates, "olga") as channel:
            stub = service.CoordinatorStub(channel)
            assert refusal(stub.Standing, request, metadata=bearer(operator)) == (
                grpc.StatusCode.PERMISSION_DENIED, service.CERTIFICATE_NEEDED,
            )  # fmt: skip
        with (
            secure_channel(operators, certificates) as channel,
            pytest.raises(grpc.RpcError) as caught,
        ):
            service.CoordinatorStub(channel).Standing(request, timeout=120)
        assert caught.value.code() == grpc.StatusCode.UNAVAILABLE
        with (
            grpc.insecure_channel(everybody) as channel,
            pytest.raises(grpc.RpcError) as caught,
        ):
            service.CoordinatorStub(channel).Standing(request, timeout=120)
        assert caught.value.code() == grpc.StatusCode.UNAVAILABLE


def test_open_access_shares_one_account(coordinator: str, connection: Connection) -> None:
    hosts = [Host(coordinator), Host(coordinator)]
    for host in hosts:
        host.close()
    assert connection.execute("SELECT count(DISTINCT user_id), count(*) FROM hosts").fetchone() == (
        1, 2,
    )  # fmt: skip
