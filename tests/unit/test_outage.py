"""An outage is two lines, however many steps it stops, and in whatever order they tell of it."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Iterator

import pytest

from zermelo.retry import Backoff, Outage, Retry

log = logging.getLogger("outage")

AWAY = "the database is away: nobody there; trying until it is back"


@pytest.fixture(autouse=True)
def warnings(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    with caplog.at_level(logging.WARNING, logger="outage"):
        yield


class Clock:
    """Stands still until it is set."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def retry_of(outage: Outage, pause: float = 0.001) -> Retry[OSError]:
    return Retry("no", OSError, log=log, outage=outage, backoff=Backoff(pause, pause))


def test_two_lines_for_all_steps(caplog: pytest.LogCaptureFixture) -> None:
    clock = Clock()
    outage = Outage("the database", log, clock)
    attempts = 0

    async def step() -> None:
        nonlocal attempts
        attempts += 1
        if attempts < 9:
            raise OSError("nobody there")

    async def steps() -> None:
        await asyncio.gather(*(retry_of(outage).acall(step) for _ in range(3)))

    asyncio.run(steps())
    clock.now += 7.5
    outage.ended(clock.now)
    assert caplog.messages == [AWAY, "the database is back after 7.5 s"]
    assert outage.count == 1


def test_what_works_ends_no_outage_of_others(caplog: pytest.LogCaptureFixture) -> None:
    outage = Outage("the database", log)
    outage.began("gone", outage.clock())
    failures = iter([True, False])

    def step() -> None:
        if next(failures):
            raise OSError("nobody there")

    retry_of(outage).call(step)
    assert len(caplog.messages) == 1
    outage.ended(outage.clock())
    outage.ended(outage.clock())
    assert len(caplog.messages) == 2


def test_a_step_that_began_before_an_outage_does_not_end_it(
    caplog: pytest.LogCaptureFixture,
) -> None:
    clock = Clock()
    outage = Outage("the database", log, clock)
    before = clock.now
    clock.now += 1
    outage.began("nobody there", clock.now)
    outage.ended(before)
    assert caplog.messages == [AWAY]
    clock.now += 1
    outage.ended(clock.now)
    assert caplog.messages == [AWAY, "the database is back after 1.0 s"]


def test_a_step_that_began_before_the_end_of_an_outage_begins_no_other(
    caplog: pytest.LogCaptureFixture,
) -> None:
    clock = Clock()
    outage = Outage("the database", log, clock)
    outage.began("nobody there", clock.now)

    def step() -> None:
        clock.now += 1
        outage.ended(clock.now)
        raise OSError("the connection was lost long ago")

    retry = Retry("no", OSError, log=log, outage=outage, attempts=2)
    attempts = iter([step, lambda: None])
    retry.call(lambda: next(attempts)())
    assert len(caplog.messages) == 2
    clock.now += 1
    outage.began("nobody there", clock.now)
    assert caplog.messages[2:] == [AWAY]


def test_a_long_step_that_has_worked_tells_of_the_next_outage(
    caplog: pytest.LogCaptureFixture,
) -> None:
    clock = Clock()
    outage = Outage("the database", log, clock)
    outage.began("nobody there", clock.now)
    retry = retry_of(outage)

    def step() -> None:
        outage.ended(clock.now)
        clock.now += 1
        retry.reset()
        raise OSError("nobody there")

    attempts = iter([step, lambda: None])
    retry.call(lambda: next(attempts)())
    assert caplog.messages == [AWAY, "the database is back after 0.0 s", AWAY]


def test_a_pause_ends_with_the_outage() -> None:
    outage = Outage("the database", log)
    attempts = 0

    async def step() -> None:
        nonlocal attempts
        attempts += 1
        if attempts == 1:
            raise OSError("nobody there")

    async def both() -> None:
        trying = asyncio.create_task(retry_of(outage, pause=600.0).acall(step))
        while not outage.count:
            await asyncio.sleep(0)
        await asyncio.to_thread(outage.ended, outage.clock())
        async with asyncio.timeout(60):
            await trying

    asyncio.run(both())
    assert attempts == 2


def test_a_pause_is_no_longer_than_meant() -> None:
    outage = Outage("the database", log)
    began = time.monotonic()
    asyncio.run(outage.over(0.01))
    outage.began("nobody there", outage.clock())
    asyncio.run(outage.over(0.01))
    assert 0.02 <= time.monotonic() - began < 60
    outage.ended(outage.clock())
