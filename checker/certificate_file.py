"""The certificate file: a header and statements about positions, sorted and compressed.

`docs/proof.md` describes every byte. In short::

    magic, format version, header (JSON), digest
    blocks of at most BLOCK entries, each compressed with zstd, each with a digest
    an empty block with the digest of everything: without it the file was cut short
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict
from hashlib import blake2b
from pathlib import Path
from typing import Any, BinaryIO

import zstandard

from zermelo.checker.certificate import Certificate, CertificateError, Entry, Header
from zermelo.checker.columns import pack_block, unpack_block
from zermelo.games import GameError, open_game

MAGIC = b"ZERMELO\x1a"
FORMAT_VERSION = 1
#: Entries of a block; a reader needs memory for one block at a time.
BLOCK = 1 << 16
_LENGTH_BYTES = 4
_DIGEST_BYTES = 16
_LONGEST_HEADER = 1 << 16
_LONGEST_BLOCK = 1 << 26
_LEVEL = 19


def write_certificate(path: Path, header: Header, entries: Sequence[Entry]) -> int:
    """Write a certificate, whole or not at all; the size of the file.

    The header's counts are taken from the entries, which may come in any order.
    """
    ordered = sorted(entries, key=lambda entry: entry.order)
    leaves = sum(entry.leaf is not None for entry in ordered)
    told = asdict(header) | {"entries": len(ordered), "leaves": leaves}
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


def read_certificate(path: Path) -> Certificate:
    """The certificate in a file; `CertificateError` if it is none, or damaged."""
    try:
        with path.open("rb") as file:
            header, blocks = open_stream(file)
            certificate = Certificate(header)
            try:
                for block in blocks:
                    certificate.join(block)
            except CertificateError as error:
                raise _after_last_position(certificate, error) from None
            certificate.digest = blocks.digest.hex()
    except OSError as error:
        raise CertificateError(f"cannot read {str(path)!r}: {error.strerror}") from None
    if len(certificate) != header.entries or len(certificate.leaf_nodes) != header.leaves:
        raise CertificateError(
            f"the header tells {header.entries} entries with {header.leaves} leaves, but there"
            f" are {len(certificate)} with {len(certificate.leaf_nodes)}"
        )
    return certificate


def _after_last_position(certificate: Certificate, error: CertificateError) -> CertificateError:
    """The same error, telling where the file was still in order."""
    game = open_game(certificate.header.game)
    position = game.parse(certificate.header.position)
    with suppress(GameError):
        if len(certificate):
            last = len(certificate) - 1
            position = game.decode(certificate.key(last), certificate.history(last))
    told = CertificateError(
        f"{error}; {len(certificate):,} of {certificate.header.entries:,} entries could be read"
    )
    told.board = game.draw(position)
    return told


class _Blocks:
    """The blocks of a certificate, each checked against its digest as it comes."""

    def __init__(self, file: BinaryIO, digest: bytes) -> None:
        self._file = file
        #: Of everything read so far.
        self.digest = digest

    def __iter__(self) -> Iterator[dict[str, Any]]:
        while True:
            length = int.from_bytes(_exactly(self._file, _LENGTH_BYTES), "big")
            if length > _LONGEST_BLOCK:
                raise CertificateError("the certificate is damaged: a block too long to be one")
            packed = _exactly(self._file, length)
            self.digest = _next_digest(self.digest, packed)
            if _exactly(self._file, _DIGEST_BYTES) != self.digest:
                raise CertificateError("the certificate is damaged: a block has a wrong digest")
            if not length:
                break
            try:
                data = zstandard.ZstdDecompressor().decompress(
                    packed, max_output_size=_LONGEST_BLOCK
                )
                block = unpack_block(data, BLOCK)
            except (zstandard.ZstdError, ValueError) as error:
                raise CertificateError(f"the certificate is damaged: {error}") from None
            yield block
        if self._file.read(1):
            raise CertificateError("the certificate is damaged: something follows its end")


def open_stream(file: BinaryIO) -> tuple[Header, _Blocks]:
    """The header of a certificate and its blocks, read as they are asked for."""
    if file.read(len(MAGIC)) != MAGIC:
        raise CertificateError("this is no certificate; `zermelo proof export` writes one")
    version = int.from_bytes(_exactly(file, 2), "big")
    if version > FORMAT_VERSION:
        raise CertificateError(
            f"the certificate has format {version}, newer than this program's {FORMAT_VERSION};"
            " install a newer zermelo"
        )
    length = int.from_bytes(_exactly(file, _LENGTH_BYTES), "big")
    if length > _LONGEST_HEADER:
        raise CertificateError("the certificate is damaged: its header is too long to be one")
    text = _exactly(file, length)
    digest = _next_digest(b"", MAGIC + version.to_bytes(2, "big") + text)
    if _exactly(file, _DIGEST_BYTES) != digest:
        raise CertificateError("the certificate is damaged: the header has a wrong digest")
    return _read_header(text), _Blocks(file, digest)


def _write(file: Any, header: dict[str, Any], entries: Sequence[Entry]) -> None:
    text = json.dumps(header).encode()
    version = FORMAT_VERSION.to_bytes(2, "big")
    digest = _next_digest(b"", MAGIC + version + text)
    file.write(MAGIC + version + len(text).to_bytes(_LENGTH_BYTES, "big") + text + digest)
    compressor = zstandard.ZstdCompressor(level=_LEVEL)
    blocks = [entries[at : at + BLOCK] for at in range(0, len(entries), BLOCK)]
    for block in [*blocks, None]:
        packed = b""
        if block is not None:
            columns = Certificate(_read_header(text))
            columns.append(block)
            packed = compressor.compress(pack_block(columns.columns()))
        digest = _next_digest(digest, packed)
        file.write(len(packed).to_bytes(_LENGTH_BYTES, "big") + packed + digest)


def _next_digest(before: bytes, data: bytes) -> bytes:
    return blake2b(before + data, digest_size=_DIGEST_BYTES).digest()


def _exactly(file: BinaryIO, count: int) -> bytes:
    data = file.read(count)
    if len(data) != count:
        raise CertificateError("the certificate was cut short: its end is missing")
    return data


_TYPES = {"int": int, "str": str}


def _read_header(text: bytes) -> Header:
    try:
        told = json.loads(text)
        fields = {
            name: kind for name, kind in Header.__annotations__.items() if kind in _TYPES
        }
        if not isinstance(told, dict) or set(told) != set(fields):
            raise ValueError("it has other fields than a header has")
        for name, kind in fields.items():
            if type(told[name]) is not _TYPES[kind]:
                raise ValueError(f"{name} is {told[name]!r}")
        header = Header(**told)
        game = open_game(header.game)
        game.parse(header.position)
        if not -game.max_score <= header.lo <= header.hi <= game.max_score:
            raise ValueError(f"bounds {header.lo}..{header.hi}")
        if min(header.entries, header.leaves) < 0:
            raise ValueError("a negative count")
    except (GameError, ValueError) as error:
        raise CertificateError(f"the certificate's header makes no sense: {error}") from None
    return header
