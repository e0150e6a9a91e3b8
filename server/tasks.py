"""Ending tasks of an event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Any

#: How long a task that is to end may take until it is told again.
CANCEL_SECONDS = 0.2


async def end(tasks: Iterable[asyncio.Task[Any]]) -> None:
    """Cancel tasks and wait until they have ended, however they do."""
    every = list(tasks)
    left = {task for task in every if not task.done()}
    # Before Python 3.12 `asyncio.wait_for`, with which psycopg waits, may swallow a
    # cancellation that comes together with its result.
    while left:
        for task in left:
            task.cancel()
        _, left = await asyncio.wait(left, timeout=CANCEL_SECONDS)
    await asyncio.gather(*every, return_exceptions=True)
