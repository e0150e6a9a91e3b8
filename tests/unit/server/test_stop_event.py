"""Whoever waits for something to read hears at once that it shall stop."""

from __future__ import annotations

import socket
import threading
import time

import pytest

from zermelo.server.stop_event import LOOK_SECONDS, StopEvent, wait_to_read

#: No test waits so long.
FOREVER = 600.0


def test_what_can_be_read_ends_the_wait() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        theirs.send(b"news")
        assert wait_to_read(ours, StopEvent(), FOREVER)
        assert wait_to_read(ours, threading.Event(), FOREVER)


@pytest.mark.parametrize("early", [True, False])
def test_the_word_to_stop_ends_the_wait(early: bool) -> None:
    stop = StopEvent()
    ours, theirs = socket.socketpair()
    with ours, theirs:
        timer = threading.Timer(0.0 if early else 0.05, stop.set)
        timer.start()
        if early:
            timer.join()
        assert not wait_to_read(ours, stop, FOREVER)
        assert stop.is_set()
        timer.join()


def test_a_plain_event_is_looked_at_now_and_then() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        began = time.monotonic()
        assert not wait_to_read(ours, threading.Event(), FOREVER)
        assert time.monotonic() - began >= LOOK_SECONDS / 2


def test_time_runs_out() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        assert not wait_to_read(ours, StopEvent(), 0.01)
