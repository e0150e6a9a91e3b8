"""Reading a certificate that a stranger made, within limits.

No block is inflated beyond what its entries can need, no more entries are read than the
header tells, and each is compared with the one before as it comes: a file out of order ends
the reading there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import repeat
from pathlib import Path
from typing import BinaryIO

import zstandard

from zermelo.checker.certificate import (
    AT_MOST,
    Certificate,
    CertificateError,
    DamagedError,
    Header,
    Order,
)
from zermelo.checker.certificate_file import (
    DIGEST_BYTES,
    FORMATS,
    LENGTH_BYTES,
    MAGIC,
    next_digest,
)
from zermelo.checker.columns import unpack_block
from zermelo.checker.header_game import game_of
from zermelo.checker.header_text import read_header
from zermelo.checker.limits import (
    ENTRY_BYTES,
    HISTORY_OBJECT_BYTES,
    MAX_BLOCK_BYTES,
    MAX_BLOCK_ENTRIES,
    MAX_HEADER_BYTES,
    MAX_HISTORY_BYTES,
    MAX_RATIO,
    Memory,
)
from zermelo.checker.refusals import Fault, RefusedError, refusal
from zermelo.games import KEY_BYTES, GameError

_PIECE_BYTES = 1 << 20
#: Of a block besides its entries: the number of these, and that of the histories.
_COUNTS_BYTES = 8
_HISTORY_LENGTH_BYTES = 4

#: Called with the number of entries read so far.
Tell = Callable[[int], None]


def read_certificate(
    path: Path, *, memory: Memory | None = None, tell: Tell = lambda count: None
) -> Certificate:
    """The certificate in a file, its entries in order.

    `DamagedError` if it is none or not whole, `RefusedError` if its entries are not in order,
    `LimitError` if it needs more memory than it may take.
    """
    memory = Memory() if memory is None else memory
    try:
        with path.open("rb") as file:
            header, opening = _open(file)
            memory.require(header.entries * ENTRY_BYTES)
            certificate = Certificate(header)
            try:
                for packed, digest in _blocks(file, opening):
                    _append(certificate, packed, memory)
                    certificate.digest = digest.hex()
                    tell(len(certificate))
            except DamagedError as error:
                raise _after_last_position(certificate, error) from None
    except OSError as error:
        raise CertificateError(f"cannot read {str(path)!r}: {error.strerror}") from None
    if len(certificate) != header.entries or len(certificate.leaf_nodes) != header.leaves:
        raise DamagedError(
            f"the header tells {header.entries} entries with {header.leaves} leaves, but there"
            f" are {len(certificate)} with {len(certificate.leaf_nodes)}"
        )
    return certificate


def _open(file: BinaryIO) -> tuple[Header, bytes]:
    """The header of a certificate and its digest."""
    if file.read(len(MAGIC)) != MAGIC:
        raise DamagedError("this is no certificate; `zermelo proof export` writes one")
    version = int.from_bytes(_exactly(file, 2), "big")
    if version > max(FORMATS):
        raise DamagedError(
            f"the certificate has format {version}, newer than this program's {max(FORMATS)};"
            " install a newer zermelo"
        )
    if version not in FORMATS:
        raise DamagedError(f"the certificate has format {version}, which never existed")
    length = int.from_bytes(_exactly(file, LENGTH_BYTES), "big")
    if length > MAX_HEADER_BYTES:
        raise DamagedError("the certificate is damaged: its header is too long to be one")
    text = _exactly(file, length)
    digest = next_digest(b"", MAGIC + version.to_bytes(2, "big"), text)
    if _exactly(file, DIGEST_BYTES) != digest:
        raise DamagedError("the certificate is damaged: the header has a wrong digest")
    return read_header(text, version), digest


def _blocks(file: BinaryIO, digest: bytes) -> Iterator[tuple[bytes, bytes]]:
    """The blocks, compressed, each with the digest of everything up to it."""
    while True:
        length = int.from_bytes(_exactly(file, LENGTH_BYTES), "big")
        if length > MAX_BLOCK_BYTES:
            raise DamagedError("the certificate is damaged: a block too long to be one")
        packed = _exactly(file, length)
        digest = next_digest(digest, packed)
        if _exactly(file, DIGEST_BYTES) != digest:
            raise DamagedError("the certificate is damaged: a block has a wrong digest")
        yield packed, digest
        if not length:
            break
    if file.read(1):
        raise DamagedError("the certificate is damaged: something follows its end")


def _append(certificate: Certificate, packed: bytes, memory: Memory) -> None:
    """Put the entries of a block after those that are there; the empty block has none."""
    if not packed:
        return
    header = certificate.header
    entries_left = header.entries - len(certificate)
    try:
        block = unpack_block(
            _inflate(packed, entries_left), entries_left, wide=header.format > 1
        )
        if len(certificate.leaf_nodes) + len(block["leaf_nodes"]) > header.leaves:
            raise ValueError(f"more leaves than the {header.leaves} that the header tells")
    except (zstandard.ZstdError, ValueError) as error:
        raise DamagedError(f"the certificate is damaged: {error}") from None
    histories = block["histories"]
    memory.take(
        ENTRY_BYTES * len(block["flags"]) + HISTORY_OBJECT_BYTES * len(histories)
        + sum(map(len, histories))
    )
    first = len(certificate)
    certificate.join(block)
    _check_order(certificate, first)


def _inflate(packed: bytes, entries: int) -> bytes:
    """A block of at most `entries` entries; `ValueError` as soon as it is longer than that."""
    entry = ENTRY_BYTES + _HISTORY_LENGTH_BYTES + MAX_HISTORY_BYTES
    most = min(
        MAX_BLOCK_BYTES, MAX_RATIO * len(packed),
        _COUNTS_BYTES + entry * min(entries, MAX_BLOCK_ENTRIES),
    )
    pieces, size = [], 0
    # The window is memory, too, and the frame says how large it is.
    decompressor = zstandard.ZstdDecompressor(max_window_size=MAX_BLOCK_BYTES)
    with decompressor.stream_reader(packed) as stream:
        while piece := stream.read(min(_PIECE_BYTES, most + 1 - size)):
            pieces.append(piece)
            size += len(piece)
            if size > most:
                raise ValueError(f"a block inflates to more than the {most:,} bytes it may have")
    return b"".join(pieces)


def _check_order(certificate: Certificate, first: int) -> None:
    """`RefusedError` if an entry from `first` on is not after the one before."""
    before = certificate.order(first - 1) if first else None
    for at, now in enumerate(_orders(certificate, first), first):
        if before is not None and now <= before:
            game = game_of(certificate.header)
            raise RefusedError(refusal(certificate, game, at, Fault.OUT_OF_ORDER))
        before = now


def _orders(certificate: Certificate, first: int) -> Iterator[Order]:
    """The same as `Certificate.order`, but of many entries at once."""
    keys = bytes(memoryview(certificate.keys)[KEY_BYTES * first :])
    histories = certificate.histories[first:] or repeat(b"")
    at_most = [bool(flags & AT_MOST) for flags in certificate.flags[first:]]
    slices = (keys[at : at + KEY_BYTES] for at in range(0, len(keys), KEY_BYTES))
    return zip(slices, histories, at_most, strict=False)


def _after_last_position(certificate: Certificate, error: DamagedError) -> DamagedError:
    """The same error, telling where the file was still in order."""
    game = game_of(certificate.header)
    position = game.parse(certificate.header.position)
    with suppress(GameError):
        if len(certificate):
            last = len(certificate) - 1
            position = game.decode(certificate.key(last), certificate.history(last))
    told = DamagedError(
        f"{error}; {len(certificate):,} of {certificate.header.entries:,} entries could be read"
    )
    told.board = game.draw(position)
    return told


def _exactly(file: BinaryIO, count: int) -> bytes:
    data = file.read(count)
    if len(data) != count:
        raise DamagedError("the certificate was cut short: its end is missing")
    return data
