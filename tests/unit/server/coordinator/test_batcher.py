"""Group commit: calls that wait together are served together."""

from __future__ import annotations

import asyncio
from contextlib import suppress

import pytest

from zermelo.server.coordinator.batcher import (
    LONGEST_REST,
    REST_SHARE,
    Batcher,
    OverloadError,
)


class Work:
    """Doubles numbers, slowly, and remembers its batches."""

    def __init__(self) -> None:
        self.batches: list[list[int]] = []
        self.go = asyncio.Event()

    async def __call__(self, numbers: list[int]) -> list[int]:
        self.batches.append(numbers)
        await self.go.wait()
        if 13 in numbers:
            raise ValueError("unlucky")
        return [2 * number for number in numbers]


async def gathered(
    batcher: Batcher[int, int], work: Work, numbers: list[int]
) -> list[int | BaseException]:
    runner = asyncio.create_task(batcher.run())
    calls = [asyncio.create_task(batcher(number)) for number in numbers[:1]]
    while not work.batches:
        await asyncio.sleep(0)
    calls += [asyncio.create_task(batcher(number)) for number in numbers[1:]]
    # One turn of the loop: each call is in the queue as soon as its task begins.
    await asyncio.sleep(0)
    work.go.set()
    answers = await asyncio.gather(*calls, return_exceptions=True)
    runner.cancel()
    with suppress(asyncio.CancelledError):
        await runner
    return answers


def test_what_waits_meanwhile_becomes_one_batch() -> None:
    async def scenario() -> None:
        work = Work()
        batcher = Batcher(work, weight=lambda _: 1, most=100, longest=100)
        assert await gathered(batcher, work, [1, 2, 3, 4]) == [2, 4, 6, 8]
        assert work.batches == [[1], [2, 3, 4]]

    asyncio.run(scenario())


def test_a_batch_has_a_weight_but_at_least_one_question() -> None:
    async def scenario() -> None:
        work = Work()
        batcher = Batcher(work, weight=lambda number: number, most=5, longest=100)
        assert await gathered(batcher, work, [1, 2, 3, 9, 1]) == [2, 4, 6, 18, 2]
        assert work.batches == [[1], [2, 3], [9], [1]]

    asyncio.run(scenario())


def test_in_a_crowd_batches_begin_at_a_distance() -> None:
    async def scenario() -> None:
        work = Work()
        work.go.set()
        batcher = Batcher(work, apart=1.0)
        runner = asyncio.create_task(batcher.run())

        async def calls(*numbers: int) -> list[asyncio.Task[int]]:
            """Calls at the same moment, with time to serve them at once."""
            made = [asyncio.create_task(batcher(number)) for number in numbers]
            for _ in range(10):
                await asyncio.sleep(0)
            return made

        made = await calls(1) + await calls(2)
        assert work.batches == [[1], [2]]  # nobody else was there
        made += await calls(3, 4) + await calls(5) + await calls(6)
        assert work.batches == [[1], [2], [3, 4]]
        assert await asyncio.gather(*made) == [2, 4, 6, 8, 10, 12]
        assert work.batches == [[1], [2], [3, 4], [5, 6]]
        runner.cancel()

    asyncio.run(scenario())


def test_after_a_slow_batch_calls_gather_for_longer() -> None:
    async def scenario() -> None:
        loop = asyncio.get_running_loop()
        began: list[float] = []
        batches: list[list[int]] = []

        async def work(numbers: list[int]) -> list[int]:
            began.append(loop.time())
            batches.append(numbers)
            await asyncio.sleep(0.1)
            return numbers

        batcher = Batcher(work, apart=0.001)
        runner = asyncio.create_task(batcher.run())
        await asyncio.gather(batcher(1), batcher(2))
        ended = loop.time()
        # Both come after the distance, and before the rest is over.
        early = asyncio.create_task(batcher(3))
        await asyncio.sleep(0)
        assert await asyncio.gather(early, batcher(4)) == [3, 4]
        runner.cancel()
        assert batches == [[1, 2], [3, 4]]
        rest = REST_SHARE * (ended - began[0])
        assert began[1] >= ended + min(rest, LONGEST_REST) - 0.01

    asyncio.run(scenario())


def test_an_error_reaches_everybody_in_the_batch_and_nobody_else() -> None:
    async def scenario() -> None:
        work = Work()
        batcher = Batcher(work, weight=lambda _: 1, most=2, longest=100)
        answers = await gathered(batcher, work, [1, 13, 3, 4, 5])
        assert [isinstance(answer, ValueError) for answer in answers] == [
            False, True, True, False, False,
        ]  # fmt: skip

    asyncio.run(scenario())


def test_too_many_waiting_calls_are_refused() -> None:
    async def scenario() -> None:
        batcher = Batcher(Work(), weight=lambda _: 1, most=2, longest=3)
        calls = [asyncio.create_task(batcher(number)) for number in range(3)]
        await asyncio.sleep(0)
        with pytest.raises(OverloadError):
            await batcher(99)
        for call in calls:
            call.cancel()
        await asyncio.gather(*calls, return_exceptions=True)

    asyncio.run(scenario())
