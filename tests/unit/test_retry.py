"""One back-off for everything: how long it waits, what it repeats, when it gives up."""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Awaitable, Callable

import pytest

from zermelo.retry import JITTER, Backoff, Retry, Stopped, first_line, jittered

log = logging.getLogger(__name__)

#: Pauses too short to wait for.
QUICK = (1e-4, 1e-3)


class PassingError(Exception):
    pass


class Flaky:
    """Fails as often as told, then gives its own number of calls."""

    def __init__(self, failures: int) -> None:
        self.calls, self._failures = 0, failures

    def __call__(self) -> int:
        self.calls += 1
        if self.calls <= self._failures:
            raise PassingError(f"failure {self.calls}\nwith a second line")
        return self.calls

    async def coroutine(self) -> int:
        return self()


def quick(attempts: int | None = None) -> Retry[PassingError]:
    return Retry("no luck", PassingError, log=log, backoff=Backoff(*QUICK), attempts=attempts)


def in_thread(retry: Retry[PassingError], step: Flaky) -> int:
    return retry.call(step)


def in_coroutine(retry: Retry[PassingError], step: Flaky) -> int:
    return asyncio.run(retry.acall(step.coroutine))


COLOURS = pytest.mark.parametrize("run", [in_thread, in_coroutine])
Run = Callable[[Retry[PassingError], Flaky], int]


def test_pauses_double_up_to_the_longest_with_jitter() -> None:
    backoff = Backoff(1.0, 20.0)
    assert backoff.pause() == 0.0
    for planned in (1.0, 2.0, 4.0, 8.0, 16.0, 20.0, 20.0):
        assert planned <= backoff.next() <= planned * (1 + JITTER)
    backoff.reset()
    assert 1.0 <= backoff.next() <= 1.0 + JITTER


def test_a_back_off_survives_a_very_long_outage() -> None:
    backoff = Backoff(0.2, 15.0)
    backoff.failures = 10**6
    assert 15.0 <= backoff.next() <= 15.0 * (1 + JITTER)


def test_the_other_side_directs_the_pause_but_not_the_jitter() -> None:
    backoff = Backoff(1.0, 20.0)
    pauses = {backoff.next(directed=3.0) for _ in range(20)}
    assert len(pauses) > 1
    assert all(3.0 <= pause <= 3.0 * (1 + JITTER) for pause in pauses)
    assert backoff.failures == 20


def test_callers_do_not_march_in_step() -> None:
    assert len({jittered(1.0) for _ in range(50)}) > 40


@COLOURS
def test_a_step_is_repeated_until_it_succeeds(
    run: Run, caplog: pytest.LogCaptureFixture
) -> None:
    retry = quick()
    assert run(retry, Flaky(3)) == 4
    assert retry.failures == 0
    lines = [record.getMessage() for record in caplog.records]
    assert [line.partition(";")[0] for line in lines] == [
        "no luck: failure 1", "no luck: failure 2", "no luck: failure 3",
    ]  # fmt: skip
    assert all(line.endswith("; trying again in 0.0 s") for line in lines)


@COLOURS
def test_the_last_attempt_raises_its_error(run: Run) -> None:
    step = Flaky(10)
    with pytest.raises(PassingError, match="failure 3"):
        run(quick(attempts=3), step)
    assert step.calls == 3


@COLOURS
def test_other_errors_are_not_repeated(run: Run) -> None:
    retry: Retry[KeyError] = Retry("no luck", KeyError, log=log, backoff=Backoff(*QUICK))
    step = Flaky(1)
    with pytest.raises(PassingError):
        run(retry, step)  # type: ignore[arg-type]
    assert step.calls == 1


def test_a_stop_ends_a_pause() -> None:
    stop = threading.Event()
    retry = Retry("no luck", PassingError, log=log, backoff=Backoff(60.0))
    threading.Timer(0.05, stop.set).start()
    began = time.monotonic()
    with pytest.raises(Stopped):
        retry.call(Flaky(5), stop)
    assert time.monotonic() - began < 30


def test_short_pauses_after_the_first_are_quiet(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    retry = Retry("no luck", PassingError, log=log, backoff=Backoff(*QUICK), quiet_below=1.0)
    retry.call(Flaky(3))
    assert [record.levelno for record in caplog.records] == [
        logging.WARNING, logging.DEBUG, logging.DEBUG,
    ]  # fmt: skip


def test_what_somebody_else_tells_of_is_no_warning(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    retry = Retry(
        "no luck", PassingError, log=log, backoff=Backoff(*QUICK), describe=lambda error: ""
    )
    retry.call(Flaky(1))
    assert [record.levelno for record in caplog.records] == [logging.DEBUG]


def test_an_error_may_describe_itself_and_direct_the_pause(
    caplog: pytest.LogCaptureFixture,
) -> None:
    asked: list[PassingError] = []

    def directed(error: PassingError) -> float:
        asked.append(error)
        return 0.001

    retry = Retry(
        "no luck", PassingError, log=log, backoff=Backoff(60.0),
        describe=lambda error: "in other words", directed=directed,
    )  # fmt: skip
    began = time.monotonic()
    assert retry.call(Flaky(2)) == 3
    assert time.monotonic() - began < 30
    assert len(asked) == 2
    assert "in other words" in caplog.text


def test_forever_goes_on_after_success_and_failure() -> None:
    retry, step = quick(), Flaky(2)

    async def until_enough(coroutine: Callable[[], Awaitable[int]]) -> None:
        async def count() -> None:
            if await coroutine() == 5:
                raise KeyError("enough")

        await retry.forever(count)

    with pytest.raises(KeyError, match="enough"):
        asyncio.run(until_enough(step.coroutine))
    assert step.calls == 5


def test_the_first_line_of_an_error() -> None:
    assert first_line(ValueError("one\ntwo")) == "one"
    assert first_line(ValueError()) == "ValueError"
