"""Headers of HTTP/2 as others write them, and what would make us keep or compute too much."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zermelo.server.http2.hpack import MOST_BYTES, TABLE_BYTES, Decoder, HpackError, field

#: RFC 7541, C.4: three requests on one connection, in Huffman's code.
RFC_REQUESTS = (
    ("828684418cf1e3c2e5f23a6ba0ab90f4ff", {":authority": "www.example.com", ":path": "/"}),
    ("828684be5886a8eb10649cbf", {":authority": "www.example.com", "cache-control": "no-cache"}),
    ("828785bf408825a849e95ba97d7f8925a849e95bb8e8b4bf",
     {":path": "/index.html", ":authority": "www.example.com", "custom-key": "custom-value"}),
)  # fmt: skip


def test_the_examples_of_the_rfc() -> None:
    decoder = Decoder()
    for block, expected in RFC_REQUESTS:
        assert expected.items() <= decoder.decode(bytes.fromhex(block)).items()


@given(st.lists(st.tuples(st.from_regex(r"[a-z-]{1,20}", fullmatch=True),
                          st.text(st.characters(min_codepoint=32, max_codepoint=126)))))
def test_what_we_write_can_be_read(fields: list[tuple[str, str]]) -> None:
    block = b"".join(field(*each) for each in fields)
    decoder = Decoder()
    assert decoder.decode(block) == decoder.decode(block) == dict(fields)


def test_a_block_means_something_else_when_the_table_has_changed() -> None:
    decoder = Decoder()
    remember = [b"\x40\x01a" + bytes([1]) + value for value in (b"1", b"2")]
    decoder.decode(remember[0])
    assert decoder.decode(b"\xbe") == {"a": "1"}
    decoder.decode(remember[1])
    assert decoder.decode(b"\xbe") == {"a": "2"}
    decoder.decode(b"\x20")  # a table of no size
    with pytest.raises(HpackError):
        decoder.decode(b"\xbe")


def test_a_remembered_header_repeated_is_too_much() -> None:
    long = b"x" * 3000
    block = b"\x40\x01a\x7f" + bytes([3000 - 127 & 127 | 128, 3000 - 127 >> 7]) + long
    with pytest.raises(HpackError, match=str(MOST_BYTES)):
        Decoder().decode(block + b"\xbe" * 10_000)


@pytest.mark.parametrize("block", [
    b"\x80", b"\xff\xff\xff\xff\xff\xff\xff", b"\x40", b"\x40\x05ab", b"\xc0",
    b"\x3f\xe2\x1f",  # a table of TABLE_BYTES + 1
    b"\x00\x81\xff\x81\xff\x81",  # cut
    b"\x00\x01a\x84\xff\xff\xff\xff",  # the end of a text within one
    b"\x00\x01a\x82\xff\xff",  # more than a byte of padding
    b"\x00\x01a\x81\x00",  # padding that is not of ones
])
def test_broken_blocks(block: bytes) -> None:
    assert TABLE_BYTES + 1 == 31 + 0x62 + (0x1F << 7)
    with pytest.raises(HpackError):
        Decoder().decode(block)


@given(st.binary(max_size=60))
def test_whatever_comes_is_read_or_refused(block: bytes) -> None:
    decoder = Decoder()
    for _ in range(2):
        try:
            decoder.decode(block)
        except HpackError:
            return
