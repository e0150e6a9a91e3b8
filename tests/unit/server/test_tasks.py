"""Ending tasks, also those that overlook it once."""

from __future__ import annotations

import asyncio
from contextlib import suppress

from zermelo.server.tasks import end


def test_a_task_that_overlooks_its_end_is_told_again() -> None:
    async def stubborn() -> None:
        with suppress(asyncio.CancelledError):
            await asyncio.Event().wait()
        await asyncio.Event().wait()

    async def failing() -> None:
        raise ValueError("its own trouble")

    async def cancelled() -> list[bool]:
        tasks = [asyncio.create_task(work()) for work in (stubborn, failing)]
        await asyncio.sleep(0)
        await end(tasks)
        return [task.cancelled() for task in tasks]

    assert asyncio.run(cancelled()) == [True, False]
