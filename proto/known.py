"""Positions with proved bounds: how they travel and how they are stored.

Both are the message `KnownBounds`, which keeps its columns together so that a hundred
positions cost little more than their hundred keys.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from operator import gt
from typing import NamedTuple, cast

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import DecodeError

from zermelo.proto import coordinator_pb2
from zermelo.proto.limits import LimitError, check, limit_of

KEY_BYTES = 16
MOST_POSITIONS = 1024
#: Of one message, in bytes: half of the largest request, so that every result can be sent.
MOST_BYTES = 1024 * 1024
_KNOWN = cast(FieldDescriptor, coordinator_pb2.Workunit.DESCRIPTOR.fields_by_name["known"])
#: What a workunit may bring along.
MOST_SEED_BYTES = limit_of(_KNOWN).max_bytes
#: The most that a position takes on the wire besides its key and its history, and a message
#: besides its positions: two bounds of 3 bytes, tags and lengths.
_POSITION_OVERHEAD, _MESSAGE_OVERHEAD = 9, 16


class KnownBounds(NamedTuple):
    """What is proved about one canonical position, for the side to move."""

    key: bytes
    history: bytes
    lo: int
    hi: int


def to_message(
    known: Iterable[KnownBounds], most_bytes: int = MOST_BYTES
) -> coordinator_pb2.KnownBounds:
    """The message of these positions; those beyond what one may hold are left out."""
    items = list(_fitting(known, most_bytes))
    histories = [item.history for item in items]
    return coordinator_pb2.KnownBounds(
        positions=b"".join(item.key for item in items),
        lo=[item.lo for item in items],
        hi=[item.hi for item in items],
        histories=histories if any(histories) else [],
    )


def _fitting(known: Iterable[KnownBounds], most_bytes: int) -> Iterator[KnownBounds]:
    """The first of these positions, as many as a message may hold."""
    left = most_bytes - _MESSAGE_OVERHEAD
    for item in islice(known, MOST_POSITIONS):
        left -= KEY_BYTES + len(item.history) + _POSITION_OVERHEAD
        if left < 0:
            return
        yield item


def check_columns(message: coordinator_pb2.KnownBounds) -> None:
    """`LimitError` when the columns of a message do not fit together."""
    positions = len(message.positions)
    keys, histories = positions // KEY_BYTES, len(message.histories)
    if positions % KEY_BYTES or not (
        keys == len(message.lo) == len(message.hi) and histories in (0, keys)
    ):
        raise LimitError(
            f"bounds of {positions} bytes of positions, {len(message.lo)} lo, "
            f"{len(message.hi)} hi and {histories} histories do not fit together"
        )
    if any(map(gt, message.lo, message.hi)):
        lo, hi = next(pair for pair in zip(message.lo, message.hi, strict=True) if gt(*pair))
        raise LimitError(f"contradictory bounds of a position: {lo} > {hi}")


def from_message(message: coordinator_pb2.KnownBounds) -> list[KnownBounds]:
    """The positions of a message; `LimitError` when its columns do not fit together."""
    check(message)
    check_columns(message)
    keys = [
        message.positions[at : at + KEY_BYTES]
        for at in range(0, len(message.positions), KEY_BYTES)
    ]
    histories = message.histories or [b""] * len(keys)
    return [KnownBounds(*row) for row in zip(keys, histories, message.lo, message.hi, strict=True)]


def pack(known: Iterable[KnownBounds], most_bytes: int = MOST_BYTES) -> bytes:
    """The bytes of `to_message`."""
    return to_message(known, most_bytes).SerializeToString()


def unpack(data: bytes) -> list[KnownBounds]:
    """What `pack` packed; `LimitError`, a ValueError, when it is malformed."""
    message = coordinator_pb2.KnownBounds()
    try:
        message.ParseFromString(data)
    except DecodeError as error:
        raise LimitError(f"malformed bounds: {error}") from error
    return from_message(message)
