"""The certificate file: a header and statements about positions, sorted and compressed.

`docs/proof.md` describes every byte. In short::

    magic, format version, header (JSON), digest
    blocks of at most MAX_BLOCK_ENTRIES entries, each compressed with zstd, each with a digest
    an empty block with the digest of everything: without it the file was cut short

This module writes it, `certificate_reader.py` reads it.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from hashlib import blake2b
from pathlib import Path
from typing import Any

import zstandard

from zermelo.checker.certificate import Certificate, CertificateError, Entry, Header
from zermelo.checker.columns import pack_block
from zermelo.checker.header_text import header_text, read_header
from zermelo.checker.limits import (
    ENTRY_BYTES,
    MAX_BLOCK_BYTES,
    MAX_BLOCK_ENTRIES,
    MAX_HISTORY_BYTES,
    MAX_RATIO,
)

MAGIC = b"ZERMELO\x1a"
#: Formats that can be read; the second is for definitions.
FORMATS = (1, 2)
LENGTH_BYTES = 4
DIGEST_BYTES = 16
#: What a compressor may add to a block that it cannot shorten, and the counts in a block.
_SPARE_BYTES = 1 << 20
_LEVEL = 19


def write_certificate(path: Path, header: Header, entries: Sequence[Entry]) -> int:
    """Write a certificate, whole or not at all; the size of the file.

    The header's counts are taken from the entries, which may come in any order.
    """
    ordered = sorted(entries, key=lambda entry: entry.order)
    leaves = sum(entry.leaf is not None for entry in ordered)
    told = replace(header, entries=len(ordered), leaves=leaves)
    read_header(header_text(told), told.format)  # a header that no reader would accept
    if max((len(entry.history) for entry in ordered), default=0) > MAX_HISTORY_BYTES:
        raise CertificateError(
            f"cannot write {str(path)!r}: a history has more than {MAX_HISTORY_BYTES:,} bytes"
        )
    if path.exists() and not path.is_file():
        raise CertificateError(f"cannot write {str(path)!r}: it is there and no ordinary file")
    temporary = None
    try:
        with tempfile.NamedTemporaryFile(
            dir=path.parent, prefix=path.name, suffix=".part", delete=False
        ) as file:
            temporary = Path(file.name)
            _write(file, told, ordered)
            file.flush()
            os.fsync(file.fileno())
        temporary.chmod(0o644)
        temporary.replace(path)
    except OSError as error:
        raise CertificateError(f"cannot write {str(path)!r}: {error.strerror}") from None
    finally:
        if temporary is not None:
            with suppress(FileNotFoundError):
                temporary.unlink()
    return path.stat().st_size


def next_digest(before: bytes, *data: bytes) -> bytes:
    """The digest of everything up to these data, by the one of everything before them."""
    digest = blake2b(before, digest_size=DIGEST_BYTES)
    for piece in data:
        digest.update(piece)
    return digest.digest()


def _write(file: Any, made: Header, entries: Sequence[Entry]) -> None:
    text = header_text(made)
    version = made.format.to_bytes(2, "big")
    digest = next_digest(b"", MAGIC + version, text)
    file.write(MAGIC + version + len(text).to_bytes(LENGTH_BYTES, "big") + text + digest)
    compressor = zstandard.ZstdCompressor(level=_LEVEL)
    for block in [*_blocks(entries), None]:
        packed = b""
        if block is not None:
            columns = Certificate(made)
            columns.append(block)
            data = pack_block(columns.columns(), wide=made.format > 1)
            packed = compressor.compress(data)
            if len(data) > MAX_RATIO * len(packed):
                raise CertificateError("cannot write entries so alike: no reader would accept them")
        digest = next_digest(digest, packed)
        file.write(len(packed).to_bytes(LENGTH_BYTES, "big") + packed + digest)


def _blocks(entries: Sequence[Entry]) -> Iterator[Sequence[Entry]]:
    """The entries in blocks that a reader accepts."""
    first, size = 0, 0
    for at, entry in enumerate(entries):
        length = ENTRY_BYTES + LENGTH_BYTES + len(entry.history)
        full = size + length > MAX_BLOCK_BYTES - _SPARE_BYTES
        if at - first == MAX_BLOCK_ENTRIES or full:
            yield entries[first:at]
            first, size = at, 0
        size += length
    if entries:
        yield entries[first:]
