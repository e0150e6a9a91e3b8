"""The queue of calls alone: no word of new work is lost, whenever it comes."""

from __future__ import annotations

import asyncio
from typing import cast

import pytest

from zermelo.server.coordinator.leases import Leased, Request
from zermelo.server.coordinator.leases import queue as module
from zermelo.server.coordinator.leases.assigner import Assigner
from zermelo.server.coordinator.leases.queue import CallQueue
from zermelo.server.coordinator.leases.store import LeaseStore
from zermelo.server.tasks import end

WORK = Leased(
    request=1, host=1, lease=1, node_budget=1, hold=1, workunit=1, campaign=1,
    game="reversi:4x4", position=bytes(16), history=None, threshold=0, max_node_budget=None,
    target_seconds=1.0, known=None, probe=False,
)  # fmt: skip


class LateAssigner:
    """Work turns up while the first statement runs: it is announced, or prefetched."""

    def __init__(self, *, prefetched: bool) -> None:
        self.queue: CallQueue | None = None
        self.statements = 0
        self._prefetched = prefetched
        self._ready = False

    asks_others = False

    async def assign(self, requests: list[Request]) -> tuple[list[Leased], list[int]]:
        self.statements += 1
        granted = [request.wanted for request in requests]
        assert self.queue is not None
        if self._prefetched:
            self._ready = True
            self.queue.workunits_are_prefetched()
        elif self.statements == 1:
            self.queue.work_may_be_ready()
        else:
            return [WORK], granted
        return [], granted

    def work_may_be_ready(self) -> None:
        pass

    def assign_at_once(self, request: Request) -> list[Leased]:
        return [WORK] if self._ready else []


class QuietStore:
    async def ask_for_more(self) -> None:
        pass


@pytest.mark.parametrize("prefetched", [False, True])
def test_work_that_turns_up_while_the_statement_runs_is_handed_out(
    monkeypatch: pytest.MonkeyPatch, prefetched: bool
) -> None:
    monkeypatch.setattr(module, "RECHECK_SECONDS", 3600.0)

    async def ask() -> list[Leased]:
        assigner = LateAssigner(prefetched=prefetched)
        queue = assigner.queue = CallQueue(
            cast(LeaseStore, QuietStore()), cast(Assigner, assigner)
        )
        running = asyncio.create_task(queue.run())
        try:
            request = Request(host=1, user=1, wanted=1, speed=0.0)
            return await queue.request(request, wait_seconds=60)
        finally:
            running.cancel()

    assert asyncio.run(ask()) == [WORK]


class OthersAssigner:
    """One workunit that waits for the answer of another user than `known`; nobody says so."""

    asks_others = True

    def __init__(self, known: int) -> None:
        self.statements = 0
        self._known = known

    async def assign(self, requests: list[Request]) -> tuple[list[Leased], list[int]]:
        self.statements += 1
        leased = [
            WORK._replace(request=place, host=request.host)
            for place, request in enumerate(requests, 1) if request.user != self._known
        ]  # fmt: skip
        return leased[:1], [request.wanted for request in requests]

    def work_may_be_ready(self) -> None:
        pass

    def assign_at_once(self, request: Request) -> list[Leased]:
        return []


@pytest.mark.parametrize("wait_seconds", [0.0, 60.0])
def test_who_polls_does_not_keep_work_from_others(
    monkeypatch: pytest.MonkeyPatch, wait_seconds: float
) -> None:
    monkeypatch.setattr(module, "RECHECK_SECONDS", 3600.0)

    async def ask() -> tuple[list[Leased], int]:
        assigner = OthersAssigner(known=1)
        queue = CallQueue(cast(LeaseStore, QuietStore()), cast(Assigner, assigner))
        running = asyncio.create_task(queue.run())
        try:
            for _ in range(20):
                poll = Request(host=1, user=1, wanted=1, speed=0.0)
                assert await queue.request(poll, wait_seconds=0) == []
            polled = assigner.statements
            call = Request(host=2, user=2, wanted=1, speed=0.0)
            return await asyncio.wait_for(queue.request(call, wait_seconds), 60), polled
        finally:
            running.cancel()

    leased, polled = asyncio.run(ask())
    assert [item.host for item in leased] == [2]
    assert polled == 1  # nor does a poller make statements


def test_a_poller_does_not_put_off_the_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "RECHECK_SECONDS", 0.1)

    async def ask() -> list[Leased]:
        assigner = OthersAssigner(known=1)
        queue = CallQueue(cast(LeaseStore, QuietStore()), cast(Assigner, assigner))
        running = asyncio.create_task(queue.run())
        known, other = (Request(host=user, user=user, wanted=1, speed=0.0) for user in (1, 2))

        async def poll() -> None:
            while True:
                await queue.request(known, wait_seconds=0)
                await asyncio.sleep(0.01)

        polling = asyncio.create_task(poll())
        try:
            assigner._known = 2  # nothing for the other user as yet
            waiting = asyncio.create_task(queue.request(other, wait_seconds=60))
            await asyncio.sleep(0.05)
            assigner._known = 1
            return await asyncio.wait_for(waiting, 60)
        finally:
            polling.cancel()
            running.cancel()

    assert [item.host for item in asyncio.run(ask())] == [2]


class PlentyAssigner(OthersAssigner):
    """Work for everybody, by statements alone."""

    def __init__(self) -> None:
        super().__init__(known=0)
        self.batches: list[int] = []

    async def assign(self, requests: list[Request]) -> tuple[list[Leased], list[int]]:
        self.batches.append(len(requests))
        leased = [
            WORK._replace(request=place, host=request.host)
            for place, request in enumerate(requests, 1)
        ]
        return leased, [1] * len(requests)


def test_in_a_crowd_calls_are_gathered_and_a_call_alone_is_not_delayed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "GATHER_SECONDS", 0.5)

    async def play() -> tuple[list[int], float]:
        assigner = PlentyAssigner()
        queue = CallQueue(cast(LeaseStore, QuietStore()), cast(Assigner, assigner))
        running = asyncio.create_task(queue.run())
        loop = asyncio.get_running_loop()

        def call(host: int) -> asyncio.Task[list[Leased]]:
            request = Request(host=host, user=1, wanted=1, speed=0.0)
            return asyncio.create_task(queue.request(request, wait_seconds=60))

        try:
            started = loop.time()
            for host in range(3):  # each alone
                await call(host)
            alone = loop.time() - started
            crowd = [call(host) for host in range(4)]
            await crowd[0]
            for host in range(4, 10):
                crowd.append(call(host))
                await asyncio.sleep(0.01)
            await asyncio.gather(*crowd)
        finally:
            running.cancel()
        return assigner.batches, alone

    batches, alone = asyncio.run(play())
    assert batches[:4] == [1, 1, 1, 4]
    assert batches[4:] == [6]
    assert alone < 0.5


@pytest.mark.parametrize("ticks", range(5))
def test_it_ends_though_a_call_comes_in_that_moment(ticks: int) -> None:
    async def cancelled() -> bool:
        assigner = OthersAssigner(known=1)
        queue = CallQueue(cast(LeaseStore, QuietStore()), cast(Assigner, assigner))
        running = asyncio.create_task(queue.run())
        call = Request(host=1, user=1, wanted=1, speed=0.0)
        waiting = asyncio.create_task(queue.request(call, wait_seconds=60))
        for _ in range(100):  # until it waits for more calls, or its slow clock
            await asyncio.sleep(0)
        queue.work_may_be_ready()
        for _ in range(ticks):
            await asyncio.sleep(0)
        running.cancel()
        for _ in range(100):
            await asyncio.sleep(0)
        ended = running.done()
        await end([running, waiting])
        return ended

    assert asyncio.run(cancelled())
