"""Studies of game trees for pages: computed by a process of its own, one after the other."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
import sys
from typing import Any

from zermelo.server.coordinator.batcher import OverloadError

log = logging.getLogger(__name__)

MOST_WAITING = 4
MOST_KEPT = 100
LONGEST_SECONDS = 60.0


class Studies:
    """Finished studies by spec, and those that are being made."""

    def __init__(self) -> None:
        self._made: dict[str, dict[str, Any] | None] = {}
        self._making: dict[str, asyncio.Task[None]] = {}
        self._turn = asyncio.Lock()

    def find(self, spec: str) -> dict[str, Any] | None:
        """The study of a game as `study_process` prints it; None while it is being made.

        `OverloadError` when too many are being made already, `LookupError` for one that failed.
        """
        if spec in self._made:
            found = self._made[spec]
            if found is None:
                raise LookupError(spec)
            return found
        if spec not in self._making:
            if len(self._making) >= MOST_WAITING:
                raise OverloadError
            self._making[spec] = asyncio.get_running_loop().create_task(self._make(spec))
        return None

    async def close(self) -> None:
        for task in list(self._making.values()):
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task

    async def _make(self, spec: str) -> None:
        try:
            async with self._turn:
                self._made[spec] = await _compute(spec)
            while len(self._made) > MOST_KEPT:
                del self._made[next(iter(self._made))]
        finally:
            self._making.pop(spec, None)


async def _compute(spec: str) -> dict[str, Any] | None:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "zermelo.web.study_process", spec,
        stdout=asyncio.subprocess.PIPE, env=dict(os.environ),
    )  # fmt: skip
    try:
        printed, _ = await asyncio.wait_for(process.communicate(), LONGEST_SECONDS)
    except TimeoutError:
        log.warning("the study of %s took too long", spec)
        return None
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    found: dict[str, Any] | None = json.loads(printed) if process.returncode == 0 else None
    return found
