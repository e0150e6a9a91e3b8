"""Watching a long search: progress on a terminal, Ctrl-C that loses nothing."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from types import TracebackType
from typing import TYPE_CHECKING, TypeVar

from rich.console import Console
from rich.live import Live
from rich.text import Text

from zermelo.cli.output import short_time

if TYPE_CHECKING:
    from zermelo.engine import Engine

T = TypeVar("T")

#: Searches shorter than this need no progress line.
PATIENCE_SECONDS = 2.0
_REFRESH_SECONDS = 0.2
_ABORT_SECONDS = 0.05


class Ticker:
    """A line on the terminal that tells how things stand, once they have taken a while.

    It goes to stderr and vanishes at the end; where stderr is no terminal there is none.
    """

    def __init__(self) -> None:
        self._console = Console(stderr=True)
        self._started = time.monotonic()
        self._live: Live | None = None
        #: What the line begins with, such as which of many positions this is.
        self.subject = ""

    def __enter__(self) -> Ticker:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._live is not None:
            self._live.stop()

    @property
    def seconds(self) -> float:
        return time.monotonic() - self._started

    def show(self, news: str) -> None:
        if not self._console.is_terminal or self.seconds < PATIENCE_SECONDS:
            return
        text = Text("  ".join(filter(None, [self.subject, news, short_time(self.seconds)])))
        # A terminal echoes ^C behind the line, and a wrapped line cannot be erased.
        text.truncate(self._console.width - len("^C") - 1, overflow="ellipsis")
        if self._live is None:
            self._live = Live(text, console=self._console, transient=True, auto_refresh=False)
            self._live.start()
        self._live.update(text, refresh=True)


def watch(
    engine: Engine, search: Callable[[], T], tell: Callable[[float], None]
) -> tuple[T, bool]:
    """Run `search` on `engine` in a thread: what it returned, and whether Ctrl-C cut it short.

    Meanwhile `tell` is called again and again with the seconds passed.
    """
    started = time.monotonic()
    with ThreadPoolExecutor(1, "search") as pool:
        future = pool.submit(search)
        try:
            while wait([future], _REFRESH_SECONDS).not_done:
                tell(time.monotonic() - started)
        except KeyboardInterrupt:
            _abort(engine, future)
            return future.result(), True
        return future.result(), False


def _abort(engine: Engine, future: Future[T]) -> None:
    # Repeated, because an abort before the search has begun has no effect.
    while not future.done():
        engine.abort()
        wait([future], _ABORT_SECONDS)
