"""Checkpoints on disk: what a search has found out, so that a restart need not repeat it.

    magic and version 4 | digest 16 | length of the head 4 | head | table of the engine

A file is named after its question and replaced as one step. What does not match its
digest, or is of another version, is discarded with a note and never used. A checkpoint
outlives its lease: should the same question come back, its work is not repeated.
"""

from __future__ import annotations

import hashlib
import struct
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from google.protobuf.message import DecodeError

from zermelo import ZermeloError
from zermelo.client.files import write_atomically
from zermelo.proto import coordinator_pb2 as pb
from zermelo.proto.worker_pb2 import SavedSearch

MAGIC = b"ZCS\x01"
DIGEST_BYTES = 16
MOST_KEPT = 32
LONGEST_KEPT_SECONDS = 7 * 86400.0
#: Longer than any head, so that the first piece tells what a file is.
PIECE_BYTES = 8 << 20
_HEAD = struct.Struct(">I")
_BODY = len(MAGIC) + DIGEST_BYTES
_SUFFIX = ".search"


class CheckpointFileError(ZermeloError, ValueError):
    """A checkpoint file cannot be trusted."""


class Checkpoint(NamedTuple):
    search: SavedSearch
    table: bytes


class Checkpoints:
    def __init__(self, folder: Path, *, durable: bool) -> None:
        self._folder = folder
        self._durable = durable

    def path(self, workunit: pb.Workunit) -> Path:
        question = (workunit.game.encode(), workunit.position, workunit.history,
                    str(workunit.threshold).encode())  # fmt: skip
        name = hashlib.blake2b(b"\0".join(question), digest_size=10).hexdigest()
        return self._folder / f"{name}{_SUFFIX}"

    def save(self, search: SavedSearch, table: bytes) -> None:
        head = search.SerializeToString()
        body = (_HEAD.pack(len(head)), head, table)
        digest = hashlib.blake2b(digest_size=DIGEST_BYTES)
        for piece in body:
            digest.update(piece)
        path = self.path(search.workunit)
        write_atomically(path, (MAGIC, digest.digest(), *body), durable=self._durable)

    def load(self, workunit: pb.Workunit) -> Checkpoint | None:
        """The checkpoint of a question; `CheckpointFileError`, and it is gone, if damaged."""
        path = self.path(workunit)
        try:
            data = path.read_bytes()
        except FileNotFoundError:
            return None
        try:
            search, head_end = _parse(data)
            if hashlib.blake2b(data[_BODY:], digest_size=DIGEST_BYTES).digest() != data[4:_BODY]:
                raise CheckpointFileError("it does not match its digest")
        except CheckpointFileError as error:
            raise self._discarded(path, error) from error
        return Checkpoint(search, data[head_end:])

    def saved(self) -> Iterator[SavedSearch | CheckpointFileError]:
        """Every search that can go on; an error for each file that had to be discarded."""
        for path in sorted(self._folder.glob(f"*{_SUFFIX}")):
            try:
                yield _verify(path)
            except CheckpointFileError as error:
                yield self._discarded(path, error)

    def remove(self, workunit: pb.Workunit) -> None:
        self.path(workunit).unlink(missing_ok=True)

    def tidy(self) -> None:
        """Forget what is too old to be asked for again, and half-written files."""
        for path in self._folder.glob(".*.new"):
            path.unlink(missing_ok=True)
        ages = sorted(
            (time.time() - path.stat().st_mtime, path)
            for path in self._folder.glob(f"*{_SUFFIX}")
        )
        for place, (age, path) in enumerate(ages):
            if place >= MOST_KEPT or age > LONGEST_KEPT_SECONDS:
                path.unlink(missing_ok=True)

    def _discarded(self, path: Path, error: CheckpointFileError) -> CheckpointFileError:
        path.unlink(missing_ok=True)
        return CheckpointFileError(
            f"the checkpoint {path.name} was discarded: {error}; its search starts again"
        )


def _verify(path: Path) -> SavedSearch:
    """Check a whole file without holding it in memory."""
    digest = hashlib.blake2b(digest_size=DIGEST_BYTES)
    with path.open("rb") as stream:
        start = stream.read(PIECE_BYTES)
        search, _ = _parse(start)
        digest.update(start[_BODY:])
        while piece := stream.read(PIECE_BYTES):
            digest.update(piece)
    if digest.digest() != start[4:_BODY]:
        raise CheckpointFileError("it does not match its digest")
    return search


def _parse(data: bytes) -> tuple[SavedSearch, int]:
    """The head, and where it ends."""
    if data[:3] != MAGIC[:3]:
        raise CheckpointFileError("it is no checkpoint")
    if data[:4] != MAGIC:
        raise CheckpointFileError(f"it is of version {data[3:4].hex()}, this client writes 01")
    start = _BODY + _HEAD.size
    try:
        (length,) = _HEAD.unpack_from(data, _BODY)
        if start + length > len(data):
            raise CheckpointFileError("it ends too early")
        return SavedSearch.FromString(data[start : start + length]), start + length
    except (struct.error, DecodeError):
        raise CheckpointFileError("it ends too early") from None
