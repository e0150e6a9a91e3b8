"""The coordinator over real gRPC and a real PostgreSQL."""

from __future__ import annotations

import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc

from tests.support.coordinator import Host, Queue, answer, root_key, running_coordinator, wait_until
from zermelo.proto import coordinator_pb2 as pb
from zermelo.proto import service
from zermelo.proto.known import KnownBounds, pack, to_message
from zermelo.server.campaigns import Campaign
from zermelo.server.coordinator import main
from zermelo.server.coordinator.leases import queue as call_queue
from zermelo.server.coordinator.leases.queue import CallQueue
from zermelo.server.coordinator.main import run
from zermelo.server.coordinator.settings import CoordinatorSettings
from zermelo.server.coordinator.transport import bind
from zermelo.server.database import Connection
from zermelo.server.ports import PortTakenError, free_port

ACCEPTED, DUPLICATE = pb.Receipt.ACCEPTED, pb.Receipt.DUPLICATE
LATE, REFUSED = pb.Receipt.LATE, pb.Receipt.REFUSED


def reason(error: grpc.RpcError) -> str:
    return dict(error.trailing_metadata())[service.REASON]


# -- Hello ------------------------------------------------------------------------------


def test_hello_tells_the_rules(host: Host) -> None:
    reply = host.hello()
    assert reply.protocol_version == service.PROTOCOL_VERSION
    assert reply.heartbeat_ms > 0
    assert reply.longest_wait_ms > 0
    assert [game.split(",")[0] for game in reply.games] == ["reversi:4x4"]


def test_who_calls_before_it_is_there_waits_at_the_open_door(
    database: str, campaign: Campaign
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening, ThreadPoolExecutor(1) as pool:
        address = f"127.0.0.1:{listening.getsockname()[1]}"
        early = Host(address, hello=False)
        replied = pool.submit(early.hello)
        with running_coordinator(database, address, listening=listening.dup()):
            assert replied.result(120).heartbeat_ms > 0
            early.close()


def test_the_speed_of_a_new_host_is_known_as_soon_as_it_asks(
    connection: Connection, database: str, campaign: Campaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(main, "HOUSEKEEPING_SECONDS", 1000.0)
    with running_coordinator(database) as address:
        host = Host(address)
        host.request(speed=12345)
        wait_until(lambda: connection.execute("SELECT FROM hosts WHERE speed = 12345").fetchone()
                   is not None)  # fmt: skip
        host.close()


def test_many_hosts_come_at_the_same_moment(coordinator: str) -> None:
    hosts = [Host(coordinator, hello=False) for _ in range(24)]
    with ThreadPoolExecutor(len(hosts)) as pool:
        replies = list(pool.map(Host.hello, hosts))
    assert all(reply.heartbeat_ms for reply in replies)
    for host in hosts:
        host.close()


def test_a_client_that_is_too_old_is_told_so(
    host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service, "OLDEST_PROTOCOL_VERSION", 2)
    with pytest.raises(grpc.RpcError) as caught:
        host.hello(protocol_version=1)
    assert caught.value.code() == grpc.StatusCode.FAILED_PRECONDITION
    assert reason(caught.value) == service.TOO_OLD
    assert "newer" in caught.value.details()


def test_a_newer_client_is_welcome(host: Host) -> None:
    assert host.hello(protocol_version=99).protocol_version == service.PROTOCOL_VERSION


def test_a_stranger_is_asked_to_say_hello(coordinator: str) -> None:
    stranger = Host(coordinator, hello=False)
    for call in (stranger.request, lambda: stranger.beat(lease1=1), lambda: stranger.give_back(1)):
        with pytest.raises(grpc.RpcError) as caught:
            call()
        assert caught.value.code() == grpc.StatusCode.UNAUTHENTICATED
        assert reason(caught.value) == service.UNKNOWN_HOST
    stranger.close()


def test_the_database_does_not_hold_the_host_key(host: Host, connection: Connection) -> None:
    row = connection.execute("SELECT uuid_send(host_key_digest) FROM hosts").fetchone()
    assert row is not None
    assert bytes(row[0]) != host.key


def test_hello_ends_forgotten_leases(host: Host, queue: Queue) -> None:
    queue.add(3)
    first, second, third = host.take(3)
    host.hello(held_leases=[second.lease_id])
    assert queue.lease_state(first.lease_id) == "abandoned"
    assert queue.lease_state(second.lease_id) == "open"
    assert queue.state(queue.workunit_of(third)) == "ready"


# -- RequestWork ------------------------------------------------------------------------


def test_a_workunit_says_everything_a_client_needs(host: Host, queue: Queue) -> None:
    (workunit,) = queue.add(1, node_budget=123)
    (taken,) = host.take()
    assert queue.workunit_of(taken) == workunit
    assert taken.game.startswith("reversi:4x4")
    assert taken.position == root_key("reversi:4x4")
    assert taken.threshold == -15
    assert taken.node_budget == 123
    assert taken.lease_ms == 30_000
    assert queue.state(workunit) == "leased"


def test_the_budget_follows_speed(host: Host, queue: Queue) -> None:
    queue.add(1)
    (taken,) = host.request(speed=5000).workunits
    assert taken.node_budget == 10_000  # two seconds' worth


def test_the_speed_that_a_host_has_shown_counts_more_than_what_it_says(
    database: str, campaign: Campaign, queue: Queue, connection: Connection
) -> None:
    def shown() -> float:
        row = connection.execute("SELECT speed FROM hosts WHERE searched_seconds >= 1").fetchone()
        return row[0] if row else 0.0

    def node_budget(host: Host, said: int) -> int:
        (taken,) = host.request(speed=said).workunits
        host.give_back(taken.lease_id)
        return taken.node_budget

    queue.add(3)
    with running_coordinator(database) as address:
        host = Host(address)
        assert node_budget(host, 5000) == 10_000  # two seconds' worth of what it says
        first, second = host.take(2)
        host.submit(answer(first, nodes=3_000, milliseconds=2_000))
        wait_until(lambda: shown() == pytest.approx(1500))
        wait_until(lambda: node_budget(host, 5000) == 3_000)
        # Refused results, repeated ones and those too short to tell anything do not count.
        host.submit(answer(first, nodes=10**9, milliseconds=2_000))
        host.submit(pb.Result(lease_id=10**6, answer=pb.YES, nodes=10**9, milliseconds=2_000))
        host.submit(answer(second, nodes=10**6, milliseconds=5))
        # What it says at the next start does not, either.
        host.hello(speed=77)
        assert (shown(), node_budget(host, 77)) == (pytest.approx(1500), 3_000)
        host.close()
    # Another coordinator knows from the record, in which the latest results count most.
    with running_coordinator(database) as address:
        again = Host(address, hello=False)
        again.key = host.key
        assert node_budget(again, 5000) == 3_000
        (third,) = again.take()
        again.submit(answer(third, nodes=10**8, milliseconds=10**7))
        wait_until(lambda: shown() == pytest.approx(10_000, rel=0.01))
        again.close()


def test_known_bounds_are_sent_along(host: Host, queue: Queue, connection: Connection) -> None:
    (workunit,) = queue.add()
    known = [KnownBounds(b"p" * 16, b"", -3, 5)]
    connection.execute("UPDATE workunits SET known = %s WHERE id = %s", (pack(known), workunit))
    (taken,) = host.take()
    assert taken.known == to_message(known)


def test_the_most_urgent_comes_first(host: Host, queue: Queue) -> None:
    workunits = queue.add(3)
    assert [queue.workunit_of(taken) for taken in host.take(2)] == workunits[:2]
    assert [queue.workunit_of(taken) for taken in host.take(2)] == workunits[2:]


def test_no_work_has_a_reason(host: Host, connection: Connection, campaign: Campaign) -> None:
    no_work = host.request().no_work
    assert no_work.reason == pb.NoWork.ALL_LEASED
    assert no_work.message
    assert no_work.retry_after_ms > 0
    connection.execute("UPDATE campaigns SET state = 'paused'")
    assert host.request().no_work.reason == pb.NoWork.PAUSED
    connection.execute("UPDATE campaigns SET state = 'cancelled'")
    assert host.request().no_work.reason == pb.NoWork.NO_CAMPAIGN


def test_a_paused_campaign_hands_out_nothing(
    host: Host, queue: Queue, connection: Connection
) -> None:
    queue.add()
    connection.execute("UPDATE campaigns SET state = 'paused'")
    assert not host.take()


@pytest.fixture
def waiting(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many calls waited, each time that all the work there was had been handed out."""
    counts: list[int] = []
    serve = CallQueue._serve

    async def counted(self: CallQueue) -> None:
        await serve(self)
        counts.append(len(self._queue))

    monkeypatch.setattr(CallQueue, "_serve", counted)
    return counts


def test_a_long_poll_ends_when_work_turns_up(
    host: Host, queue: Queue, waiting: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    # Because it hears of it, not because it looks again.
    monkeypatch.setattr(call_queue, "RECHECK_SECONDS", 3600.0)
    with ThreadPoolExecutor(1) as pool:
        asked = pool.submit(host.request, 1, 60_000)
        wait_until(lambda: 1 in waiting)
        assert not asked.done()
        queue.add()
        assert asked.result(120).workunits


def test_a_long_poll_ends_in_time(host: Host) -> None:
    started = time.monotonic()
    assert host.request(wait_ms=400).no_work.reason == pb.NoWork.ALL_LEASED
    assert time.monotonic() - started > 0.3


def test_work_for_a_client_that_hung_up_is_not_lost(
    host: Host, queue: Queue, waiting: list[int]
) -> None:
    call = host.stub.RequestWork.future(
        pb.RequestWorkRequest(host_key=host.key, wanted=4, wait_ms=60_000)
    )
    wait_until(lambda: 1 in waiting)
    call.cancel()
    (workunit,) = queue.add()
    other = host.request(wait_ms=60_000)
    assert [queue.workunit_of(taken) for taken in other.workunits] == [workunit]


def test_generators_hear_that_more_is_wanted(host: Host, connection: Connection) -> None:
    connection.execute("LISTEN zermelo_wanted")
    host.request()
    assert list(connection.notifies(timeout=120, stop_after=1))


def test_two_coordinators_never_hand_out_the_same(
    coordinator: str, database: str, queue: Queue
) -> None:
    queue.add(30)
    with running_coordinator(database) as second:
        hosts = [Host(address) for address in (coordinator, second) * 3]
        with ThreadPoolExecutor(len(hosts)) as pool:
            taken = [unit for units in pool.map(lambda h: h.take(5), hosts) for unit in units]
        for host in hosts:
            host.close()
    assert len(taken) == len({queue.workunit_of(unit) for unit in taken}) == 30


def test_one_to_everybody_before_a_second_to_anybody(
    coordinator: str, queue: Queue, waiting: list[int]
) -> None:
    hosts = [Host(coordinator) for _ in range(4)]
    with ThreadPoolExecutor(4) as pool:
        asked = [pool.submit(host.request, 8, 60_000) for host in hosts]
        wait_until(lambda: len(hosts) in waiting)
        queue.add(4)
        assert [len(call.result().workunits) for call in asked] == [1, 1, 1, 1]
    for host in hosts:
        host.close()


# -- SubmitResults ----------------------------------------------------------------------


def test_a_result_is_stored_once(host: Host, queue: Queue, connection: Connection) -> None:
    connection.execute("LISTEN zermelo_results")
    (workunit,) = queue.add()
    (taken,) = host.take()
    assert host.submit(answer(taken)) == [ACCEPTED]
    assert host.submit(answer(taken)) == [DUPLICATE]
    assert host.submit(answer(taken, answer=pb.NO, lo=-16, hi=-16)) == [DUPLICATE]
    assert queue.results() == [(taken.lease_id, "yes", -15, 16, False)]
    assert queue.state(workunit) == "returned"
    assert queue.lease_state(taken.lease_id) == "returned"
    assert list(connection.notifies(timeout=120, stop_after=1))


def test_the_same_result_twice_in_one_call(host: Host, queue: Queue) -> None:
    queue.add(2)
    first, second = host.take(2)
    receipts = host.submit(answer(first), answer(second), answer(first))
    assert sorted(receipts) == [ACCEPTED, ACCEPTED, DUPLICATE]
    assert len(queue.results()) == 2


def test_a_late_result_is_kept_but_harmless(
    host: Host, queue: Queue, connection: Connection
) -> None:
    expired, withdrawn = queue.add(2)
    first, second = host.take(2)
    connection.execute(
        "UPDATE leases SET state = 'expired', ended_at = now() WHERE id = %s", (first.lease_id,)
    )
    queue.set_state(expired, "ready")
    queue.set_state(withdrawn, "withdrawn")
    assert host.submit(answer(first), answer(second)) == [LATE, LATE]
    assert queue.lease_state(first.lease_id) == "expired"
    assert queue.state(expired) == "returned"
    assert queue.state(withdrawn) == "withdrawn"
    assert [row[4] for row in queue.results()] == [True, True]


@pytest.mark.parametrize(
    "fields",
    [
        {"answer": pb.YES, "lo": -16, "hi": 16},
        {"answer": pb.NO, "lo": -16, "hi": 16},
        {"answer": pb.YES, "lo": 5, "hi": 3},
        {"answer": pb.EXHAUSTED, "lo": 5, "hi": 3},
    ],
)
def test_a_result_that_contradicts_itself_gives_the_work_back(
    host: Host, queue: Queue, fields: dict[str, int]
) -> None:
    (workunit,) = queue.add()
    (taken,) = host.take()
    assert host.submit(answer(taken, **fields)) == [REFUSED]
    assert queue.results() == []
    assert queue.state(workunit) == "ready"
    assert queue.lease_state(taken.lease_id) == "abandoned"


def test_nobody_answers_for_another_host(host: Host, coordinator: str, queue: Queue) -> None:
    (workunit,) = queue.add()
    (taken,) = host.take()
    thief = Host(coordinator)
    assert thief.submit(answer(taken)) == [REFUSED]
    assert thief.give_back(taken.lease_id) == 0
    (update,) = thief.beat(**{f"lease{taken.lease_id}": 5})
    assert update.cause == pb.LeaseUpdate.UNKNOWN
    assert queue.state(workunit) == "leased"
    assert host.submit(answer(taken)) == [ACCEPTED]
    thief.close()


def test_an_exhausted_result_brings_home_what_it_proved(
    host: Host, queue: Queue, connection: Connection
) -> None:
    queue.add()
    (taken,) = host.take()
    proved = [KnownBounds(b"q" * 16, b"", -2, 7)]
    result = answer(taken, answer=pb.EXHAUSTED, lo=-16, proved=to_message(proved))
    assert host.submit(result) == [ACCEPTED]
    row = connection.execute("SELECT proved FROM results").fetchone()
    assert row == (pack(proved),)


# -- Heartbeat --------------------------------------------------------------------------


def test_only_progress_extends_a_lease(host: Host, queue: Queue, connection: Connection) -> None:
    queue.add()
    (taken,) = host.take()
    connection.execute("UPDATE leases SET deadline = now() + interval '20 seconds'")
    lease = f"lease{taken.lease_id}"
    (update,) = host.beat(**{lease: 100})
    assert update.directive == pb.LeaseUpdate.CONTINUE
    assert update.lease_ms > 25_000
    assert (update.lo, update.hi) == (-16, 16)
    connection.execute("UPDATE leases SET deadline = now() + interval '20 seconds'")
    (update,) = host.beat(**{lease: 100})
    assert update.directive == pb.LeaseUpdate.CONTINUE
    assert update.lease_ms <= 20_000


@pytest.mark.parametrize(
    ("change", "cause"),
    [
        ("UPDATE workunits SET state = 'withdrawn'", pb.LeaseUpdate.WITHDRAWN),
        ("UPDATE workunits SET state = 'answered'", pb.LeaseUpdate.WITHDRAWN),
        ("UPDATE campaigns SET state = 'paused'", pb.LeaseUpdate.CAMPAIGN_PAUSED),
        ("UPDATE campaigns SET state = 'finished', finished_at = now()",
         pb.LeaseUpdate.CAMPAIGN_FINISHED),
    ],
)  # fmt: skip
def test_what_nobody_needs_is_dropped(
    host: Host, queue: Queue, connection: Connection, change: str, cause: int
) -> None:
    queue.add()
    (taken,) = host.take()
    connection.execute(change)  # type: ignore[arg-type]
    (update,) = host.beat(**{f"lease{taken.lease_id}": 7})
    assert (update.directive, update.cause) == (pb.LeaseUpdate.DROP, cause)
    assert queue.lease_state(taken.lease_id) == "cancelled"


def test_work_of_a_paused_campaign_waits_for_it(
    host: Host, queue: Queue, connection: Connection
) -> None:
    (workunit,) = queue.add()
    (taken,) = host.take()
    connection.execute("UPDATE campaigns SET state = 'paused'")
    host.beat(**{f"lease{taken.lease_id}": 7})
    assert queue.state(workunit) == "ready"


def test_leases_without_progress_expire(
    database: str, campaign: Campaign, queue: Queue
) -> None:
    with running_coordinator(database, lease_seconds=0.5) as address:
        host = Host(address)
        (workunit,) = queue.add()
        (taken,) = host.take()
        lease = f"lease{taken.lease_id}"
        wait_until(
            lambda: host.beat(**{lease: 50})
            and queue.lease_state(taken.lease_id) == "expired"
        )
        (update,) = host.beat(**{lease: 60})
        assert update.cause == pb.LeaseUpdate.EXPIRED
        (again,) = host.take()
        assert queue.workunit_of(again) == workunit
        host.close()


# -- ReturnWork -------------------------------------------------------------------------


def test_returned_work_is_ready_at_once(host: Host, coordinator: str, queue: Queue) -> None:
    (workunit,) = queue.add()
    (taken,) = host.take()
    assert host.give_back(taken.lease_id) == 1
    assert host.give_back(taken.lease_id) == 0
    other = Host(coordinator)
    assert [queue.workunit_of(unit) for unit in other.take()] == [workunit]
    other.close()


def test_a_client_that_leaves_holds_nothing(host: Host, queue: Queue) -> None:
    workunits = queue.add(3)
    host.take(3)
    host.give_back(leaving=True)
    assert {queue.state(workunit) for workunit in workunits} == {"ready"}


# -- the server itself ------------------------------------------------------------------


@pytest.mark.parametrize("method", [
    method.name for method in service.COORDINATOR.methods
    if method.name not in ("Register", "Standing")  # for these, empty is a request
])
def test_an_empty_message_is_refused_by_every_rpc(host: Host, method: str) -> None:
    kind = getattr(pb, f"{method}Request")
    with pytest.raises(grpc.RpcError) as caught:
        getattr(host.stub, method)(kind(), timeout=120)
    assert caught.value.code() == grpc.StatusCode.INVALID_ARGUMENT
    assert reason(caught.value) == service.BROKEN_LIMIT


def test_an_oversized_message_is_refused(host: Host) -> None:
    request = pb.HelloRequest(host_name="x" * (17 * 1024 * 1024))
    with pytest.raises(grpc.RpcError) as caught:
        host.stub.Hello(request, timeout=120)
    assert caught.value.code() == grpc.StatusCode.RESOURCE_EXHAUSTED


def test_garbage_is_refused(host: Host) -> None:
    call = host.channel.unary_unary(f"/{service.COORDINATOR.full_name}/Hello")
    with pytest.raises(grpc.RpcError):
        call(b"\xff" * 100, timeout=120)
    assert host.hello()


def test_health_and_reflection(host: Host) -> None:
    health = health_pb2_grpc.HealthStub(host.channel)
    request = health_pb2.HealthCheckRequest(service=service.COORDINATOR.full_name)
    assert health.Check(request, timeout=120).status == health_pb2.HealthCheckResponse.SERVING
    stub = reflection_pb2_grpc.ServerReflectionStub(host.channel)
    question = reflection_pb2.ServerReflectionRequest(list_services="")
    (reply,) = stub.ServerReflectionInfo(iter([question]), timeout=120)
    names = {item.name for item in reply.list_services_response.service}
    assert service.COORDINATOR.full_name in names


def test_a_taken_port_is_an_error_with_a_sentence(database: str, coordinator: str) -> None:
    with pytest.raises(PortTakenError, match="taken"):
        run(database, threading.Event(), CoordinatorSettings(listen=coordinator))


def test_of_two_that_begin_to_listen_at_the_same_moment_one_does() -> None:
    settings = CoordinatorSettings(listen=f"127.0.0.1:{free_port()}", require_token=False)
    together = threading.Barrier(2, timeout=60)

    def listen() -> bool:
        together.wait()
        doors = []
        try:
            doors, _ = bind(settings)
        except PortTakenError:
            return False
        finally:
            together.wait()  # a port that is open stays so until the other one has tried
            for door in doors:
                door.listening.close()
        return True

    with ThreadPoolExecutor(2) as pool:
        tries = [pool.submit(listen) for _ in range(2)]
        assert sorted(each.result() for each in tries) == [False, True]


def test_many_calls_at_once_are_all_served(coordinator: str, queue: Queue) -> None:
    queue.add(32)
    hosts = [Host(coordinator) for _ in range(8)]

    def work(host: Host) -> int:
        done = 0
        while units := host.take(2):
            done += host.submit(*[answer(unit) for unit in units]).count(ACCEPTED)
        return done

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(work, hosts)) == 32
    wait_until(lambda: len(queue.results()) == 32)
    for host in hosts:
        host.close()


def test_a_burst_of_calls_is_served_to_the_last(host: Host) -> None:
    """More than one connection may have at the same time."""
    request = pb.HeartbeatRequest(host_key=host.key)
    calls = [host.stub.Heartbeat.future(request, timeout=300) for _ in range(2500)]
    assert {call.code() for call in calls} == {grpc.StatusCode.OK}
