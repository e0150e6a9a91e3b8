"""Headers of HTTP/2 (HPACK, RFC 7541).

What is written uses neither Huffman's code nor a table that the reader must remember. What is read
may use both.
"""

from __future__ import annotations

from collections import deque
from functools import cache

#: What a list of headers may take, as RFC 9113 counts it: 32 bytes more for each.
MOST_BYTES = 16_384
#: What the table of a connection may take, counted so too; nobody is told of another size.
TABLE_BYTES = 4096
_MORE_BYTES = 32
#: Blocks of a connection whose headers are kept, and the longest of them.
_MOST_KEPT, _LONGEST_KEPT = 8, 1024
_LARGEST_NUMBER = 2**31

_STATIC = (
    (":authority", ""), (":method", "GET"), (":method", "POST"), (":path", "/"),
    (":path", "/index.html"), (":scheme", "http"), (":scheme", "https"), (":status", "200"),
    (":status", "204"), (":status", "206"), (":status", "304"), (":status", "400"),
    (":status", "404"), (":status", "500"), ("accept-charset", ""),
    ("accept-encoding", "gzip, deflate"), ("accept-language", ""), ("accept-ranges", ""),
    ("accept", ""), ("access-control-allow-origin", ""), ("age", ""), ("allow", ""),
    ("authorization", ""), ("cache-control", ""), ("content-disposition", ""),
    ("content-encoding", ""), ("content-language", ""), ("content-length", ""),
    ("content-location", ""), ("content-range", ""), ("content-type", ""), ("cookie", ""),
    ("date", ""), ("etag", ""), ("expect", ""), ("expires", ""), ("from", ""), ("host", ""),
    ("if-match", ""), ("if-modified-since", ""), ("if-none-match", ""), ("if-range", ""),
    ("if-unmodified-since", ""), ("last-modified", ""), ("link", ""), ("location", ""),
    ("max-forwards", ""), ("proxy-authenticate", ""), ("proxy-authorization", ""), ("range", ""),
    ("referer", ""), ("refresh", ""), ("retry-after", ""), ("server", ""), ("set-cookie", ""),
    ("strict-transport-security", ""), ("transfer-encoding", ""), ("user-agent", ""),
    ("vary", ""), ("via", ""), ("www-authenticate", ""),
)  # fmt: skip
_STATIC_INDEX = {field: number for number, field in enumerate(_STATIC, 1)}
_STATIC_NAMES = {name: number for number, (name, _) in reversed(list(enumerate(_STATIC, 1)))}

#: How many bits Huffman's code has for each byte, and at last for the end of a text. The code is
#: canonical: it follows from these.
_CODE_BITS = (
    13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28,
    28, 28, 28, 28, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 28,
    6, 10, 10, 12, 13, 6, 8, 11, 10, 10, 8, 11, 8, 6, 6, 6,
    5, 5, 5, 6, 6, 6, 6, 6, 6, 6, 7, 8, 15, 6, 12, 10,
    13, 6, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7,
    7, 7, 7, 7, 7, 7, 7, 7, 8, 7, 8, 13, 19, 13, 14, 6,
    15, 5, 6, 5, 6, 5, 6, 6, 6, 5, 7, 7, 6, 6, 6, 5,
    6, 7, 6, 5, 5, 6, 7, 7, 7, 7, 7, 15, 11, 14, 13, 28,
    20, 22, 20, 20, 22, 22, 22, 23, 22, 23, 23, 23, 23, 23, 24, 23,
    24, 24, 22, 23, 24, 23, 23, 23, 23, 21, 22, 23, 22, 23, 23, 24,
    22, 21, 20, 22, 22, 23, 23, 21, 23, 22, 22, 24, 21, 22, 23, 23,
    21, 21, 22, 21, 23, 22, 23, 23, 20, 22, 22, 22, 23, 22, 22, 23,
    26, 26, 20, 19, 22, 23, 22, 25, 26, 26, 26, 27, 27, 26, 24, 25,
    19, 21, 26, 27, 27, 26, 27, 24, 21, 21, 26, 26, 28, 27, 27, 27,
    20, 24, 20, 21, 22, 21, 21, 23, 22, 22, 25, 25, 24, 24, 26, 23,
    26, 27, 26, 26, 27, 27, 27, 27, 27, 28, 27, 27, 27, 27, 27, 26,
    30,
)  # fmt: skip
_END_OF_TEXT = 256


class HpackError(ValueError):
    """A block that is no list of headers, or too long a one."""


# -- writing ------------------------------------------------------------------------------------


def field(name: str, value: str) -> bytes:
    """A header that is not to be remembered."""
    if index := _STATIC_INDEX.get((name, value)):
        return _number(index, 7, 0x80)
    if index := _STATIC_NAMES.get(name):
        return _number(index, 4) + _text(value)
    return b"\x00" + _text(name) + _text(value)


def _text(text: str) -> bytes:
    data = text.encode("latin-1", "replace")
    return _number(len(data), 7) + data


def _number(value: int, bits: int, flags: int = 0) -> bytes:
    most = (1 << bits) - 1
    if value < most:
        return bytes([flags | value])
    out, value = [flags | most], value - most
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes([*out, value])


# -- reading ------------------------------------------------------------------------------------


class Decoder:
    """Reads the blocks of one connection, in their order."""

    def __init__(self) -> None:
        self._table: deque[tuple[str, str]] = deque()
        self._table_bytes, self._most_table_bytes = 0, TABLE_BYTES
        #: Headers by their block, as long as the table stays as it is: callers repeat themselves.
        self._kept: dict[bytes, dict[str, str]] = {}

    def decode(self, block: bytes) -> dict[str, str]:
        """The headers, the last of each name, not to be changed; `HpackError` if it is broken."""
        headers = self._kept.get(block)
        if headers is None:
            try:
                headers = self._decode(block)
            except IndexError:
                raise HpackError("a block of headers that ends too early") from None
        return headers

    def _decode(self, block: bytes) -> dict[str, str]:
        headers: dict[str, str] = {}
        at, total, same = 0, 0, True
        while at < len(block):
            first = block[at]
            if first & 0x80:
                index, at = read_number(block, at, 7)
                name, value = self._field(index)
            elif first & 0xE0 == 0x20:
                size, at = read_number(block, at, 5)
                self._resize(size)
                same = False
                continue
            else:
                remembered = first & 0x40
                index, at = read_number(block, at, 6 if remembered else 4)
                if index:
                    name = self._field(index)[0]
                else:
                    name, at = read_text(block, at)
                value, at = read_text(block, at)
                if remembered:
                    self._remember(name, value)
                    same = False
            total += len(name) + len(value) + _MORE_BYTES
            if total > MOST_BYTES:
                raise HpackError(f"headers of more than {MOST_BYTES} bytes")
            headers[name] = value
        if not same:
            self._kept.clear()
        elif len(block) <= _LONGEST_KEPT:
            if len(self._kept) >= _MOST_KEPT:
                self._kept.clear()
            self._kept[block] = headers
        return headers

    def _field(self, index: int) -> tuple[str, str]:
        if not index:
            raise HpackError("a header without a number")
        if index <= len(_STATIC):
            return _STATIC[index - 1]
        return self._table[index - len(_STATIC) - 1]

    def _remember(self, name: str, value: str) -> None:
        self._table.appendleft((name, value))
        self._table_bytes += len(name) + len(value) + _MORE_BYTES
        self._shrink()

    def _resize(self, size: int) -> None:
        if size > TABLE_BYTES:
            raise HpackError("a larger table than was agreed on")
        self._most_table_bytes = size
        self._shrink()

    def _shrink(self) -> None:
        while self._table_bytes > self._most_table_bytes:
            name, value = self._table.pop()
            self._table_bytes -= len(name) + len(value) + _MORE_BYTES


def read_number(block: bytes, at: int, bits: int) -> tuple[int, int]:
    """A number and the place behind it; `IndexError` if the block ends within."""
    most = (1 << bits) - 1
    value = block[at] & most
    at += 1
    if value < most:
        return value, at
    shift = 0
    while True:
        byte = block[at]
        at += 1
        value += (byte & 127) << shift
        shift += 7
        if value > _LARGEST_NUMBER or shift > 35:
            raise HpackError("a number that is too large")
        if byte < 128:
            return value, at


def read_text(block: bytes, at: int) -> tuple[str, int]:
    """A text and the place behind it; `IndexError` if the block ends within."""
    coded = block[at] & 0x80
    size, at = read_number(block, at, 7)
    end = at + size
    if end > len(block):
        raise IndexError(end)
    data = block[at:end]
    return (_decoded(data) if coded else data).decode("latin-1"), end


def _decoded(data: bytes) -> bytes:
    """The bytes of a text in Huffman's code, read in halves of bytes."""
    steps = _steps()
    out = bytearray()
    state, may_end = 0, True
    for byte in data:
        for half in (byte >> 4, byte & 15):
            step = steps[state][half]
            if step is None:
                raise HpackError("a text in a code that does not exist")
            state, symbol, may_end = step
            if symbol is not None:
                out.append(symbol)
            if len(out) > MOST_BYTES:
                raise HpackError(f"a text of more than {MOST_BYTES} bytes")
    if not may_end:
        raise HpackError("a text that ends within a letter")
    return bytes(out)


@cache
def _steps() -> list[list[tuple[int, int | None, bool] | None]]:
    """For every inner node of the code's tree and four bits: the node that they lead to, the byte
    that was complete on the way (no code is shorter than five bits, so there is one at most) and
    whether a text may end there; None where no text goes on.
    """
    tree, codes = _tree()
    # A text is filled up with ones, at most seven: the beginning of the code of the end.
    may_end = {node for bits, node in codes.items() if bits == "1" * len(bits) and len(bits) < 8}
    steps: list[list[tuple[int, int | None, bool] | None]] = []
    for start in range(len(tree)):
        row: list[tuple[int, int | None, bool] | None] = []
        for half in range(16):
            node, symbol = start, None
            for bit in (3, 2, 1, 0):
                child = tree[node][half >> bit & 1]
                if child < 0:
                    symbol, child = -child - 1, 0
                node = child
                if symbol == _END_OF_TEXT:
                    break
            row.append(None if symbol == _END_OF_TEXT else (node, symbol, node in may_end))
        steps.append(row)
    return steps


def _tree() -> tuple[list[list[int]], dict[str, int]]:
    """The inner nodes of the code's tree, each with its two children, below zero for a letter
    (-1 - letter); and the inner nodes by the bits that lead to them.
    """
    tree, inner = [[0, 0]], {"": 0}
    code, last = 0, 0
    for size, letter in sorted((size, letter) for letter, size in enumerate(_CODE_BITS)):
        code <<= size - last
        bits, last = f"{code:0{size}b}", size
        code += 1
        node = 0
        for place, bit in enumerate(bits[:-1], 1):
            if bits[:place] not in inner:
                tree.append([0, 0])
                inner[bits[:place]] = tree[node][int(bit)] = len(tree) - 1
            node = inner[bits[:place]]
        tree[node][int(bits[-1])] = -1 - letter
    return tree, inner
