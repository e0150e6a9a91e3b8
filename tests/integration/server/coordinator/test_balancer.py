"""Two coordinators behind a real HAProxy: one address, spread calls, limits for each caller."""

from __future__ import annotations

import secrets
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import grpc
import pytest

from tests.support.balancer import balancing
from tests.support.coordinator import Queue, running_coordinator, wait_until
from zermelo.proto import coordinator_pb2 as pb
from zermelo.proto import service
from zermelo.server.coordinator import reading

#: Where a caller claims to be.
PRETENDED = ((reading.FORWARDED, "203.0.113.9"),)


class Caller:
    """A client of the balancer with a connection of its own."""

    def __init__(self, address: str, roots: Path) -> None:
        credentials = grpc.ssl_channel_credentials(roots.read_bytes())
        self.channel = grpc.secure_channel(address, credentials, options=(
            ("grpc.ssl_target_name_override", "localhost"), ("grpc.use_local_subchannel_pool", 1),
        ))  # fmt: skip
        self.stub = service.CoordinatorStub(self.channel)
        self.key = secrets.token_bytes(16)

    def take(self) -> list[pb.Workunit]:
        version = service.PROTOCOL_VERSION
        hello = pb.HelloRequest(protocol_version=version, host_key=self.key, workers=1)
        self.stub.Hello(hello, metadata=PRETENDED, timeout=60)
        request = pb.RequestWorkRequest(host_key=self.key, wanted=1, speed=1000)
        return list(self.stub.RequestWork(request, metadata=PRETENDED, timeout=60).workunits)


@pytest.mark.long
def test_two_coordinators_serve_one_address(
    database: str, queue: Queue, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[tuple[reading.Callers, str]] = []
    address_of = reading.Callers.address_of

    def note(callers: reading.Callers, context: Any) -> str:
        address = address_of(callers, context)
        seen.append((callers, address))
        return address

    monkeypatch.setattr(reading.Callers, "address_of", note)
    queue.add(20)
    with ExitStack() as stack:
        first, second = (stack.enter_context(ExitStack()) for _ in range(2))
        addresses = [
            each.enter_context(running_coordinator(database, balancers=("127.0.0.1",)))
            for each in (first, second)
        ]
        address, roots = stack.enter_context(balancing(tmp_path, addresses))
        callers = [Caller(address, roots) for _ in range(6)]
        taken = [workunit.lease_id for caller in callers for workunit in caller.take()]
        assert len(set(taken)) == len(callers)
        # Both had calls, and whatever a caller says of itself does not count.
        assert len({id(served) for served, _ in seen}) == 2
        assert {told for _, told in seen} == {"127.0.0.1"}
        # One goes away; whoever calls again is served by the other.
        first.close()
        for caller in callers:
            wait_until(lambda caller=caller: tried(caller))
            caller.channel.close()


def tried(caller: Caller) -> bool:
    """Whether a call succeeds; one that was on its way to a dead coordinator may fail."""
    try:
        return bool(caller.take())
    except grpc.RpcError as error:
        if error.code() != grpc.StatusCode.UNAVAILABLE:
            raise
        return False
