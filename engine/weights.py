"""Weight files, and the layout of the trained reversi evaluation.

A file holds a JSON line that says where the weights come from, then the weights,
compressed so that phases alike are stored once; before both, a digest of them.
"""

from __future__ import annotations

import hashlib
import json
import lzma
from array import array
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from zermelo.engine.interface import EngineError
from zermelo.engine.patterns import Pattern, Squares, patterns_of
from zermelo.games.foreign_files import MIB, read_limited
from zermelo.games.reversi import STRIDE, Reversi

FOLDER = Path(__file__).parent / "trained"
MAGIC = b"ZWEIGHTS2\n"
DIGEST_BYTES = 16
PHASE_SPAN = 3  # how many numbers of empties share their weights
PHASES = 64 // PHASE_SPAN + 1
#: A weight file, and what the decompressor may take: 65 MiB at the highest level.
MAX_FILE_BYTES = 64 * MIB
_LZMA_BYTES = 80 * MIB
#: For numbers of two bytes, of which neighbours have little in common.
_FILTERS = [{"id": lzma.FILTER_LZMA2, "preset": 9, "lc": 0, "lp": 1, "pb": 1}]
MOBILITY_WEIGHTS = 64  # two tables of 32: own moves, opponent's moves


@dataclass(frozen=True)
class Layout:
    """Where the weights of each pattern lie within a phase."""

    patterns: tuple[Pattern, ...]
    #: For each instance: where its weights start, and its squares.
    instances: tuple[tuple[int, Squares], ...]
    phase_size: int

    @property
    def size(self) -> int:
        """The weights of all phases."""
        return PHASES * self.phase_size

    @classmethod
    def of(cls, game: Reversi) -> Layout:
        """The layout for a board. A tall board shares the weights of the wide one."""
        tall = game.rows > game.cols
        patterns = tuple(patterns_of(Reversi(game.cols, game.rows) if tall else game))
        instances, offset = [], 0
        for pattern in patterns:
            for squares in pattern.instances:
                instances.append((offset, _transposed(squares) if tall else squares))
            offset += pattern.configurations
        return cls(patterns, tuple(instances), offset + MOBILITY_WEIGHTS)


def _transposed(squares: Squares) -> Squares:
    return tuple(STRIDE * (square % STRIDE) + square // STRIDE for square in squares)


#: The prior of a move in a conquest looks alike on all boards of Go.
CONQUEST_FILE = FOLDER / "go-conquest.weights"


def weight_file(game: Reversi) -> Path:
    """Where the weights for a board are shipped, if they are."""
    low, high = sorted((game.rows, game.cols))
    return FOLDER / f"reversi-{low}x{high}.weights"


def load_weights(path: Path, count: int) -> array[int]:
    """So many weights from a file, for reading only: all engines of a process share them."""
    data = _read(path)
    head, digest, rest = (
        data[: len(MAGIC)],
        data[len(MAGIC) : len(MAGIC) + DIGEST_BYTES],
        data[len(MAGIC) + DIGEST_BYTES :],
    )
    if head != MAGIC or hashlib.blake2b(rest, digest_size=DIGEST_BYTES).digest() != digest:
        raise EngineError(f"weight file {path} is damaged; install Zermelo again or train anew")
    return _unpacked(rest.partition(b"\n")[2], path, count)


# To unpack the weights of 8x8 takes a hundred times as long as to make an engine with them, and
# pages, players and the planner make many.
@lru_cache(maxsize=4)
def _unpacked(packed: bytes, path: Path, count: int) -> array[int]:
    weights = array("h")
    size = count * weights.itemsize
    try:
        decompressor = lzma.LZMADecompressor(memlimit=_LZMA_BYTES)
        unpacked = decompressor.decompress(packed, max_length=size + 1)
    except (lzma.LZMAError, EOFError) as error:
        raise EngineError(f"weight file {path} holds no weights: {error}") from None
    if len(unpacked) != size or not decompressor.eof or decompressor.unused_data:
        held = "more" if len(unpacked) >= size else len(unpacked) // weights.itemsize
        raise EngineError(f"weight file {path} holds {held} weights, not {count}; train it anew")
    weights.frombytes(unpacked)
    return weights


def read_provenance(path: Path) -> dict[str, Any]:
    """Where the weights of a file come from."""
    line = _read(path)[len(MAGIC) + DIGEST_BYTES :].partition(b"\n")[0]
    try:
        provenance = json.loads(line)
    except (ValueError, RecursionError):
        provenance = None
    if not isinstance(provenance, dict):
        raise EngineError(f"weight file {path} does not say where it comes from")
    return provenance


def _read(path: Path) -> bytes:
    try:
        return read_limited(path, MAX_FILE_BYTES)
    except OSError as error:
        raise EngineError(f"cannot read weight file {path}: {error.strerror}") from None


def save_weights(path: Path, weights: bytes, provenance: dict[str, Any]) -> None:
    packed = lzma.compress(weights, filters=_FILTERS)
    rest = json.dumps(provenance, sort_keys=True).encode() + b"\n" + packed
    digest = hashlib.blake2b(rest, digest_size=DIGEST_BYTES).digest()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(MAGIC + digest + rest)
