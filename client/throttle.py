"""A share of the processor: all searches run for a part of every beat, and stand still
for the rest of it."""

from __future__ import annotations

import asyncio
import time

from zermelo.client.crew import Crew

BEAT_SECONDS = 0.1
#: How long nothing changes while there is nothing to throttle.
REST_SECONDS = 0.25


class Throttle:
    def __init__(self, crew: Crew) -> None:
        self._crew = crew
        self.share = 1.0

    async def run(self) -> None:
        try:
            while True:
                if self.share >= 1.0 or not self._crew.busy:
                    self._crew.duty(True)
                    await asyncio.sleep(REST_SECONDS)
                    continue
                began = time.monotonic()
                self._crew.duty(True)
                await asyncio.sleep(BEAT_SECONDS * self.share)
                ran = time.monotonic() - began
                self._crew.duty(False)
                # From how long they really ran, so that a late timer does not add up.
                await asyncio.sleep(min(1.0, ran * (1.0 / self.share - 1.0)))
        finally:
            self._crew.duty(True)
