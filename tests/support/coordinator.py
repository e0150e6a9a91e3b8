"""A real coordinator over loopback, and workunits to hand out without a generator."""

from __future__ import annotations

import secrets
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import grpc
import pytest

from zermelo.games import open_game
from zermelo.proto import coordinator_pb2 as pb
from zermelo.proto import service
from zermelo.proto.service import PROTOCOL_VERSION, CoordinatorStub
from zermelo.research.serving import reply_to
from zermelo.server.campaigns import Campaign, create_campaign
from zermelo.server.coordinator.main import run
from zermelo.server.coordinator.settings import CoordinatorSettings
from zermelo.server.database import Connection
from zermelo.server.ports import free_port

#: Between two looks, in seconds.
LONGEST_PAUSE = 0.05


def wait_until(condition: Callable[[], Any], seconds: float = 180.0) -> Any:
    """What the condition gives once it holds; fails the test when it never does."""
    deadline, pause = time.monotonic() + seconds, 0.01
    while not (found := condition()):
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(pause)
        pause = min(1.2 * pause, LONGEST_PAUSE)  # looking is work, too
    return found


def listens(address: str) -> bool:
    """Whether somebody accepts connections at HOST:PORT."""
    host, _, port = address.rpartition(":")
    try:
        socket.create_connection((host, int(port)), timeout=60).close()
    except OSError:
        return False
    return True


@contextmanager
def running_coordinator(
    url: str, listen: str = "", channel: Any = None, researchers: Any = reply_to, **settings: Any
) -> Iterator[str]:
    """The address of a coordinator that runs in a thread; `channel` tells when it is up.

    `researchers` answers them; None for a coordinator that does not serve any.
    """
    address = listen or f"127.0.0.1:{free_port()}"
    settings.setdefault("require_token", False)
    stop = threading.Event()
    chosen = CoordinatorSettings(listen=address, **settings)
    thread = threading.Thread(target=run, args=(url, stop, chosen, researchers))
    thread.start()
    try:
        # A channel that is refused once waits a second before it tries again.
        wait_until(lambda: listens(address))
        with channel or grpc.insecure_channel(address) as waiting:
            grpc.channel_ready_future(waiting).result(timeout=120)
        yield address
    finally:
        stop.set()
        thread.join(120)
        assert not thread.is_alive()


def bearer(token: str) -> tuple[tuple[str, str], ...]:
    return ((service.AUTHORIZATION, f"Bearer {token}"),)


def refusal(call: Any, request: Any, **more: Any) -> tuple[grpc.StatusCode, str]:
    """The status and the reason with which a call is refused."""
    with pytest.raises(grpc.RpcError) as caught:
        call(request, timeout=60, **more)
    return caught.value.code(), dict(caught.value.trailing_metadata())[service.REASON]


class Host:
    """A client by hand: one host that makes single calls."""

    def __init__(self, address: str, *, hello: bool = True) -> None:
        self.key = secrets.token_bytes(16)
        self.channel = grpc.insecure_channel(address)
        self.stub = CoordinatorStub(self.channel)
        if hello:
            self.hello()

    def close(self) -> None:
        self.channel.close()

    def hello(self, **fields: Any) -> pb.HelloReply:
        request: dict[str, Any] = {
            "protocol_version": PROTOCOL_VERSION, "host_key": self.key, "workers": 1, **fields,
        }  # fmt: skip
        reply: pb.HelloReply = self.stub.Hello(pb.HelloRequest(**request), timeout=120)
        return reply

    def request(self, wanted: int = 1, wait_ms: int = 0, speed: int = 1000) -> pb.RequestWorkReply:
        reply: pb.RequestWorkReply = self.stub.RequestWork(
            pb.RequestWorkRequest(
                host_key=self.key, wanted=wanted, wait_ms=wait_ms, speed=speed
            ),
            timeout=wait_ms / 1000 + 120,
        )
        return reply

    def take(self, wanted: int = 1) -> list[pb.Workunit]:
        return list(self.request(wanted).workunits)

    def submit(self, *results: pb.Result) -> list[int]:
        reply = self.stub.SubmitResults(
            pb.SubmitResultsRequest(host_key=self.key, results=results), timeout=120
        )
        return [receipt.status for receipt in reply.receipts]

    def beat(self, **nodes_by_lease: int) -> list[pb.LeaseUpdate]:
        leases = [
            pb.LeaseProgress(lease_id=int(lease.removeprefix("lease")), nodes=nodes)
            for lease, nodes in nodes_by_lease.items()
        ]
        reply = self.stub.Heartbeat(
            pb.HeartbeatRequest(host_key=self.key, leases=leases), timeout=120
        )
        return list(reply.leases)

    def give_back(self, *leases: int, leaving: bool = False) -> int:
        request = pb.ReturnWorkRequest(
            host_key=self.key,
            leases=[pb.ReturnedLease(lease_id=lease) for lease in leases],
            leaving=leaving,
        )
        returned: int = self.stub.ReturnWork(request, timeout=120).returned
        return returned


def answer(workunit: pb.Workunit, **fields: Any) -> pb.Result:
    """A result that says yes to a workunit, unless told otherwise."""
    values: dict[str, Any] = {
        "lease_id": workunit.lease_id, "answer": pb.YES, "lo": workunit.threshold, "hi": 16,
        "nodes": 10, "milliseconds": 5, **fields,
    }  # fmt: skip
    return pb.Result(**values)


@pytest.fixture
def campaign(connection: Connection) -> Campaign:
    return create_campaign(connection, "reversi:4x4", replication="none")


@pytest.fixture
def coordinator(database: str, campaign: Campaign) -> Iterator[str]:
    with running_coordinator(database, lease_seconds=30.0) as address:
        yield address


@pytest.fixture
def guarded(database: str, campaign: Campaign) -> Iterator[str]:
    """A coordinator that asks for tokens."""
    with running_coordinator(database, require_token=True) as address:
        yield address


@pytest.fixture
def stub(guarded: str) -> Iterator[CoordinatorStub]:
    with grpc.insecure_channel(guarded) as channel:
        yield CoordinatorStub(channel)


@pytest.fixture
def host(coordinator: str) -> Iterator[Host]:
    host = Host(coordinator)
    yield host
    host.close()


class Queue:
    """Workunits about the root, one per threshold, as a generator would write them."""

    def __init__(self, connection: Connection, campaign: Campaign) -> None:
        self._connection = connection
        self._campaign = campaign
        self._thresholds = iter(range(-15, 17))

    def add(self, count: int = 1, *, node_budget: int | None = None) -> list[int]:
        added = []
        with self._connection.transaction():
            for threshold in [next(self._thresholds) for _ in range(count)]:
                row = self._connection.execute(
                    "INSERT INTO workunits (node, campaign, threshold, node_budget, priority,"
                    " expected, guess, plies_left, ply) VALUES (%s, %s, %s, %s, %s, 1, 0, 12, 0)"
                    " RETURNING id",
                    (self._campaign.root, self._campaign.id, threshold, node_budget, threshold),
                ).fetchone()
                assert row is not None
                added.append(row[0])
            self._connection.execute("SELECT pg_notify('zermelo_ready', '')")
        return added

    def state(self, workunit: int) -> str:
        return self._value("SELECT state::text FROM workunits WHERE id = %s", workunit)

    def lease_state(self, lease: int) -> str:
        return self._value("SELECT state::text FROM leases WHERE id = %s", lease)

    def workunit_of(self, taken: pb.Workunit) -> int:
        """The workunit behind a lease, which clients are not told."""
        return int(self._value("SELECT workunit FROM leases WHERE id = %s", taken.lease_id))

    def set_state(self, workunit: int, state: str) -> None:
        self._connection.execute(
            "UPDATE workunits SET state = %s WHERE id = %s", (state, workunit)
        )

    def results(self) -> list[tuple[Any, ...]]:
        return self._connection.execute(
            "SELECT lease, answer::text, lo, hi, late FROM results ORDER BY lease"
        ).fetchall()

    def _value(self, query: str, *parameters: Any) -> str:
        row = self._connection.execute(query, parameters).fetchone()  # type: ignore[arg-type]
        assert row is not None
        return str(row[0])


@pytest.fixture
def queue(connection: Connection, campaign: Campaign) -> Queue:
    return Queue(connection, campaign)


def root_key(spec: str) -> bytes:
    game = open_game(spec)
    return game.encode(game.canonical(game.initial()))
