"""What was tried against a coordinator, over real gRPC: each costs the attacker, nobody else."""

# ruff: noqa: RUF001 - names that look alike are among it

from __future__ import annotations

import gc
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc

from tests.support.coordinator import (
    Host,
    Queue,
    answer,
    bearer,
    refusal,
    running_coordinator,
    wait_until,
)
from zermelo.proto import coordinator_pb2 as pb
from zermelo.proto import requests, service
from zermelo.server.campaigns import create_campaign
from zermelo.server.coordinator import holding, reading, standard
from zermelo.server.coordinator import service as work
from zermelo.server.coordinator.leases import store
from zermelo.server.coordinator.leases.queue import RECHECK_SECONDS
from zermelo.server.database import Connection, connect_once
from zermelo.server.http2.calls import Call
from zermelo.server.trust import accounts
from zermelo.server.trust.accounts import Role

KEY = b"k" * 16
SUBMIT = f"/{service.COORDINATOR.full_name}/SubmitResults"
REGISTER = f"/{service.COORDINATOR.full_name}/Register"
BOMB = b"\x12\x00" * (8 * 2**20)


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The sizes of the requests that were read."""
    sizes: list[int] = []
    original = reading.RequestReader.read

    async def noted(self: Any, context: Any, caller: Any) -> bytes:
        data = await original(self, context, caller)
        sizes.append(len(data))
        return data

    monkeypatch.setattr(reading.RequestReader, "read", noted)
    return sizes


@pytest.fixture
def raw(guarded: str) -> Iterator[grpc.Channel]:
    options = [("grpc.max_send_message_length", 64 * 2**20)]
    with grpc.insecure_channel(guarded, options=options) as channel:
        yield channel


def status(call: Any, data: bytes, **more: Any) -> tuple[grpc.StatusCode, str]:
    with pytest.raises(grpc.RpcError) as caught:
        call(data, timeout=60, **more)
    return caught.value.code(), caught.value.details()


# -- requests -----------------------------------------------------------------------------


def test_a_request_of_a_stranger_is_not_even_read(raw: grpc.Channel, read: list[int]) -> None:
    for metadata in ((), bearer("wrong")):
        code, _ = status(raw.unary_unary(SUBMIT), BOMB, metadata=metadata)
        assert code == grpc.StatusCode.UNAUTHENTICATED
    assert read == []


def test_a_stranger_is_answered_before_its_request_has_come(raw: grpc.Channel) -> None:
    answered = threading.Event()

    def never() -> Iterator[bytes]:
        answered.wait(60)
        yield b""

    call = raw.stream_unary(SUBMIT).future(never(), timeout=50)
    assert call.code() == grpc.StatusCode.UNAUTHENTICATED
    answered.set()


def test_refused_calls_leave_nothing_in_memory(
    guarded: str, connection: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No circles: garbage is looked for too seldom to keep what attackers send until then."""
    monkeypatch.setattr(holding, "LONGEST_SECONDS", 0.01)
    token = accounts.open_account(connection, "ada", Role.VOLUNTEER, actor="test")
    wrong = [
        ("no such token", pb.StandingRequest()),
        (token, pb.HeartbeatRequest(host_key=KEY)),  # no such host
        (token, pb.RequestWorkRequest(host_key=KEY, wanted=1000)),  # a broken limit
        *[(token, pb.HeartbeatRequest(host_key=KEY))] * 1100,  # too many calls
    ]
    gc.collect()
    gc.set_debug(gc.DEBUG_SAVEALL)
    try:
        with grpc.insecure_channel(guarded) as channel:
            stub = service.CoordinatorStub(channel)
            methods = {pb.StandingRequest: stub.Standing, pb.HeartbeatRequest: stub.Heartbeat,
                       pb.RequestWorkRequest: stub.RequestWork}  # fmt: skip
            calls = [methods[type(request)].future(request, timeout=60, metadata=bearer(who))
                     for who, request in wrong]  # fmt: skip
            assert all(call.code() != grpc.StatusCode.OK for call in calls)
        gc.collect()
        assert not [item for item in gc.garbage if isinstance(item, Call)]
    finally:
        gc.set_debug(0)
        gc.garbage.clear()


def test_a_compressed_request_is_refused(raw: grpc.Channel, read: list[int]) -> None:
    for path in (SUBMIT, REGISTER):
        code, why = status(raw.unary_unary(path), BOMB, compression=grpc.Compression.Gzip)
        assert (code, "gzip" in why) == (grpc.StatusCode.UNIMPLEMENTED, True)
    assert read == []


def test_requests_have_sizes_and_items_are_counted(
    raw: grpc.Channel, connection: Connection
) -> None:
    code, why = status(raw.unary_unary(REGISTER), bytes(5000))
    assert (code, why) == (
        grpc.StatusCode.INVALID_ARGUMENT, "the request has 5000 bytes; at most 1157 are allowed"
    )  # fmt: skip
    token = accounts.open_account(connection, "ada", Role.VOLUNTEER, actor="test")
    submit = raw.unary_unary(SUBMIT)
    code, why = status(submit, BOMB[: 2**20], metadata=bearer(token))
    assert code == grpc.StatusCode.INVALID_ARGUMENT
    assert why == "results has more than 256 items; at most 256 are allowed"
    code, _ = status(submit, BOMB, metadata=bearer(token))
    assert code == grpc.StatusCode.RESOURCE_EXHAUSTED  # larger than any request
    assert len(BOMB) > requests.MAX_REQUEST_BYTES


def test_bytes_are_charged(raw: grpc.Channel, connection: Connection) -> None:
    token = accounts.open_account(connection, "ada", Role.VOLUNTEER, actor="test")
    call = raw.unary_unary(SUBMIT)
    told = [status(call, b"\x12\x00" * 2**20, metadata=bearer(token)) for _ in range(5)]
    # Each counts as 512 calls, of 1,000 at once.
    assert told[0][0] == grpc.StatusCode.INVALID_ARGUMENT
    assert (grpc.StatusCode.RESOURCE_EXHAUSTED, "too many calls; slow down") in told


def test_slow_requests_hold_up_their_sender_alone(
    guarded: str, connection: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "READ_SECONDS", 0.5)
    ada, bob = (
        accounts.open_account(connection, name, Role.VOLUNTEER, actor="test")
        for name in ("ada", "bob")
    )

    def silence() -> Iterator[bytes]:
        time.sleep(2)
        yield b""

    with grpc.insecure_channel(guarded) as channel:
        slow = [
            channel.stream_unary(SUBMIT).future(silence(), metadata=bearer(ada), timeout=60)
            for _ in range(reading.MAX_READING)
        ]
        stub = service.CoordinatorStub(channel)
        stub.Standing(pb.StandingRequest(), metadata=bearer(bob), timeout=60)
        assert {call.code() for call in slow} == {grpc.StatusCode.DEADLINE_EXCEEDED}
        assert "did not come within 0.5 seconds" in slow[0].details()
        stub.Standing(pb.StandingRequest(), metadata=bearer(ada), timeout=60)


def test_the_health_service_takes_small_requests_and_few_watchers(
    raw: grpc.Channel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(standard, "MAX_STREAMS", 2)
    health = health_pb2_grpc.HealthStub(raw)
    assert health.Check(health_pb2.HealthCheckRequest(), timeout=60).status == 1
    large = health_pb2.HealthCheckRequest(service="x" * 2000)
    assert refusal(health.Check, large) == (
        grpc.StatusCode.INVALID_ARGUMENT, service.BROKEN_LIMIT
    )  # fmt: skip
    watches = [health.Watch(health_pb2.HealthCheckRequest(), timeout=60) for _ in range(2)]
    assert [next(watch).status for watch in watches] == [1, 1]
    with pytest.raises(grpc.RpcError) as caught:
        next(health.Watch(health_pb2.HealthCheckRequest(), timeout=60))
    assert caught.value.code() == grpc.StatusCode.RESOURCE_EXHAUSTED
    for watch in watches:
        watch.cancel()
    # Whoever has left makes room.
    wait_until(lambda: _watches(health))


def _watches(health: health_pb2_grpc.HealthStub) -> bool:
    watch = health.Watch(health_pb2.HealthCheckRequest(), timeout=60)
    try:
        return bool(next(watch).status)
    except grpc.RpcError:
        return False
    finally:
        watch.cancel()


# -- results --------------------------------------------------------------------------------


def bounds(count: int, history: bytes = b"") -> pb.KnownBounds:
    return pb.KnownBounds(
        positions=KEY * count, lo=[0] * count, hi=[1] * count,
        histories=[history] * count if history else [],
    )  # fmt: skip


def test_results_for_leases_that_do_not_exist_are_not_looked_at(
    host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    def look(*_: Any) -> str:
        raise AssertionError("looked at the bounds of a result that nobody asked for")

    monkeypatch.setattr(work, "fault_below", look)
    results = [
        pb.Result(lease_id=number, answer=pb.EXHAUSTED, lo=-16, hi=16, proved=bounds(50))
        for number in range(1, 257)
    ]
    assert host.submit(*results) == [pb.Receipt.REFUSED] * 256


HELLO = pb.HelloRequest(protocol_version=1, host_key=KEY, workers=1)


@pytest.fixture
def ada(stub: service.CoordinatorStub, connection: Connection) -> dict[str, Any]:
    """What the calls of a volunteer carry whose host has said hello."""
    token = accounts.open_account(connection, "ada", Role.VOLUNTEER, actor="test")
    more = {"metadata": bearer(token), "timeout": 60}
    stub.Hello(HELLO, **more)
    return more


def test_calls_are_charged_by_their_leases(
    stub: service.CoordinatorStub, ada: dict[str, Any]
) -> None:
    request = pb.SubmitResultsRequest(
        host_key=KEY, results=[pb.Result(lease_id=1, answer=pb.YES)] * 256
    )
    calls = [
        stub.SubmitResults.future(request, **ada)
        for _ in range(30)  # each counts as 33, of 200 at once
    ]
    refused = [call for call in calls if call.code() != grpc.StatusCode.OK]
    assert 15 < len(refused) < 30
    for call in refused:
        assert dict(call.trailing_metadata())[service.REASON] == service.TOO_FAST


def results_of_nothing() -> pb.SubmitResultsRequest:
    return pb.SubmitResultsRequest(
        host_key=KEY,
        results=[pb.Result(lease_id=n, answer=pb.YES) for n in range(1, 257)],
    )


def test_who_ignores_pauses_gets_few_refusals_and_delays_nobody(
    stub: service.CoordinatorStub, ada: dict[str, Any], connection: Connection,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setattr(holding, "LONGEST_SECONDS", 0.5)
    bert = {"metadata": bearer(accounts.open_account(
        connection, "bert", Role.VOLUNTEER, actor="test"
    )), "timeout": 60}  # fmt: skip
    stub.SubmitResults(results_of_nothing(), **ada)  # costs about a minute
    began, pauses = time.monotonic(), []
    for _ in range(3):
        with pytest.raises(grpc.RpcError) as refused:
            stub.Hello(HELLO, **ada)
        told = dict(refused.value.trailing_metadata())
        assert told[service.REASON] == service.TOO_FAST
        pauses.append(time.monotonic() - began + int(told[service.RETRY_AFTER]) / 1000)
    assert time.monotonic() - began > 3 * 0.45
    # Having been kept does not make the pause longer: it ends when it would have ended.
    assert max(pauses) - min(pauses) < 0.2 + (time.monotonic() - began) / 10
    # While as many calls as may be are kept, more are refused at once, and others are served.
    monkeypatch.setattr(holding, "LONGEST_SECONDS", 20.0)
    kept = [stub.Hello.future(HELLO, **ada) for _ in range(holding.MOST_OF_ONE)]
    wait_until(lambda: _refused_at_once(stub, ada))
    began = time.monotonic()
    stub.Hello(pb.HelloRequest(protocol_version=1, host_key=b"b" * 16, workers=1), **bert)
    assert time.monotonic() - began < 10
    for call in kept:
        call.cancel()


def _refused_at_once(stub: service.CoordinatorStub, more: dict[str, Any]) -> bool:
    """Whether a refusal comes long before calls are kept no longer."""
    try:
        stub.Hello(HELLO, **{**more, "timeout": 5})
    except grpc.RpcError as error:
        return bool(error.code() == grpc.StatusCode.RESOURCE_EXHAUSTED)
    return False


def test_who_asks_again_too_soon_is_told_the_same_late(
    stub: service.CoordinatorStub, ada: dict[str, Any], queue: Queue, connection: Connection,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """... and at once when it has handed something in, or waits in its call."""
    monkeypatch.setattr(holding, "LONGEST_SECONDS", 1.0)
    connection.execute("UPDATE hosts SET quota = 2")
    for _ in range(4):
        queue.add()
    greedy = pb.RequestWorkRequest(host_key=KEY, wanted=4)
    taken = stub.RequestWork(greedy, **ada).workunits
    assert len(taken) == 2
    full = stub.RequestWork(greedy, **ada)
    assert full.no_work.reason == pb.NoWork.TOO_MANY_LEASES
    began = time.monotonic()
    assert stub.RequestWork(greedy, **ada).no_work == full.no_work
    assert time.monotonic() - began > 0.9
    stub.ReturnWork(pb.ReturnWorkRequest(
        host_key=KEY, leases=[pb.ReturnedLease(lease_id=taken[0].lease_id)]
    ), **ada)  # fmt: skip
    monkeypatch.setattr(holding, "LONGEST_SECONDS", 60.0)
    assert stub.RequestWork(greedy, **ada).workunits


def test_a_result_makes_room_at_once_in_the_quota_of_its_user(
    stub: service.CoordinatorStub, ada: dict[str, Any], queue: Queue, connection: Connection
) -> None:
    """A quota that is used up is remembered for a second, but not past a result."""
    connection.execute("UPDATE campaigns SET replication = 'adaptive'")  # else users have no quota
    connection.execute("UPDATE users SET quota = 2")
    for _ in range(4):
        queue.add()
    asked = pb.RequestWorkRequest(host_key=KEY, wanted=4, wait_ms=1000)
    taken = stub.RequestWork(asked, **ada).workunits
    assert len(taken) == 2
    for workunit in taken:
        assert stub.RequestWork(asked, **ada).no_work.reason == pb.NoWork.TOO_MANY_LEASES
        done = pb.SubmitResultsRequest(host_key=KEY, results=[answer(workunit)])
        assert stub.SubmitResults(done, **ada).receipts[0].status == pb.Receipt.ACCEPTED
        assert len(stub.RequestWork(asked, **ada).workunits) == 1


def test_results_for_leases_that_do_not_exist_are_charged_to_the_account(
    stub: service.CoordinatorStub, ada: dict[str, Any]
) -> None:
    """More hosts of the account do not help."""
    stub.SubmitResults(results_of_nothing(), **ada)
    other = pb.HelloRequest(protocol_version=1, host_key=b"l" * 16, workers=1)
    with pytest.raises(grpc.RpcError) as refused:
        stub.Hello(other, **ada)
    assert refused.value.code() == grpc.StatusCode.RESOURCE_EXHAUSTED
    assert refused.value.details() == "too many calls; slow down"


@pytest.mark.parametrize(
    ("proved", "kept"),
    [
        (bounds(20), True),
        (bounds(20, b"h" * 16), False),  # a game without histories
        (bounds(1000), False),  # more than a search of 20 nodes can find
    ],
)
def test_only_what_a_search_can_have_proved_is_stored(
    host: Host, queue: Queue, connection: Connection, proved: pb.KnownBounds, kept: bool
) -> None:
    queue.add(node_budget=20)
    (workunit,) = host.take()
    result = answer(workunit, answer=pb.EXHAUSTED, lo=-16, proved=proved)
    assert host.submit(result) == [pb.Receipt.ACCEPTED]
    stored = connection.execute("SELECT proved IS NOT NULL FROM results").fetchone()
    assert stored == (kept,)


def test_bounds_below_a_question_keep_their_limits(host: Host, queue: Queue) -> None:
    queue.add(node_budget=20)
    (workunit,) = host.take()
    proved = pb.KnownBounds(positions=KEY, lo=[0], hi=[2**20])
    with pytest.raises(grpc.RpcError) as refused:
        host.submit(answer(workunit, answer=pb.EXHAUSTED, lo=-16, proved=proved))
    assert refused.value.code() == grpc.StatusCode.INVALID_ARGUMENT
    assert refused.value.details() == "hi is 1048576; at most 32767 is allowed"


# -- leases ---------------------------------------------------------------------------------


def test_a_lease_ends_with_its_budget(host: Host, queue: Queue) -> None:
    queue.add()
    (workunit,) = host.take()
    lease = f"lease{workunit.lease_id}"
    within = round(store.MOST_BUDGETS * workunit.node_budget)
    (told,) = host.beat(**{lease: within})
    assert (told.directive, told.lease_ms > 20_000) == (pb.LeaseUpdate.CONTINUE, True)
    (told,) = host.beat(**{lease: within + store.MORE_NODES + 1})
    assert told.lease_ms == 0
    wait_until(lambda: queue.lease_state(workunit.lease_id) == "expired")
    (told,) = host.beat(**{lease: within + store.MORE_NODES + 2})
    assert (told.directive, told.cause) == (pb.LeaseUpdate.DROP, pb.LeaseUpdate.EXPIRED)
    assert host.take()  # the work is ready for others


def test_progress_extends_a_lease_for_a_while_only(
    host: Host, queue: Queue, connection: Connection
) -> None:
    queue.add()
    (workunit,) = host.take()
    # The coordinator gives 30 seconds without progress, and the campaign's target is 2.
    connection.execute("UPDATE leases SET leased_at = leased_at - interval '25 seconds'")
    (told,) = host.beat(**{f"lease{workunit.lease_id}": 1})
    assert told.directive == pb.LeaseUpdate.CONTINUE
    assert told.lease_ms <= 1000 * (30 - 25 + store.MOST_TARGETS * 2)


def test_what_takes_a_host_too_long_is_asked_of_others(
    coordinator: str, host: Host, queue: Queue, connection: Connection
) -> None:
    queue.add()
    (mine,) = host.take()
    connection.execute("UPDATE leases SET leased_at = leased_at - interval '20 seconds'")
    other = Host(coordinator)
    (yours,) = other.request(wait_ms=60_000).workunits
    assert yours.threshold == mine.threshold
    assert queue.lease_state(mine.lease_id) == "open"
    assert other.submit(answer(yours)) == [pb.Receipt.ACCEPTED]
    assert host.submit(answer(mine)) == [pb.Receipt.LATE]
    assert not host.take()
    other.close()


def test_leases_that_expire_lower_the_quota_of_their_user(
    database: str, connection: Connection
) -> None:
    campaign = create_campaign(connection, "reversi:4x4", replication="adaptive")
    queue = Queue(connection, campaign)
    queue.add(4)
    token = accounts.open_account(connection, "ada", Role.VOLUNTEER, actor="test")
    connection.execute("UPDATE users SET quota = 32")
    with running_coordinator(database, require_token=True, lease_seconds=0.2) as address:
        with grpc.insecure_channel(address) as channel:
            stub = service.CoordinatorStub(channel)
            hello = pb.HelloRequest(protocol_version=1, host_key=KEY, workers=4)
            stub.Hello(hello, metadata=bearer(token), timeout=60)
            request = pb.RequestWorkRequest(host_key=KEY, wanted=4)
            taken = stub.RequestWork(request, metadata=bearer(token), timeout=60).workunits
            assert len(taken) == 4
        wait_until(lambda: connection.execute(
            "SELECT quota FROM users WHERE name = 'ada'"
        ).fetchone() == (24,))  # fmt: skip


# -- one client and another ------------------------------------------------------------------


class Account:
    """A host of an account of its own."""

    def __init__(self, channel: grpc.Channel, connection: Connection, name: str) -> None:
        self._stub = service.CoordinatorStub(channel)
        token = accounts.open_account(connection, name, Role.VOLUNTEER, actor="test")
        self._more: dict[str, Any] = {"metadata": bearer(token), "timeout": 120}
        self._key = name.encode().ljust(16)
        self._stub.Hello(
            pb.HelloRequest(protocol_version=1, host_key=self._key, workers=1), **self._more
        )

    def take(self, wanted: int = 1, wait_ms: int = 0) -> list[pb.Workunit]:
        request = pb.RequestWorkRequest(host_key=self._key, wanted=wanted, wait_ms=wait_ms)
        return list(self._stub.RequestWork(request, **self._more).workunits)

    def submit(self, *results: pb.Result) -> None:
        request = pb.SubmitResultsRequest(host_key=self._key, results=results)
        self._stub.SubmitResults(request, **self._more)


@pytest.mark.parametrize("wait_ms", [0, 20_000])
def test_one_who_polls_delays_nobody(
    raw: grpc.Channel, queue: Queue, connection: Connection, wait_ms: int
) -> None:
    poller, honest = (Account(raw, connection, name) for name in ("poller", "honest"))
    queue.add(5)
    poller.submit(*map(answer, poller.take(5)))
    # Five answers of the poller wait for another user's, and nobody says so any more.
    connection.execute("UPDATE workunits SET quorum = 2, state = 'ready'")
    stop = threading.Event()

    def poll() -> None:
        while not stop.wait(0.05):
            assert not poller.take()

    waited, taken = [], 0
    with ThreadPoolExecutor(1) as pool:
        polling = pool.submit(poll)
        time.sleep(2 * RECHECK_SECONDS)
        for _ in range(5):
            time.sleep(0.1)  # after a poll
            started = time.monotonic()
            taken += len(honest.take(wait_ms=wait_ms))
            waited.append(time.monotonic() - started)
        stop.set()
        polling.result()
    assert taken == 5
    assert max(waited) < 2.0, waited


# -- names -----------------------------------------------------------------------------------


def test_no_name_looks_like_another(stub: service.CoordinatorStub) -> None:
    assert stub.Register(pb.RegisterRequest(user_name="Ａda"), timeout=60).user_name == "Ada"
    for alike in ("ada", "аdа", "Ada", "АDА"):
        assert refusal(stub.Register, pb.RegisterRequest(user_name=alike)) == (
            grpc.StatusCode.ALREADY_EXISTS, service.NAME_TAKEN,
        )  # fmt: skip
    for own in ("ｏｐｅｒａｔｏｒ", "оperator"):
        code, _ = refusal(stub.Register, pb.RegisterRequest(user_name=own))
        assert code == grpc.StatusCode.INVALID_ARGUMENT


def test_no_team_looks_like_another(stub: service.CoordinatorStub, connection: Connection) -> None:
    def register(team: str) -> pb.RegisterRequest:
        return pb.RegisterRequest(team=team)

    for _ in range(2):  # the second joins
        stub.Register(register("Solvers"), timeout=60)
    for alike in ("solvers", "Ѕolvers", "SOLVERS", "So1vers"):
        assert refusal(stub.Register, register(alike)) == (
            grpc.StatusCode.INVALID_ARGUMENT, service.BROKEN_LIMIT,
        )  # fmt: skip
        with pytest.raises(accounts.AccountError, match="join them"):
            accounts.open_account(connection, "otto", Role.OPERATOR, team=alike, actor="test")
    accounts.open_account(connection, "otto", Role.OPERATOR, team="Solvers", actor="test")
    members = connection.execute(
        "SELECT teams.name, count(*) FROM users JOIN teams ON teams.id = team GROUP BY 1"
    ).fetchall()
    assert members == [("Solvers", 3)]


def test_names_that_come_at_the_same_moment_do_not_look_alike(
    database: str, connection: Connection
) -> None:
    def open_other() -> None:
        with connect_once(database) as other:
            accounts.open_account(other, "аda", Role.VOLUNTEER, actor="test")

    with ThreadPoolExecutor(1) as pool:
        with connection.transaction():
            accounts.open_account(connection, "ada", Role.VOLUNTEER, actor="test")
            waiting = pool.submit(open_other)
            wait_until(lambda: waiting.done() or _somebody_waits(database))
        with pytest.raises(accounts.AccountError, match="looks the same"):
            waiting.result()


def _somebody_waits(database: str) -> bool:
    with connect_once(database) as other:
        return bool(other.execute(
            "SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"
        ).fetchall())  # fmt: skip
