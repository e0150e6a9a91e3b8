"""Whoever calls too often gets refusals late, and only so many calls are kept for that."""

from __future__ import annotations

import asyncio

import grpc
import pytest

from zermelo.proto import service
from zermelo.server.coordinator import holding
from zermelo.server.coordinator.holding import MOST_OF_ONE, Holding
from zermelo.server.coordinator.refusals import RefusalError

PAUSE = 0.05


def test_a_call_is_held_for_its_pause_and_not_longer_than_allowed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(holding, "LONGEST_SECONDS", 2 * PAUSE)
    held = Holding()
    assert asyncio.run(held.hold("ada", PAUSE)) > 0.9 * PAUSE
    assert 1.8 * PAUSE < asyncio.run(held.hold("ada", 3600.0)) < 60


def test_one_caller_holds_few_calls_and_delays_nobody_else() -> None:
    held = Holding()

    async def play() -> None:
        waiting = [asyncio.create_task(held.hold("eve", 60.0)) for _ in range(MOST_OF_ONE)]
        await asyncio.sleep(0)
        assert await held.hold("eve", 60.0) == 0.0
        assert await held.hold("ada", PAUSE) > 0.0
        waiting[0].cancel()  # it hung up, so that there is room
        await asyncio.sleep(0)
        assert await held.hold("eve", PAUSE) > 0.0
        for call in waiting:
            call.cancel()

    asyncio.run(play())


def test_only_so_many_calls_are_held_in_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(holding, "MOST_OF_ALL", 3)
    held = Holding()

    async def play() -> list[float]:
        return await asyncio.gather(*(held.hold(who, PAUSE) for who in range(5)))

    assert [took > 0 for took in asyncio.run(play())] == [True] * 3 + [False] * 2
    assert asyncio.run(held.hold("later", PAUSE)) > 0.0


def test_who_was_held_is_told_what_is_left_of_the_pause() -> None:
    code, reason = grpc.StatusCode.RESOURCE_EXHAUSTED, service.TOO_FAST
    refusal = RefusalError(code, reason, "slow down", 3000)
    left = refusal.after(2.0)
    assert (left.code, left.reason, left.message) == (code, reason, "slow down")
    assert left.retry_after_ms == 1000
    assert refusal.after(3.5).retry_after_ms == 1
