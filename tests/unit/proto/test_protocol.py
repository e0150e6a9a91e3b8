"""The messages: limits on everything, modules that agree with their source, one codec."""

from __future__ import annotations

from pathlib import Path

import pytest
from google.protobuf.descriptor import FieldDescriptor
from hypothesis import given
from hypothesis import strategies as st

from zermelo.proto import coordinator_pb2 as pb
from zermelo.proto.generate import FOLDER, SOURCES, generate
from zermelo.proto.known import (
    MOST_BYTES,
    MOST_SEED_BYTES,
    KnownBounds,
    from_message,
    pack,
    unpack,
)
from zermelo.proto.limits import LimitError, check, limit_of
from zermelo.proto.service import SERVICES

KEY = b"k" * 16
NUMBERS = {
    FieldDescriptor.TYPE_UINT32, FieldDescriptor.TYPE_UINT64,
    FieldDescriptor.TYPE_SINT32, FieldDescriptor.TYPE_SINT64, FieldDescriptor.TYPE_INT64,
}  # fmt: skip


def fields() -> list[FieldDescriptor]:
    return [
        field for service in SERVICES
        for message in service.file.message_types_by_name.values()
        for field in message.fields
    ]  # fmt: skip


@pytest.mark.parametrize("field", fields(), ids=lambda field: field.full_name)
def test_every_field_that_can_grow_has_a_limit(field: FieldDescriptor) -> None:
    rule = limit_of(field)
    if field.is_repeated:
        assert rule.max_items
    if field.type in (FieldDescriptor.TYPE_BYTES, FieldDescriptor.TYPE_STRING):
        assert rule.max_bytes or rule.exact_bytes


def test_every_number_in_a_request_has_a_range() -> None:
    pending = [method.input_type for service in SERVICES for method in service.methods]
    seen = set()
    while pending:
        message = pending.pop()
        seen.add(message.full_name)
        for field in message.fields:
            if field.type == FieldDescriptor.TYPE_MESSAGE:
                pending.append(field.message_type)
            elif field.type in NUMBERS and not field.name.startswith(("lease", "held_lease")):
                assert limit_of(field).HasField("max"), field.full_name
    assert "zermelo.v1.KnownBounds" in seen


def test_modules_agree_with_their_source(tmp_path: Path) -> None:
    generate(tmp_path)
    for source in SOURCES:
        for suffix in ("_pb2.py", "_pb2.pyi"):
            name = source.removesuffix(".proto") + suffix
            made = (tmp_path / "zermelo" / "proto" / name).read_text()
            assert made == (FOLDER / name).read_text(), f"{name}: run `make proto`"


@pytest.mark.parametrize(
    ("message", "complaint"),
    [
        (pb.HelloRequest(protocol_version=1, workers=1, host_key=b"short"), "host_key has 5"),
        (pb.HelloRequest(protocol_version=1, host_key=KEY), "workers is missing"),
        (pb.HelloRequest(protocol_version=1, host_key=KEY, workers=5000), "workers is 5000"),
        (pb.HelloRequest(protocol_version=1, host_key=KEY, workers=1, host_name="ü" * 33),
         "host_name has 66 bytes"),
        (pb.RequestWorkRequest(host_key=KEY, wanted=257), "wanted is 257"),
        (pb.SubmitResultsRequest(host_key=KEY), "results is missing"),
        (pb.SubmitResultsRequest(host_key=KEY, results=[pb.Result(answer=1)]),
         "lease_id is missing"),
        (pb.SubmitResultsRequest(host_key=KEY, results=[pb.Result(lease_id=-1, answer=1)]),
         "lease_id is -1"),
        (pb.SubmitResultsRequest(host_key=KEY, results=[pb.Result(lease_id=1)]),
         "answer is missing"),
        (pb.SubmitResultsRequest(host_key=KEY, results=[pb.Result(lease_id=1, answer=9)]),
         "answer is 9"),
        (pb.SubmitResultsRequest(host_key=KEY, results=[pb.Result(lease_id=1, answer=1)] * 257),
         "results has 257 items"),
        (pb.Result(lease_id=1, answer=1, lo=-40000), "lo is -40000"),
        (pb.KnownBounds(positions=b"k" * 16400), "positions has 16400 bytes"),
        (pb.KnownBounds(lo=[1] * 1025), "lo has 1025 items"),
        (pb.KnownBounds(hi=[99999]), "hi is 99999"),
        (pb.HeartbeatRequest(host_key=KEY, leases=[pb.LeaseProgress(lease_id=1)] * 1025),
         "leases has 1025 items"),
    ],
)  # fmt: skip
def test_a_broken_limit_is_named(message: pb.HelloRequest, complaint: str) -> None:
    with pytest.raises(LimitError, match=complaint):
        check(message)


known_bounds = st.builds(
    lambda key, history, a, b: KnownBounds(key, history, min(a, b), max(a, b)),
    st.binary(min_size=16, max_size=16),
    st.binary(max_size=40),
    st.integers(-64, 64),
    st.integers(-64, 64),
)


@given(st.lists(known_bounds, max_size=50))
def test_known_bounds_survive_packing(known: list[KnownBounds]) -> None:
    assert unpack(pack(known)) == known


def test_known_bounds_without_history_are_compact() -> None:
    known = [KnownBounds(bytes([i]) * 16, b"", -i % 64, 64) for i in range(100)]
    assert len(pack(known)) < 100 * 20


def test_more_than_a_message_may_hold_is_cut() -> None:
    known = [KnownBounds(KEY, b"", 0, 1)] * 2000
    assert len(unpack(pack(known))) == 1024


@pytest.mark.parametrize("history", [0, 16, 1000, 4096])
@pytest.mark.parametrize("most_bytes", [MOST_SEED_BYTES, MOST_BYTES])
def test_no_more_bytes_are_packed_than_a_message_may_have(history: int, most_bytes: int) -> None:
    known = [KnownBounds(KEY, b"h" * history, -32768, 32767)] * 2000
    packed = pack(known, most_bytes)
    assert len(packed) <= most_bytes
    if len(unpack(packed)) < 1024:
        assert len(packed) > most_bytes - 2 * 4200


@pytest.mark.parametrize(
    "message",
    [
        pb.KnownBounds(positions=KEY, lo=[1], hi=[]),
        pb.KnownBounds(positions=KEY[:15], lo=[1], hi=[1]),
        pb.KnownBounds(positions=KEY, lo=[2], hi=[1]),
        pb.KnownBounds(positions=KEY * 2, lo=[1, 1], hi=[1, 1], histories=[b"x"]),
    ],
)
def test_columns_that_do_not_fit_are_refused(message: pb.KnownBounds) -> None:
    with pytest.raises(LimitError):
        from_message(message)


@given(st.binary(max_size=200))
def test_random_bytes_are_refused_or_read(data: bytes) -> None:
    try:
        for item in unpack(data):
            assert item.lo <= item.hi
    except ValueError:
        pass
