"""Certificate files byte by byte, as a stranger could send them: digests right, contents wild."""

from __future__ import annotations

import json
from array import array
from hashlib import blake2b
from typing import Any

import zstandard

from zermelo.checker.certificate import NO_MOVE
from zermelo.checker.certificate_file import MAGIC
from zermelo.checker.columns import LEAF_COLUMNS, pack_block
from zermelo.games import KEY_BYTES, open_game

SPEC = "reversi:4x4,start=diagonal,scoring=raw"


def header(**fields: Any) -> bytes:
    """A header that claims the whole range of scores, which needs no entries."""
    spec = fields.get("game", SPEC)
    game = open_game(spec)
    told = {
        "game": spec, "goal": "score", "campaign": "c",
        "position": game.format(game.initial()), "lo": -game.max_score, "hi": game.max_score,
        "entries": 0, "leaves": 0, "version": "1", "created": "2026-01-01T00:00:00+00:00",
    }
    return json.dumps(told | fields).encode()


def certificate_bytes(head: bytes, blocks: list[bytes], version: int = 1) -> bytes:
    """A file of blocks that are compressed already; every digest is right."""
    start = MAGIC + version.to_bytes(2, "big")
    digest = _digest(start + head)
    parts = [start, len(head).to_bytes(4, "big"), head, digest]
    for block in [*blocks, b""]:
        digest = _digest(digest + block)
        parts += [len(block).to_bytes(4, "big"), block, digest]
    return b"".join(parts)


def leaf_block(
    keys: list[bytes], *, bound: int = 0, histories: list[bytes] | None = None, flags: int = 2,
    moves: int = NO_MOVE,
) -> bytes:
    """A compressed block in which every entry is a leaf, unless `flags` says otherwise."""
    number = len(keys)
    assert all(len(key) == KEY_BYTES for key in keys)
    columns = {
        "keys": b"".join(keys), "flags": bytes([flags]) * number,
        "bounds": array("h", [bound]) * number, "moves": array("H", [moves]) * number,
        "histories": histories or [],
    }
    leaves = number if flags & 2 else 0
    columns |= {name: array(kind, [0]) * leaves for name, kind in LEAF_COLUMNS.items()}
    return zstandard.ZstdCompressor(level=3).compress(pack_block(columns))


def zeros_frame(size: int) -> bytes:
    """A zstd frame that inflates to `size` zeros; its header tells the size."""
    compressor = zstandard.ZstdCompressor(level=1).compressobj(size=size)
    piece, parts = bytes(1 << 24), []
    for _ in range(size // len(piece)):
        parts.append(compressor.compress(piece))
    parts += [compressor.compress(bytes(size % len(piece))), compressor.flush()]
    return b"".join(parts)


def endless_frame(blocks: int) -> bytes:
    """A zstd frame, handmade, that does not tell its size: blocks of 128 KiB of zeros each."""
    length, last = 128 << 10, blocks - 1
    runs = (
        (length << 3 | 1 << 1 | (at == last)).to_bytes(3, "little") + b"\0"
        for at in range(blocks)
    )
    return b"\x28\xb5\x2f\xfd" + b"\x00" + b"\x68" + b"".join(runs)


def _digest(data: bytes) -> bytes:
    return blake2b(data, digest_size=16).digest()
