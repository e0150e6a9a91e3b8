"""Results on disk: nothing acknowledged too early, nothing damaged trusted."""

from __future__ import annotations

import asyncio
import errno
import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zermelo.client.spool import Spool
from zermelo.proto import coordinator_pb2 as pb


def result(lease: int) -> pb.Result:
    return pb.Result(lease_id=lease, answer=pb.YES, lo=lease % 7, hi=9, nodes=lease * 1000)


def put(spool: Spool, *leases: int) -> None:
    asyncio.run(spool.put([result(lease) for lease in leases]))


def reopened(path: Path) -> Spool:
    spool = Spool(path, durable=True)
    spool.open()
    return spool


def test_results_outlive_their_client(tmp_path: Path) -> None:
    spool = reopened(tmp_path / "spool")
    put(spool, 1, 2)
    put(spool, 3)
    spool.close()
    again = reopened(tmp_path / "spool")
    assert again.oldest(10) == [result(1), result(2), result(3)]
    again.acknowledged([1, 2])
    again.close()
    # Not rewritten for each receipt: a result may be sent twice, but never be lost.
    third = reopened(tmp_path / "spool")
    assert result(3) in third.oldest(10)
    third.acknowledged(third.leases)
    third.close()
    assert (tmp_path / "spool").stat().st_size == 0


@settings(max_examples=60)
@given(st.integers(0, 400), st.sampled_from(["cut", "flip", "garbage"]), st.integers(0, 255))
def test_a_damaged_spool_gives_only_true_results(
    tmp_path: Path, where: int, damage: str, value: int
) -> None:
    path = tmp_path / "spool"
    path.unlink(missing_ok=True)
    spool = reopened(path)
    put(spool, *range(1, 8))
    spool.close()
    data = bytearray(path.read_bytes())
    where = min(where, len(data) - 1)
    if damage == "cut":
        del data[where:]
    elif damage == "flip":
        data[where] ^= value
    else:
        data += bytes([value]) * where
    path.write_bytes(data)
    found = reopened(path)
    leases = found.leases
    assert leases == list(range(1, len(leases) + 1))
    assert found.oldest(99) == [result(lease) for lease in leases]
    if damage == "garbage":
        assert len(leases) == 7
    # What follows the damage is readable again.
    put(found, 100)
    found.close()
    last = reopened(path)
    assert last.leases == [*leases, 100]
    last.close()


def test_a_full_disk_keeps_results_in_memory_and_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spool = reopened(tmp_path / "spool")
    put(spool, 1)

    def full(handle: int, data: bytes) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "write", full)
        put(spool, 2)
    assert spool.leases == [1, 2]
    assert "the disk is full" in spool.trouble
    put(spool, 3)
    assert spool.trouble == ""
    spool.close()
    # With room again, what was in memory only is on disk, too.
    assert sorted(reopened(tmp_path / "spool").leases) == [1, 2, 3]
