"""An outage is two lines, however many steps it stops."""

from __future__ import annotations

import asyncio
import logging

import pytest

from zermelo.retry import Backoff, Outage, Retry

log = logging.getLogger("outage")


def test_two_lines_for_all_steps(caplog: pytest.LogCaptureFixture) -> None:
    times = iter([100.0, 107.5])
    outage = Outage("the database", log, clock=lambda: next(times))
    attempts = 0

    async def step() -> None:
        nonlocal attempts
        attempts += 1
        if attempts < 9:
            raise OSError("nobody there")

    def retry() -> Retry[OSError]:
        return Retry("no", OSError, log=log, outage=outage, backoff=Backoff(0.001, 0.001))

    async def steps() -> None:
        await asyncio.gather(*(retry().acall(step) for _ in range(3)))

    with caplog.at_level(logging.WARNING, logger="outage"):
        asyncio.run(steps())
        outage.ended()
    assert caplog.messages == [
        "the database is away: nobody there; trying until it is back",
        "the database is back after 7.5 s",
    ]


def test_what_works_ends_no_outage_of_others(caplog: pytest.LogCaptureFixture) -> None:
    outage = Outage("the database", log)
    outage.began("gone")
    failures = iter([True, False])

    def step() -> None:
        if next(failures):
            raise OSError("nobody there")

    with caplog.at_level(logging.WARNING, logger="outage"):
        again = Backoff(0.001, 0.001)
        Retry("fine", OSError, log=log, outage=outage, backoff=again).call(step)
        assert len(caplog.messages) == 1
        outage.ended()
        outage.ended()
    assert len(caplog.messages) == 2
