"""The live view of `client run`: the status below, the log above it."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

from rich.console import Console
from rich.live import Live
from rich.text import Text

from zermelo.cli.client.view import draw
from zermelo.client.logs import TERMINAL_FORMAT

if TYPE_CHECKING:
    from zermelo.client.daemon import Daemon

log = logging.getLogger(__name__)

REFRESH_SECONDS = 1.0


class LiveView:
    """Shows a running client on a terminal until it stops."""

    def __init__(self, console: Console) -> None:
        self._console = console

    def handler(self) -> logging.Handler:
        """Where log lines go, so that they do not break the view."""
        handler = _Above(self._console)
        handler.setFormatter(logging.Formatter(TERMINAL_FORMAT))
        return handler

    async def show(self, daemon: Daemon) -> None:
        """Until cancelled; the work goes on below a terminal that is gone."""
        try:
            await self._follow(daemon)
        except Exception as error:  # as in `_Above`: a view must not stop what it shows
            log.warning("the view cannot be shown any more: %s", error)
            task = asyncio.current_task()
            # The error may have taken the place of the cancellation, which does not come twice.
            if task is not None and not task.cancelling():
                await asyncio.Event().wait()

    async def _follow(self, daemon: Daemon) -> None:
        with Live(console=self._console, transient=True, auto_refresh=False) as live:
            while True:
                live.update(draw(daemon.look()), refresh=True)
                await asyncio.sleep(REFRESH_SECONDS)


class _Above(logging.Handler):
    def __init__(self, console: Console) -> None:
        super().__init__()
        self._console = console

    def emit(self, record: logging.LogRecord) -> None:
        try:
            self._console.print(Text(self.format(record)))
        except Exception:  # as every handler: a log must not stop what it tells about
            self.handleError(record)
