"""Replies are counted before they are parsed, checked before they are used, and cleaned."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zermelo.games.go import Go
from zermelo.proto import coordinator_pb2 as pb
from zermelo.proto import service
from zermelo.proto.known import MOST_SEED_BYTES, KnownBounds, to_message
from zermelo.proto.limits import LimitError
from zermelo.proto.replies import (
    LEAST_MAX_BYTES,
    MAX_FIELDS,
    MAX_REPLY_BYTES,
    ReplyError,
    channel_options,
    max_reply_bytes,
    reply_parser,
)
from zermelo.proto.wire import MOST_FIELDS, MOST_UNKNOWN_BYTES, check_wire

WORK = pb.RequestWorkReply.DESCRIPTOR
parse = reply_parser(pb.RequestWorkReply)


def full_workunit(**fields: object) -> pb.Workunit:
    known = pb.KnownBounds(positions=b"x" * 16 * 1024, lo=[-300] * 1024, hi=[300] * 1024,
                           histories=[b"h" * 100] * 1024)  # fmt: skip
    return pb.Workunit(lease_id=1, game="reversi:4x4", position=b"x" * 16, known=known)


@given(st.integers(1, 8))
def test_what_the_limits_allow_passes(workunits: int) -> None:
    reply = pb.RequestWorkReply(workunits=[full_workunit()] * workunits)
    assert parse(reply.SerializeToString()) == reply


def test_workunits_with_all_that_their_limits_allow_are_a_possible_reply() -> None:
    """Go on 7x7 has most: 50 children, each with the longest history there is."""
    assert Go(7, 7).path_dependent
    below = [KnownBounds(b"x" * 16, b"h" * 4096, -32768, 32767)] * 50
    largest = pb.Workunit(lease_id=1, game="x" * 200, position=b"x" * 16, history=b"h" * 4096,
                          known=to_message(below, MOST_SEED_BYTES))  # fmt: skip
    assert len(largest.known.lo) == 50
    reply = pb.RequestWorkReply(workunits=[largest] * 15)
    assert reply.ByteSize() < max_reply_bytes(WORK) == MAX_REPLY_BYTES
    assert parse(reply.SerializeToString()) == reply


def _unknown(size: int) -> bytes:
    """A message with a field of a later release that has this many bytes."""
    assert size < 2**21
    return b"\xfa\x06" + bytes([size & 127 | 128, size >> 7 & 127 | 128, size >> 14]) + bytes(size)


TOO_MUCH = {
    "empty items": b"\x0a\x00" * 257,
    "items in items": pb.RequestWorkReply(
        workunits=[pb.Workunit(known=pb.KnownBounds(histories=[b""] * 1025))]
    ).SerializeToString(),
    "packed numbers": pb.RequestWorkReply(
        workunits=[pb.Workunit(known=pb.KnownBounds(lo=[0] * 1025))]
    ).SerializeToString(),
    "packed long numbers": pb.RequestWorkReply(
        workunits=[pb.Workunit(known=pb.KnownBounds(lo=[-32768] * 1025))]
    ).SerializeToString(),
    # A field that stands twice is one message to parsers, with the items of both.
    "one message twice": b"\x12\x00" * 2,
    "a long message": pb.RequestWorkReply(
        workunits=[pb.Workunit(known=pb.KnownBounds(histories=[b"h" * 4096] * 64))]
    ).SerializeToString(),
    "unknown fields": b"\x78\x01" * (MOST_FIELDS + 1),
    # In workunits, too: of both together there is one byte too much.
    "long unknown fields": pb.RequestWorkReply(
        workunits=[pb.Workunit.FromString(_unknown(MOST_UNKNOWN_BYTES // 2))]
    ).SerializeToString() + _unknown(MOST_UNKNOWN_BYTES // 2 + 1),
    "a group": b"\x7b\x7c",
}


@pytest.mark.parametrize("what", TOO_MUCH)
def test_too_much_is_refused_on_the_wire(what: str) -> None:
    with pytest.raises(LimitError):
        check_wire(WORK, TOO_MUCH[what], MAX_FIELDS)
    assert isinstance(parse(TOO_MUCH[what]), ReplyError)


def test_numbers_that_are_not_packed_are_counted_too() -> None:
    numbers = b"\x10\x02" * 1025  # lo, each with a tag of its own
    with pytest.raises(LimitError, match="lo has more than 1024 items"):
        check_wire(pb.KnownBounds.DESCRIPTOR, numbers, MAX_FIELDS)
    check_wire(pb.KnownBounds.DESCRIPTOR, numbers[:2048], MAX_FIELDS)


def test_a_few_fields_of_a_later_release_are_no_reason_to_refuse() -> None:
    later = b"\x78\x01" + b"\xfa\x06\x03new" + b"\xfd\x06\x00\x00\x00\x00"
    assert not parse(later).workunits


@given(st.binary(max_size=200))
def test_arbitrary_bytes_give_a_reply_or_an_error_and_nothing_else(data: bytes) -> None:
    assert isinstance(parse(data), pb.RequestWorkReply | ReplyError)


@given(st.binary(max_size=40), st.integers(0, 600))
def test_damaged_replies_give_a_reply_or_an_error_and_nothing_else(noise: bytes, at: int) -> None:
    data = pb.RequestWorkReply(workunits=[full_workunit()]).SerializeToString()[:600]
    assert isinstance(parse(data[:at] + noise + data[at:]), pb.RequestWorkReply | ReplyError)


def test_what_is_too_long_is_refused_after_parsing() -> None:
    reply = pb.HelloReply(notice="x" * 1025)
    said = reply_parser(pb.HelloReply)(reply.SerializeToString())
    assert isinstance(said, ReplyError)
    assert "notice" in str(said)


def test_texts_become_lines_wherever_they_stand() -> None:
    reply = pb.HelloReply(notice="a\x1b[31m\nb\u202e", games=["one\x07", "two\r\nthree"])
    clean = reply_parser(pb.HelloReply)(reply.SerializeToString())
    assert clean.notice == "a[31m b"
    assert list(clean.games) == ["one", "two three"]
    nested = pb.SubmitResultsReply(receipts=[pb.Receipt(lease_id=1, message="\x9bx")])
    clean = reply_parser(pb.SubmitResultsReply)(nested.SerializeToString())
    assert clean.receipts[0].message == "x"


def test_every_rpc_has_a_limit_that_holds_what_its_fields_may() -> None:
    options = dict(channel_options(service.COORDINATOR))
    limits = {
        config["name"][0]["method"]: config["maxResponseMessageBytes"]
        for config in json.loads(options["grpc.service_config"])["methodConfig"]
    }
    assert limits.keys() == {method.name for method in service.COORDINATOR.methods}
    assert limits["RequestWork"] == MAX_REPLY_BYTES
    assert limits["Hello"] == LEAST_MAX_BYTES
    receipts = pb.SubmitResultsReply(
        receipts=[pb.Receipt(lease_id=2**62, status=4, message="x" * 512)] * 256
    )
    assert receipts.ByteSize() < limits["SubmitResults"] < 2**20
    updates = pb.HeartbeatReply(
        leases=[pb.LeaseUpdate(lease_id=2**62, directive=2, cause=5, lease_ms=2**31, lo=-99, hi=99)]
        * 1024
    )
    assert updates.ByteSize() < limits["Heartbeat"] < 2**20
