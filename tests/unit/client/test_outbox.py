"""Results on their way: at every moment something on disk saves their work."""

from __future__ import annotations

import asyncio
import errno
import os
from pathlib import Path
from typing import cast

import pytest

from zermelo.client import outbox
from zermelo.client.checkpoints import Checkpoints
from zermelo.client.connection import Connection
from zermelo.client.outbox import Outbox
from zermelo.client.spool import Spool
from zermelo.proto import coordinator_pb2 as pb
from zermelo.proto.worker_pb2 import SavedSearch

WORKUNIT = pb.Workunit(lease_id=7, game="reversi:4x4", position=bytes(16), threshold=1)
RESULT = pb.Result(lease_id=7, answer=pb.YES, lo=1, hi=16, nodes=10)


@pytest.mark.parametrize("disk_works", [True, False])
def test_a_checkpoint_goes_when_its_result_is_on_disk_and_not_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, disk_works: bool
) -> None:
    checkpoints = Checkpoints(tmp_path, durable=False)
    spool = Spool(tmp_path / "spool", durable=False)
    spool.open()
    checkpoints.save(SavedSearch(workunit=WORKUNIT, nodes=9), b"table")

    async def finish() -> None:
        outbox = Outbox(spool, checkpoints, cast(Connection, None))
        outbox.put(RESULT, WORKUNIT)
        assert checkpoints.load(WORKUNIT) is not None
        await outbox.store()
        assert outbox.leases == [7]

    def full(handle: int, data: bytes) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        if not disk_works:
            patch.setattr(os, "write", full)
        asyncio.run(finish())
    assert (checkpoints.load(WORKUNIT) is None) == disk_works
    spool.close()


def test_a_call_holds_no_more_results_than_a_request_may() -> None:
    large = pb.Result(
        lease_id=1, answer=pb.EXHAUSTED,
        proved=pb.KnownBounds(histories=[bytes(400)] * 1000),
    )  # fmt: skip
    assert len(outbox._fitting([large] * 256)) == 2
    assert outbox._fitting([large]) == [large]
    small = [pb.Result(lease_id=number, answer=pb.YES) for number in range(1, 257)]
    assert outbox._fitting(small) == small
    assert outbox._fitting([]) == []
