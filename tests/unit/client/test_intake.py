"""How much work is asked for: enough that no worker waits, nothing that would lie idle."""

from __future__ import annotations

import asyncio
import logging
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from zermelo.client.intake import (
    LONG_SECONDS,
    MOST_FOR_OWNER,
    MOST_HELD_BYTES,
    MOST_IN_STORE,
    MOST_WANTED,
    Intake,
)
from zermelo.client.ledger import HeldLease, Ledger
from zermelo.client.speed import Speed
from zermelo.proto import coordinator_pb2 as pb

WORKERS = 2


class Asked(Exception):  # noqa: N818 - ends the run of an intake
    """So many workunits."""


class Coordinator:
    async def request_work(self, wanted: int, *_: object, **__: object) -> pb.RequestWorkReply:
        raise Asked(wanted)


def slots_asked_for(
    ledger: Ledger, speed: Speed, store_ms: int = 0, store_seconds: float = 0.0,
    lease_ms: int = 0,
) -> int:  # fmt: skip
    """By the server's wish and the owner's, where leases are known to last so long."""
    crew: Any = SimpleNamespace(allowed=WORKERS, preparing=False)
    connection: Any = Coordinator()
    hello: Any = None
    intake = Intake(
        connection, ledger, crew, speed, max_workunits=None, store_seconds=store_seconds,
        feed=lambda: None, hello=hello, fetch=hello, receipts=asyncio.Event(),
    )
    intake.keep_in_store(store_ms)
    if lease_ms:
        intake._take(pb.Workunit(lease_id=99, lease_ms=lease_ms))
        ledger.end(99)
    with pytest.raises(Asked) as asked:
        asyncio.run(intake.run())
    return int(asked.value.args[0])


def search(ledger: Ledger, lease: int, seconds: float) -> None:
    """A search that has been going on for so long."""
    ledger.take(HeldLease(pb.Workunit(lease_id=lease), deadline=0.0))
    (held,) = (held for held in ledger if held.lease == lease)
    held.started_at = time.monotonic() - seconds


@pytest.mark.parametrize(
    ("finished_after", "in_store"), [(None, 1), (1.0, 1), (0.01, 6), (1e-5, MOST_IN_STORE)]
)
def test_the_shorter_workunits_are_the_more_lie_in_store(
    tmp_path: Path, finished_after: float | None, in_store: int
) -> None:
    speed = Speed()
    if finished_after is not None:
        speed.finished(1000, finished_after)
    assert slots_asked_for(Ledger(tmp_path / "x"), speed) == WORKERS + in_store


@pytest.mark.parametrize(("store_ms", "in_store"), [
    (0, 1), (2_000, WORKERS), (500, 1), (4_000, 2 * WORKERS), (10**9, 5 * WORKERS),
])
def test_the_store_follows_the_target_of_the_campaigns(
    tmp_path: Path, store_ms: int, in_store: int
) -> None:
    speed = Speed()
    speed.finished(1000, 2.0)
    wanted = slots_asked_for(Ledger(tmp_path / "x"), speed, store_ms)
    assert wanted == WORKERS + in_store


@pytest.mark.parametrize(("store_seconds", "lease_ms", "finished_after", "in_store"), [
    (30.0, 0, 2.0, 30),
    (1.0, 0, 2.0, 1),  # less than the server wishes
    (30.0, 0, LONG_SECONDS, 6),  # what takes long waits, too, if its owner wants it
    (30.0, 0, 30.0, 0),
    (600.0, 60_000, 2.0, 30),  # the last must begin before its lease ends
    (600.0, 1_200_000, 0.01, MOST_FOR_OWNER),
])
def test_the_owner_says_how_much_lies_in_store(
    tmp_path: Path, store_seconds: float, lease_ms: int, finished_after: float, in_store: int
) -> None:
    speed = Speed()
    speed.finished(1000, finished_after)
    wanted = slots_asked_for(Ledger(tmp_path / "x"), speed, 10_000, store_seconds, lease_ms)
    assert wanted == min(WORKERS + in_store, MOST_WANTED)


def test_nothing_lies_in_store_behind_long_searches(tmp_path: Path) -> None:
    speed = Speed()
    speed.finished(1000, LONG_SECONDS)
    assert slots_asked_for(Ledger(tmp_path / "x"), speed) == WORKERS


def test_long_searches_are_noticed_before_the_first_has_ended(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "x")
    search(ledger, 1, seconds=1.0)
    assert slots_asked_for(ledger, Speed()) == WORKERS  # the second, and one in store
    search(ledger, 2, seconds=LONG_SECONDS + 1)
    ledger.end(1)
    assert slots_asked_for(ledger, Speed()) == WORKERS - 1


def test_no_more_is_asked_for_while_what_is_held_takes_much_memory(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "x")
    large = pb.Workunit(lease_id=1, history=bytes(MOST_HELD_BYTES))
    ledger.take(HeldLease(large, deadline=0.0))
    crew: Any = SimpleNamespace(allowed=WORKERS, preparing=False)
    unused: Any = None
    intake = Intake(unused, ledger, crew, Speed(), max_workunits=None, feed=lambda: None,
                    hello=unused, fetch=unused, receipts=asyncio.Event())  # fmt: skip
    assert intake._wanted() == 0
    ledger.end(1)
    assert ledger.bytes == 0
    assert intake._wanted() == WORKERS + 1


@pytest.mark.parametrize(
    ("reason", "calls"), [(pb.NoWork.TOO_MANY_LEASES, 2), (pb.NoWork.ALL_LEASED, 1)]
)
def test_a_result_that_was_taken_ends_the_pause_of_a_full_quota(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, reason: pb.NoWork.Reason, calls: int
) -> None:
    """Who may have few leases would else idle for the rest of ten seconds after each of them."""

    class Full:
        asked = 0

        async def request_work(self, *_: object, **__: object) -> pb.RequestWorkReply:
            self.asked += 1
            none = pb.NoWork(reason=reason, message="full", retry_after_ms=600_000)
            return pb.RequestWorkReply(no_work=none)

    async def fetch(_: object) -> None:
        pass

    async def asked() -> int:
        ledger, receipts = Ledger(tmp_path / "x"), asyncio.Event()
        search(ledger, 1, 1.0)
        crew: Any = SimpleNamespace(allowed=WORKERS, preparing=False)
        full: Any = Full()
        unused: Any = None
        intake = Intake(
            full, ledger, crew, Speed(), max_workunits=None, feed=lambda: None, hello=unused,
            fetch=fetch, receipts=receipts,
        )  # fmt: skip
        running = asyncio.create_task(intake.run())
        await asyncio.sleep(0)
        while not intake.retry_at:
            await asyncio.sleep(0)
        receipts.set()
        for _ in range(20):
            await asyncio.sleep(0)
        running.cancel()
        return int(full.asked)

    with caplog.at_level(logging.INFO):
        assert asyncio.run(asked()) == calls
    assert caplog.text.count("no more work: full") == 1


def test_hello_waits_for_the_leases_that_are_on_their_way(tmp_path: Path) -> None:
    """It would end those that it does not name."""

    async def told() -> list[list[int]]:
        ledger, said, answered = Ledger(tmp_path / "x"), list[list[int]](), asyncio.Event()
        crew: Any = SimpleNamespace(allowed=WORKERS, preparing=False)

        class Slow:
            async def request_work(self, *_: object, **__: object) -> pb.RequestWorkReply:
                intake.introduce()
                await asyncio.sleep(0)
                assert not said
                return pb.RequestWorkReply(workunits=[pb.Workunit(lease_id=7)])

        async def hello() -> None:
            said.append(ledger.leases)
            answered.set()
            await asyncio.Event().wait()

        async def fetch(_: object) -> None:
            pass

        slow: Any = Slow()
        intake = Intake(
            slow, ledger, crew, Speed(), max_workunits=None, feed=lambda: None, hello=hello,
            fetch=fetch, receipts=asyncio.Event(),
        )
        running = asyncio.create_task(intake.run())
        await asyncio.wait_for(answered.wait(), 60)
        running.cancel()
        return said

    assert asyncio.run(told()) == [[7]]
