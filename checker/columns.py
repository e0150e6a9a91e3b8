"""One block of a certificate: columns of numbers as bytes, before compression.

Similar things lie side by side, which is what a compressor likes: all first halves of
the keys as differences (the entries are sorted), all second halves, all flags, and so
on, each column of wide numbers byte by byte from the most significant one.
"""

from __future__ import annotations

import sys
from array import array
from collections.abc import Iterable
from itertools import accumulate
from typing import Any

from zermelo.checker.certificate import NO_MOVE
from zermelo.checker.limits import MAX_BLOCK_ENTRIES, MAX_HISTORY_BYTES
from zermelo.games import KEY_BYTES

_HALF = KEY_BYTES // 2
_COUNT_BYTES = 4

#: The columns of the leaves, with the type of their numbers.
LEAF_COLUMNS = {"leaf_nodes": "Q", "leaf_results": "I", "leaf_hosts": "I"}
LEAF = 2
#: No move where moves have one byte.
_NARROW_NO_MOVE = 255


def pack_block(columns: dict[str, Any], *, wide: bool = False) -> bytes:
    """The columns of a block as bytes; `wide`: moves have two bytes, not one."""
    keys, flags = columns["keys"], columns["flags"]
    first = [
        int.from_bytes(keys[at : at + _HALF], "big") for at in range(0, len(keys), KEY_BYTES)
    ]
    steps = array("Q", [now - before for before, now in zip([0, *first], first, strict=False)])
    second = array("Q", b"".join(
        bytes(keys[at + _HALF : at + KEY_BYTES]) for at in range(0, len(keys), KEY_BYTES)
    ))
    if sys.byteorder == "little":
        second.byteswap()
    histories = columns["histories"]
    lengths = array("I", map(len, histories))
    parts = [
        len(flags).to_bytes(_COUNT_BYTES, "big"),
        bytes(flags),
        _planes(steps),
        _planes(second),
        _planes(columns["bounds"]),
        _planes(columns["moves"]) if wide else narrow_moves(columns["moves"]),
        *(_planes(columns[name]) for name in LEAF_COLUMNS),
        len(lengths).to_bytes(_COUNT_BYTES, "big"),
        _planes(lengths),
        *histories,
    ]
    return b"".join(parts)


def narrow_moves(moves: Iterable[int]) -> bytes:
    """Moves in one byte each; `ValueError` for one that does not fit."""
    moves = array("H", moves)
    if _NARROW_NO_MOVE in moves:
        raise ValueError(f"move {_NARROW_NO_MOVE} would be read as no move")
    return bytes(_NARROW_NO_MOVE if move == NO_MOVE else move for move in moves)


def unpack_block(data: bytes, most: int, *, wide: bool = False) -> dict[str, Any]:
    """The columns that `pack_block` packed; `ValueError` if that is not what it is.

    A block may have at most `most` entries.
    """
    reader = _Reader(data)
    number = reader.count()
    if not 1 <= number <= MAX_BLOCK_ENTRIES:
        raise ValueError(f"a block of {number} entries")
    if number > most:
        raise ValueError(f"a block of {number} entries where the header leaves room for {most}")
    flags = reader.take(number)
    steps, second = reader.planes("Q", number), reader.planes("Q", number)
    first = list(accumulate(steps))
    if first[-1] >= 1 << 8 * _HALF:
        raise ValueError("keys out of order")
    keys = bytearray(KEY_BYTES * number)
    for half, numbers in enumerate((array("Q", first), second)):
        for at, plane in enumerate(_split_planes(_planes(numbers), number)):
            keys[half * _HALF + at :: KEY_BYTES] = plane
    block: dict[str, Any] = {"keys": keys, "flags": bytearray(flags)}
    block["bounds"] = reader.planes("h", number)
    block["moves"] = reader.planes("H", number) if wide else array("H", (
        NO_MOVE if move == _NARROW_NO_MOVE else move for move in reader.take(number)
    ))
    leaves = sum(bool(flag & LEAF) for flag in flags)
    for name, kind in LEAF_COLUMNS.items():
        block[name] = reader.planes(kind, leaves)
    told = reader.count()
    if told not in (0, number):
        raise ValueError(f"{told} histories for {number} entries")
    lengths = reader.planes("I", told)
    if max(lengths, default=0) > MAX_HISTORY_BYTES:
        raise ValueError(f"a history of more than {MAX_HISTORY_BYTES:,} bytes")
    block["histories"] = [reader.take(length) for length in lengths]
    reader.finish()
    return block


def _planes(numbers: array[int]) -> bytes:
    """All most significant bytes, then all bytes of the next weight, and so on."""
    ordered = array(numbers.typecode, numbers)
    if sys.byteorder == "little":
        ordered.byteswap()
    data = ordered.tobytes()
    return b"".join(data[at :: ordered.itemsize] for at in range(ordered.itemsize))


def _split_planes(data: bytes, number: int) -> list[bytes]:
    return [data[at : at + number] for at in range(0, len(data), number)]


class _Reader:
    def __init__(self, data: bytes) -> None:
        self._data, self._at = data, 0

    def take(self, count: int) -> bytes:
        end = self._at + count
        if end > len(self._data):
            raise ValueError("a block that ends too early")
        taken, self._at = self._data[self._at : end], end
        return taken

    def count(self) -> int:
        return int.from_bytes(self.take(_COUNT_BYTES), "big")

    def planes(self, kind: str, number: int) -> array[int]:
        numbers = array(kind)
        size = numbers.itemsize
        data = bytearray(size * number)
        planes = self.take(size * number)
        for at in range(size):
            data[at::size] = planes[at * number : (at + 1) * number]
        numbers.frombytes(bytes(data))
        if sys.byteorder == "little":
            numbers.byteswap()
        return numbers

    def finish(self) -> None:
        if self._at != len(self._data):
            raise ValueError("a block with something behind its end")
