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
from pathlib import Path
from typing import Any

from zermelo.engine.interface import EngineError
from zermelo.engine.patterns import Pattern, Squares, patterns_of
from zermelo.games.reversi import STRIDE, Reversi

FOLDER = Path(__file__).parent / "trained"
MAGIC = b"ZWEIGHTS2\n"
DIGEST_BYTES = 16
PHASE_SPAN = 3  # how many numbers of empties share their weights
PHASES = 64 // PHASE_SPAN + 1
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
    """So many weights from a file."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise EngineError(f"cannot read weight file {path}: {error.strerror}") from None
    head, digest, rest = (
        data[: len(MAGIC)],
        data[len(MAGIC) : len(MAGIC) + DIGEST_BYTES],
        data[len(MAGIC) + DIGEST_BYTES :],
    )
    if head != MAGIC or hashlib.blake2b(rest, digest_size=DIGEST_BYTES).digest() != digest:
        raise EngineError(f"weight file {path} is damaged; install Zermelo again or train anew")
    _, _, packed = rest.partition(b"\n")
    weights = array("h")
    try:
        weights.frombytes(lzma.decompress(packed))
    except (lzma.LZMAError, ValueError) as error:
        raise EngineError(f"weight file {path} holds no weights: {error}") from None
    if len(weights) != count:
        raise EngineError(
            f"weight file {path} holds {len(weights)} weights, not {count}; train it anew"
        )
    return weights


def read_provenance(path: Path) -> dict[str, Any]:
    """Where the weights of a file come from."""
    line = path.read_bytes()[len(MAGIC) + DIGEST_BYTES :].partition(b"\n")[0]
    provenance = json.loads(line)
    if not isinstance(provenance, dict):
        raise EngineError(f"weight file {path} does not say where it comes from")
    return provenance


def save_weights(path: Path, weights: bytes, provenance: dict[str, Any]) -> None:
    rest = json.dumps(provenance, sort_keys=True).encode() + b"\n" + lzma.compress(weights)
    digest = hashlib.blake2b(rest, digest_size=DIGEST_BYTES).digest()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(MAGIC + digest + rest)
