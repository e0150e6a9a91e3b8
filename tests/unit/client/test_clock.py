"""Clock jumps are noticed, and do not matter to deadlines."""

from __future__ import annotations

import logging
import time

import pytest

from zermelo.client.clock import ClockWatch


@pytest.mark.parametrize(
    ("jump", "words"), [(3600.0, "jumped ahead by 3600 s"), (-86400.0, "set back by 86400 s")]
)
def test_a_jump_is_told_once(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, jump: float, words: str
) -> None:
    watch = ClockWatch()
    assert watch.jumped() == 0
    real = time.time
    with caplog.at_level(logging.WARNING):
        monkeypatch.setattr(time, "time", lambda: real() + jump)
        assert watch.jumped() == pytest.approx(jump, abs=1)
        assert watch.jumped() == 0
    (line,) = caplog.messages
    assert words in line
