"""Clients that never finish what they send: they hold up nobody, and not for ever."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc

from bench.plain_grpc import PlainChannel
from tests.support.coordinator import bearer, running_coordinator, wait_until
from zermelo.proto import coordinator_pb2 as pb
from zermelo.proto import service
from zermelo.server.coordinator import main, reading
from zermelo.server.database import Connection
from zermelo.server.http2.frames import PREFACE, data_frame, headers_frame, settings_frame
from zermelo.server.http2.server import Patience
from zermelo.server.trust import accounts
from zermelo.server.trust.accounts import Role

MANY = 60
SUBMIT = f"/{service.COORDINATOR.full_name}/SubmitResults"


@pytest.fixture
def hasty(
    database: str, campaign: object, monkeypatch: pytest.MonkeyPatch
) -> Iterator[str]:
    """A coordinator whose patience is a second."""
    monkeypatch.setattr(reading, "READ_SECONDS", 1.0)
    monkeypatch.setattr(main, "PATIENCE", Patience(handshake=1.0, idle=1.0))
    with running_coordinator(database, require_token=True) as address:
        yield address


def open_raw(address: str, data: bytes) -> socket.socket:
    host, _, port = address.rpartition(":")
    raw = socket.create_connection((host, int(port)), timeout=60)
    raw.sendall(data)
    return raw


def ends(raw: socket.socket) -> bool:
    """Whether the server has hung up; what it said before is left out."""
    raw.settimeout(0.01)
    try:
        while raw.recv(65536):
            pass
    except TimeoutError:
        return False
    except ConnectionError:
        return True
    return True


def resident_bytes() -> int:
    return 4096 * int(Path("/proc/self/statm").read_text().split()[1])


def test_who_never_ends_a_message_delays_nobody(hasty: str, connection: Connection) -> None:
    ada, bob = (
        accounts.open_account(connection, name, Role.VOLUNTEER, actor="test")
        for name in ("ada", "bob")
    )
    head = headers_frame(1, PlainChannel(hasty, bearer(ada)).head(SUBMIT))
    stranger = headers_frame(1, PlainChannel(hasty).head(SUBMIT))
    # A message of 100 kB of which some bytes come.
    begun = data_frame(1, b"\x00\x00\x01\x86\xa0" + b"\x12\x00" * 10)
    slow = {
        "nothing": b"",
        "half a preface": PREFACE[:10],
        "no settings": PREFACE,
        "half the headers": PREFACE + settings_frame(()) + head[:40],
        "no message": PREFACE + settings_frame(()) + head,
        "half a message": PREFACE + settings_frame(()) + head + begun,
        "half a message of a stranger": PREFACE + settings_frame(()) + stranger + begun,
    }
    before = resident_bytes()
    with ExitStack() as stack:
        raws = [
            (what, stack.enter_context(open_raw(hasty, data)))
            for _ in range(MANY // len(slow)) for what, data in slow.items()
        ]  # fmt: skip
        channel = stack.enter_context(grpc.insecure_channel(hasty))
        stub, health = service.CoordinatorStub(channel), health_pb2_grpc.HealthStub(channel)
        waits = []
        for _ in range(50):
            for what, raw in raws:
                if what == "half a message":
                    with suppress(ConnectionError):  # another byte does not prolong its time
                        raw.sendall(data_frame(1, b"\x12"))
            started = time.monotonic()
            health.Check(health_pb2.HealthCheckRequest(), timeout=60)
            stub.Standing(pb.StandingRequest(), metadata=bearer(bob), timeout=60)
            waits.append(time.monotonic() - started)
            time.sleep(0.02)
        assert sorted(waits)[len(waits) // 2] < 0.5, waits
        assert resident_bytes() - before < 64 << 20
        # Its sender is served as soon as its time is up, and every connection ends.
        stub.Standing(pb.StandingRequest(), metadata=bearer(ada), timeout=60)
        wait_until(lambda: all(ends(raw) for _, raw in raws), 60)


def test_the_sender_is_told(hasty: str, connection: Connection) -> None:
    ada = accounts.open_account(connection, "ada", Role.VOLUNTEER, actor="test")
    head = headers_frame(1, PlainChannel(hasty, bearer(ada)).head(SUBMIT))
    begun = data_frame(1, b"\x00\x00\x01\x86\xa0" + b"\x12")
    with open_raw(hasty, PREFACE + settings_frame(()) + head + begun) as raw:
        said, deadline = b"", time.monotonic() + 60
        while b"did not come within 1 seconds" not in said:
            assert time.monotonic() < deadline
            said += raw.recv(65536)
