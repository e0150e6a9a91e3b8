"""Trying again: one jittered exponential back-off for everything that may fail for a while.

`Retry` repeats a step until it succeeds, in threads (`call`) and in coroutines (`acall`,
`forever`). What cannot be written as one step takes its pauses from `Backoff`.
"""

from __future__ import annotations

import asyncio
import logging
import math
import random
import threading
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Generic, TypeVar

T = TypeVar("T")
E = TypeVar("E", bound=Exception)

FIRST_PAUSE = 0.2
LONGEST_PAUSE = 15.0
#: Whatever pause the other side asks for, it is neither shorter nor longer than this: nobody is
#: made to call without a rest, or to stay away for ever.
SHORTEST_DIRECTED, LONGEST_DIRECTED = 0.5, 600.0
#: A pause is longer than planned by at most this share of it.
JITTER = 0.5
MOST_DOUBLINGS = 60


class Stopped(Exception):  # noqa: N818 - not an error
    """The caller was asked to stop while it waited."""


def jittered(seconds: float) -> float:
    """A pause a little longer than this, at random, so that callers do not march in step."""
    return seconds * random.uniform(1.0, 1.0 + JITTER)  # noqa: S311


def directed_pause(seconds: float) -> float:
    """A pause that the other side asks for, within reason and with jitter."""
    return jittered(max(SHORTEST_DIRECTED, min(LONGEST_DIRECTED, seconds)))


def first_line(error: BaseException) -> str:
    """What an error says, in one line."""
    return (str(error).strip() or type(error).__name__).splitlines()[0]


class Backoff:
    """Pauses that double with every failure in a row, up to `longest` seconds, with jitter.

    The sum of all pauses so far is about the next pause. So whoever waits for something that
    was away for a minute finds it at most about a minute after its return.
    """

    def __init__(self, first: float = FIRST_PAUSE, longest: float = LONGEST_PAUSE) -> None:
        self._first, self._longest = first, longest
        #: Failures in a row.
        self.failures = 0

    def reset(self) -> None:
        """It worked: the next failure is the first of its row."""
        self.failures = 0

    def next(self, directed: float | None = None) -> float:
        """The pause after one more failure, in seconds; `directed` if the other side says so."""
        self.failures += 1
        return self.pause() if directed is None else directed_pause(directed)

    def pause(self) -> float:
        """The pause after that many `failures`, in seconds; 0 after none."""
        if not self.failures:
            return 0.0
        # Capped, because a float overflows after some thousand doublings.
        doublings = min(self.failures - 1, MOST_DOUBLINGS)
        return jittered(min(self._longest, self._first * 2.0**doublings))


class Outage:
    """What several steps need and miss at the same time: a line when it goes, one when it is back.

    A step that succeeds need not have used it, so only who knows that it is there says so. Whoever
    reports says when the step began, because a step may end long after what it tells of: one that
    began before the end of an outage does not begin another, and one that began before an outage
    does not end it. Threads may share it.
    """

    def __init__(
        self, name: str, log: logging.Logger, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._name, self._log = name, log
        #: What the beginnings of steps are read from.
        self.clock = clock
        #: How many have begun so far.
        self.count = 0
        self._since: float | None = None
        self._ended_at = -math.inf
        self._awaiting: list[Callable[[], object]] = []
        self._lock = threading.Lock()

    @property
    def away(self) -> bool:
        """Whether somebody missed it and nobody has had an answer since."""
        return self._since is not None

    def began(self, error: str, since: float) -> None:
        """A step that began at `since` failed for want of it."""
        with self._lock:
            if self._since is not None or since <= self._ended_at:
                return
            self._since = self.clock()
            self.count += 1
        self._log.warning("%s is away: %s; trying until it is back", self._name, error)

    def ended(self, since: float) -> None:
        """It answered a step that began at `since`."""
        with self._lock:
            if self._since is None or since < self._since:
                return
            self._ended_at = self.clock()
            seconds, self._since = self._ended_at - self._since, None
            awaiting, self._awaiting = self._awaiting, []
        self._log.warning("%s is back after %.1f s", self._name, seconds)
        for tell in awaiting:
            with suppress(RuntimeError):  # the loop of that coroutine has ended
                tell()

    async def over(self, seconds: float) -> None:
        """Return when it is back, at the latest after `seconds`; then, too, if it is not away."""
        loop, back = asyncio.get_running_loop(), asyncio.Event()

        def tell() -> None:
            loop.call_soon_threadsafe(back.set)

        with self._lock:
            if self._since is not None:
                self._awaiting.append(tell)
        try:
            with suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await back.wait()
        finally:
            with self._lock, suppress(ValueError):
                self._awaiting.remove(tell)


class Retry(Generic[E]):
    """Repeats a step that fails with one of the `passing` errors.

    Each failure is logged as "`trouble`: the error; trying again in N s". Repeated failures are
    logged for debugging only while pauses are shorter than `quiet_below` seconds. Where failures
    are an `outage`, its beginning is what is logged. The last of `attempts` failures in a row, if
    given, is raised. A coroutine's pause ends early when the outage does.
    """

    def __init__(
        self,
        trouble: str,
        *passing: type[E],
        log: logging.Logger,
        backoff: Backoff | None = None,
        attempts: int | None = None,
        quiet_below: float = 0.0,
        outage: Outage | None = None,
        describe: Callable[[E], str] = first_line,
        directed: Callable[[E], float | None] = lambda error: None,
    ) -> None:
        """`describe` puts an error into words, none where somebody else tells of it; `directed`
        finds the pause that it asks for."""
        self._trouble, self._passing, self._log = trouble, passing, log
        self._backoff = Backoff() if backoff is None else backoff
        self._attempts, self._quiet_below, self._outage = attempts, quiet_below, outage
        self._describe, self._directed = describe, directed
        #: When the step began, or was last known to work.
        self._since = 0.0

    @property
    def failures(self) -> int:
        """Failures in a row."""
        return self._backoff.failures

    def reset(self) -> None:
        """For a long step: it works by now, so a failure is the first of its row."""
        self._backoff.reset()
        self._begins()

    def call(self, step: Callable[[], T], stop: threading.Event | None = None) -> T:
        """What the step returns once it succeeds; `Stopped` if `stop` is set in a pause."""
        while True:
            self._begins()
            try:
                result = step()
            except self._passing as error:
                self._sleep(self._pause_after(error), stop)
            else:
                self.reset()
                return result

    async def acall(self, step: Callable[[], Awaitable[T]]) -> T:
        """What the step returns once it succeeds."""
        while True:
            self._begins()
            try:
                result = await step()
            except self._passing as error:
                pause = self._pause_after(error)
                await (asyncio.sleep(pause) if self._outage is None else self._outage.over(pause))
            else:
                self.reset()
                return result

    async def forever(self, step: Callable[[], Awaitable[object]]) -> None:
        """Take the step again and again, after success at once, until this is cancelled."""
        while True:
            await self.acall(step)

    def _begins(self) -> None:
        if self._outage is not None:
            self._since = self._outage.clock()

    def _pause_after(self, error: E) -> float:
        if self._attempts is not None and self.failures + 1 >= self._attempts:
            self.reset()
            raise error
        first = not self.failures
        pause = self._backoff.next(self._directed(error))
        said = self._describe(error)
        if self._outage is not None:
            self._outage.began(said, self._since)
        loud = said and self._outage is None and (first or pause >= self._quiet_below)
        level = logging.WARNING if loud else logging.DEBUG
        self._log.log(level, "%s: %s; trying again in %.1f s", self._trouble, said, pause)
        return pause

    @staticmethod
    def _sleep(seconds: float, stop: threading.Event | None) -> None:
        if stop is None:
            time.sleep(seconds)
        elif stop.wait(seconds):
            raise Stopped
