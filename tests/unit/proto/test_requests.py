"""Requests as bytes: what is too much is refused before it is parsed."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zermelo.proto import coordinator_pb2 as pb
from zermelo.proto import requests
from zermelo.proto.limits import LimitError, check
from zermelo.proto.service import SERVICES
from zermelo.proto.wire import check_wire

KEY = b"k" * 16
RESULT = pb.Result(
    lease_id=2**62, answer=pb.EXHAUSTED, lo=-64, hi=64, nodes=10**12, milliseconds=10**9,
    proved=pb.KnownBounds(
        positions=KEY * 30, lo=[-64] * 30, hi=[64] * 30, histories=[b"h" * 48] * 30
    ),
)  # fmt: skip
LARGEST = {
    pb.RegisterRequest: pb.RegisterRequest(user_name="n" * 40, team="t" * 40, secret=bytes(32)),
    pb.RequestWorkRequest: pb.RequestWorkRequest(
        host_key=KEY, wanted=256, speed=10**12, wait_ms=600_000
    ),
    pb.HelloRequest: pb.HelloRequest(
        protocol_version=10**6, client_version="v" * 64, host_key=KEY, host_name="n" * 64,
        cores=65536, memory_mb=2**30, platform="p" * 128, workers=4096,
        speed=10**12, held_leases=[2**62] * 1024,
    ),
    pb.HeartbeatRequest: pb.HeartbeatRequest(host_key=KEY, leases=[
        pb.LeaseProgress(lease_id=2**62, nodes=10**15, done_permille=1000)
    ] * 1024),
    pb.ReturnWorkRequest: pb.ReturnWorkRequest(host_key=KEY, leases=[
        pb.ReturnedLease(lease_id=2**62, cause=3, nodes=10**15, message="m" * 512)
    ] * 1024),
    pb.SubmitResultsRequest: pb.SubmitResultsRequest(host_key=KEY, results=[RESULT] * 256),
}  # fmt: skip


@pytest.mark.parametrize("kind", LARGEST, ids=lambda kind: kind.DESCRIPTOR.name)
def test_the_largest_request_within_its_limits_is_read(kind: Any) -> None:
    check(LARGEST[kind])
    assert requests.parse(kind, LARGEST[kind].SerializeToString()) == LARGEST[kind]


def test_requests_have_limits_of_their_own() -> None:
    sizes = {
        method.input_type.name: requests.max_request_bytes(method.input_type)
        for service in SERVICES for method in service.methods
    }  # fmt: skip
    assert sizes["RequestWorkRequest"] < sizes["RegisterRequest"] < 2048
    assert sizes["HelloRequest"] < 32 * 1024
    assert max(sizes.values()) == sizes["SubmitResultsRequest"] == requests.MAX_REQUEST_BYTES
    with pytest.raises(LimitError, match="the request has 5000 bytes; at most"):
        requests.parse(pb.RequestWorkRequest, bytes(5000))


@pytest.mark.parametrize(
    ("kind", "data", "complaint"),
    [
        (pb.SubmitResultsRequest, b"\x12\x00" * 5000, "results has more than 256 items"),
        (pb.HeartbeatRequest, b"\x12\x00" * 5000, "leases has more than 1024 items"),
        # Nested: one result whose bounds have far too many empty histories, ...
        (pb.SubmitResultsRequest,
         pb.SubmitResultsRequest(results=[pb.Result(proved=pb.KnownBounds(
             histories=[b""] * 5000))]).SerializeToString(),
         "histories has more than 1024 items"),
        # ... or numbers that are not packed.
        (pb.SubmitResultsRequest, b"\x12\xd3\x4e\x3a\xd0\x4e" + b"\x10\x02" * 5032,
         "lo has more than 1024 items"),
        (pb.SubmitResultsRequest, b"\xf8\x07\x00" * 200_000, "more than 256 fields"),
        (pb.SubmitResultsRequest,
         pb.SubmitResultsRequest(results=[pb.Result(proved=pb.KnownBounds(
             histories=[b""] * 1024))] * 32).SerializeToString(), "more than 32768 fields"),
        (pb.SubmitResultsRequest, b"\x13\x14" * 4000, "no message"),
        (pb.SubmitResultsRequest, b"\x12\xff\xff\xff\x7f" * 2000, "no message"),
        (pb.SubmitResultsRequest, b"\xff" * 5000, "no message"),
        (pb.SubmitResultsRequest, b"\x08" + b"\xff" * 5000, "no message"),
    ],
)  # fmt: skip
def test_what_is_too_much_is_refused_unparsed(
    kind: Any, data: bytes, complaint: str
) -> None:
    with pytest.raises(LimitError, match=complaint):
        check_wire(kind.DESCRIPTOR, data, requests.MAX_FIELDS)
    with pytest.raises(LimitError, match=complaint):
        requests.parse(kind, data)


results = st.builds(
    lambda lease, histories, numbers: pb.Result(lease_id=lease, proved=pb.KnownBounds(
        histories=histories, lo=numbers, hi=numbers
    )),
    st.integers(-(2**63), 2**63 - 1),
    st.lists(st.binary(max_size=200), max_size=20),
    st.lists(st.integers(-(2**31), 2**31 - 1), max_size=20),
)  # fmt: skip


@given(st.lists(results, max_size=10))
def test_counting_reads_the_wire_as_protobuf_does(items: list[pb.Result]) -> None:
    message = pb.SubmitResultsRequest(host_key=KEY, results=items)
    data = message.SerializeToString()
    check_wire(message.DESCRIPTOR, data, requests.MAX_FIELDS)
    # A last item that ends beyond the message.
    with pytest.raises(LimitError, match="no message"):
        check_wire(message.DESCRIPTOR, data + b"\x12\x05\x08\x01", requests.MAX_FIELDS)
