"""The throttle, on a clock of the test's own: the share of the time that searches run."""

from __future__ import annotations

import asyncio
from typing import cast

import pytest

from tests.support.clocks import replace_in
from zermelo.client import throttle as module
from zermelo.client.crew import Crew
from zermelo.client.throttle import Throttle


class Duty:
    """A crew that is busy, and adds up for how long it was on duty."""

    def __init__(self) -> None:
        self.now = self.worked = 0.0
        self.busy = 1
        self._on = True

    def duty(self, on: bool) -> None:
        self._on = on

    async def sleep(self, seconds: float) -> None:
        """As long as asked for or longer, as timers are."""
        seconds += 0.013
        self.now += seconds
        self.worked += seconds * self._on
        if self.now > 60:
            raise asyncio.CancelledError


@pytest.mark.parametrize("share", [0.1, 0.25, 0.5, 0.9, 1.0])
def test_late_timers_do_not_add_up(monkeypatch: pytest.MonkeyPatch, share: float) -> None:
    crew = Duty()
    replace_in(monkeypatch, module, "time", monotonic=lambda: crew.now)
    throttle = Throttle(cast(Crew, crew))
    throttle.share = share
    replace_in(monkeypatch, module, "asyncio", sleep=crew.sleep)
    # A coroutine by hand: nothing in it waits for a real clock.
    with pytest.raises(asyncio.CancelledError):
        throttle.run().send(None)
    assert crew.worked / crew.now == pytest.approx(share, abs=0.05)
