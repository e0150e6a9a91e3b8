"""The envelope of a checkpoint: what it is of, and a digest that shows damage."""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Callable
from typing import Any

from zermelo.engine.interface import CheckpointError
from zermelo.games import Game

_DIGEST_BYTES = 16


def seal(kind: bytes, game: Game[Any], content: bytes) -> bytes:
    """`kind` names the layout of the content; a new layout needs a new one."""
    body = _header(kind, game) + content
    return _digest(body) + body


def unseal(kind: bytes, game: Game[Any], checkpoint: bytes) -> bytes:
    """The content, exactly as it was sealed; `CheckpointError` for anything else."""
    digest, body = checkpoint[:_DIGEST_BYTES], checkpoint[_DIGEST_BYTES:]
    if _digest(body) != digest:
        raise CheckpointError("the checkpoint is damaged")
    header = _header(kind, game)
    if not body.startswith(header):
        raise CheckpointError(f"the checkpoint is not one of {game.spec}")
    return body[len(header) :]


def inflate(content: bytes, max_bytes: int) -> bytes:
    """What zlib compressed; `CheckpointError` unless it is whole and at most `max_bytes`."""
    decompressor = zlib.decompressobj()
    try:
        data = decompressor.decompress(content, max_bytes + 1)
    except zlib.error as error:
        raise CheckpointError(f"the checkpoint is damaged: {error}") from None
    if len(data) > max_bytes:
        raise CheckpointError(f"the checkpoint holds more than {max_bytes:,} bytes")
    if not decompressor.eof or decompressor.unused_data:
        raise CheckpointError("the checkpoint is damaged: it does not end where it should")
    return data


def load_records(load: Callable[[bytes], None], records: bytes) -> None:
    """Hand records to an engine that refuses what is none with `ValueError`."""
    try:
        load(records)
    except ValueError as error:
        raise CheckpointError(f"the checkpoint is damaged: {error}") from None


def _header(kind: bytes, game: Game[Any]) -> bytes:
    return kind + game.spec.encode() + b"\0"


def _digest(body: bytes) -> bytes:
    return hashlib.blake2b(body, digest_size=_DIGEST_BYTES).digest()
