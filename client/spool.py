"""Finished results on disk, from the end of a search until the server has them.

One file of records, each a length, a digest and a `Result`. Results that finish at the
same time are written and synced together. The file is emptied when everything in it was
acknowledged; sending a result twice is harmless, so nothing is ever removed too early.
"""

from __future__ import annotations

import asyncio
import errno
import hashlib
import logging
import os
import struct
from collections.abc import Iterable, Sequence
from pathlib import Path

from google.protobuf.message import DecodeError

from zermelo.client.files import write_atomically
from zermelo.client.folder import why
from zermelo.proto import coordinator_pb2 as pb

log = logging.getLogger(__name__)

DIGEST_BYTES = 16
_HEAD = struct.Struct(f">I{DIGEST_BYTES}s")


class Spool:
    def __init__(self, path: Path, *, durable: bool) -> None:
        self._path = path
        self._durable = durable
        self._unsent: dict[int, pb.Result] = {}
        self._handle = -1
        #: Why results are in memory only, while the disk does not take them.
        self.trouble = ""

    def open(self) -> None:
        """Read what an earlier run could not send."""
        if self._path.exists():
            for result in self._read(self._path.read_bytes()):
                self._unsent[result.lease_id] = result
            if self._unsent:
                log.info("results of an earlier run are to be sent: %d", len(self._unsent))
        # Rewritten, so that new records never follow damaged ones.
        write_atomically(self._path, map(_record, self._unsent.values()), durable=self._durable)
        self._handle = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC)

    def close(self) -> None:
        if self._handle >= 0:
            os.close(self._handle)
            self._handle = -1

    def __len__(self) -> int:
        return len(self._unsent)

    @property
    def leases(self) -> list[int]:
        """The leases whose results wait here."""
        return list(self._unsent)

    def oldest(self, most: int) -> list[pb.Result]:
        return [result for result, _ in zip(self._unsent.values(), range(most), strict=False)]

    async def put(self, results: Sequence[pb.Result]) -> None:
        """Keep results; they are on disk when this returns, or `trouble` says why not."""
        # After trouble with the disk everything is written again: twice is harmless.
        unwritten = [*self._unsent.values(), *results] if self.trouble else results
        try:
            _write(self._handle, b"".join(map(_record, unwritten)))
            if self._durable:
                await asyncio.to_thread(os.fsync, self._handle)
            self.trouble = ""
        except OSError as error:
            if not self.trouble:
                log.error("finished results are kept in memory only: %s", why(error))
            self.trouble = why(error)
        for result in results:
            self._unsent[result.lease_id] = result

    def acknowledged(self, leases: Iterable[int]) -> None:
        """The server is done with these."""
        for lease in leases:
            self._unsent.pop(lease, None)
        if not self._unsent:
            # Not synced: at worst they are sent once more.
            os.ftruncate(self._handle, 0)

    def _read(self, data: bytes) -> Iterable[pb.Result]:
        at = 0
        while at < len(data):
            try:
                length, digest = _HEAD.unpack_from(data, at)
                body = data[at + _HEAD.size : at + _HEAD.size + length]
                if _digest(body) != digest:
                    raise ValueError
                yield pb.Result.FromString(body)
            except (struct.error, ValueError, DecodeError):
                log.warning(
                    "the end of %s is damaged (%d bytes) and was discarded; "
                    "what it held is asked again by the server", self._path, len(data) - at,
                )  # fmt: skip
                return
            at += _HEAD.size + length


def _record(result: pb.Result) -> bytes:
    body = result.SerializeToString()
    return _HEAD.pack(len(body), _digest(body)) + body


def _digest(body: bytes) -> bytes:
    return hashlib.blake2b(body, digest_size=DIGEST_BYTES).digest()


def _write(handle: int, data: bytes) -> None:
    before = os.fstat(handle).st_size
    try:
        if os.write(handle, data) != len(data):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    except OSError:
        os.ftruncate(handle, before)
        raise
