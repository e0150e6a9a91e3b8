"""A share of the processor: all searches run for a part of every beat, and stand still
for the rest of it."""

from __future__ import annotations

import asyncio
import time

from zermelo.client.crew import Crew

BEAT_SECONDS = 0.1
#: How long nothing changes while there is nothing to throttle.
REST_SECONDS = 0.25
LONGEST_REST = 1.0


class Throttle:
    def __init__(self, crew: Crew) -> None:
        self._crew = crew
        self.share = 1.0

    async def run(self) -> None:
        #: Rest that is still due; below zero when the last rest was too long.
        due = 0.0
        try:
            while True:
                share = self.share
                if share >= 1.0 or not self._crew.busy:
                    due = 0.0
                    self._crew.duty(True)
                    await asyncio.sleep(REST_SECONDS)
                    continue
                # From how long they really ran and rested, so that late timers do not add up.
                rest_per_run = 1.0 / share - 1.0
                began = time.monotonic()
                self._crew.duty(True)
                await asyncio.sleep(BEAT_SECONDS * share + max(0.0, -due) / rest_per_run)
                stopped = time.monotonic()
                self._crew.duty(False)
                due += (stopped - began) * rest_per_run
                await asyncio.sleep(min(LONGEST_REST, max(0.0, due)))
                due = max(-BEAT_SECONDS, due - (time.monotonic() - stopped))
        finally:
            self._crew.duty(True)
