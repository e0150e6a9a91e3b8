"""An orderly end in two stages.

The first signal or `stop` lets searches finish within the quit time, saves those that are
worth it, and gives the rest back. The second one ends it at once. Either way the server
hears of it, and whatever it does then, the end comes in time.
"""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import threading
from contextlib import suppress
from typing import TYPE_CHECKING

from zermelo.client.ledger import Ending, HeldLease
from zermelo.client.settings import ClientError
from zermelo.proto import coordinator_pb2 as pb

if TYPE_CHECKING:
    from zermelo.client.daemon import Daemon

log = logging.getLogger(__name__)

#: The part of the quit time that searches leave to saving, sending and telling the server.
SHARE_TO_LEAVE = 0.25
#: The part of the time for leaving in which workers save their searches; the rest is the server's.
SHARE_TO_SAVE = 0.5
#: After the time for an orderly end the process ends without any order.
GRACE_SECONDS = 3.0
EXIT_STUCK = 1


class Stopping:
    def __init__(self, daemon: Daemon) -> None:
        self._daemon = daemon
        self.first = asyncio.Event()
        self.second = asyncio.Event()
        #: From here on no search begins.
        self.begun = False

    def listen(self) -> None:
        """Take SIGINT, SIGTERM and the end of the terminal as requests to stop."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            # `nohup` ignores SIGHUP for us: the owner wants the client to outlive the terminal.
            if number != signal.SIGHUP or signal.getsignal(number) is not signal.SIG_IGN:
                loop.add_signal_handler(number, self.ask)

    async def asked(self) -> None:
        """Wait until somebody wants the client to stop."""
        await self.first.wait()

    def ask(self, *, at_once: bool = False) -> None:
        if self.first.is_set() or at_once:
            self.second.set()
        self.first.set()

    async def leave(self, crew: asyncio.Task[None], others: list[asyncio.Task[None]]) -> None:
        """Bring everything to an end. `others` are the daemon's tasks beside the crew."""
        self.begun = True
        daemon = self._daemon
        settings = daemon.settings
        longest = max(settings.quit_seconds, settings.leave_seconds)
        deadline = asyncio.get_running_loop().time() + longest
        last_resort = threading.Timer(longest + GRACE_SECONDS, _end_at_once)
        last_resort.daemon = True
        last_resort.start()
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)
        try:
            await self._finish(crew)
            left = deadline - asyncio.get_running_loop().time()
            left = min(settings.leave_seconds, left)
            async with asyncio.timeout(left):
                await self._stop_searches(crew, left * SHARE_TO_SAVE)
                # On disk first, whether the server answers or not.
                await daemon.outbox.store()
                await self._tell_the_server()
        except (TimeoutError, ClientError):
            if daemon.outbox.waiting:
                log.warning(
                    "results wait on disk (%d); they are sent at the next start",
                    daemon.outbox.waiting,
                )
            elif daemon.welcome:
                log.warning("the coordinator was not told; the leases end by themselves")
        finally:
            crew.cancel()
            await asyncio.gather(crew, return_exceptions=True)
            await daemon.connection.close()

    async def _finish(self, crew: asyncio.Task[None]) -> None:
        """Give the searches the quit time."""
        daemon = self._daemon
        for held in list(daemon.ledger.waiting):
            daemon.give_back(held, pb.ReturnedLease.STOPPING)
        settings = daemon.settings
        seconds = settings.quit_seconds - min(
            settings.leave_seconds, settings.quit_seconds * SHARE_TO_LEAVE
        )
        searching = daemon.crew.busy
        if not searching or not seconds or self.second.is_set() or crew.done():
            return
        if daemon.allowance.reason:
            return  # paused, and not to run for this either
        log.info(
            "stopping; searches (%d) have %.0f s to finish, Ctrl-C again stops at once",
            searching, seconds,
        )  # fmt: skip
        daemon.crew.duty(True)
        daemon.crew.limit(daemon.allowance.limits, daemon.crew.busy)
        waiting = [
            asyncio.create_task(self._idle(crew)),
            asyncio.create_task(self.second.wait()),
        ]
        await asyncio.wait(waiting, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        for task in waiting:
            task.cancel()

    async def _stop_searches(self, crew: asyncio.Task[None], patience: float) -> None:
        """Save or end them. On a busy computer a worker of the lowest priority may not hear of it
        within `patience` seconds: then its last checkpoint counts, and the server is told in time.
        """
        daemon = self._daemon
        if daemon.ledger.leases:
            log.info("stopping; what is not finished is saved or goes back to the coordinator")
        for held in daemon.ledger:
            if held.ending is None or held.ending is Ending.MOVED:
                daemon.crew.drop(held, self._ending(held))
        with suppress(TimeoutError):
            async with asyncio.timeout(patience):
                await self._idle(crew)

    def _ending(self, held: HeldLease) -> Ending:
        """Keep what more than a checkpoint's worth of work is in; others can have the rest."""
        worth_it = held.resume or held.seconds >= self._daemon.settings.checkpoint_seconds
        return Ending.KEPT if worth_it and not self.second.is_set() else Ending.STOPPING

    async def _idle(self, crew: asyncio.Task[None]) -> None:
        daemon = self._daemon
        while daemon.crew.busy and not crew.done():
            daemon.ledger.changed.clear()
            await daemon.ledger.changed.wait()

    async def _tell_the_server(self) -> None:
        daemon = self._daemon
        if not daemon.welcome:
            return
        kept = [held for held in daemon.ledger if held.ending is Ending.KEPT]
        if kept:
            # Their last progress, so that the leases stand as long as they can.
            await daemon.pulse.beat()
        await daemon.outbox.empty()
        if kept:
            await daemon.connection.hello(
                held=[held.lease for held in kept],
                speed=daemon.speed.current,
                memory_mb=daemon.settings.preferences.idle.memory_mb,
            )
            left = min(held.deadline for held in kept) - asyncio.get_running_loop().time()
            log.info("searches are saved (%d); started again within %.0f s they go on",
                     len(kept), max(0.0, left))  # fmt: skip
        else:
            await daemon.connection.return_work([], leaving=True)


def _end_at_once() -> None:
    """From a thread of its own, because whoever should have ended by now does not get to it."""
    log.error("the client cannot end in good order; it ends now, and loses nothing on disk")
    os._exit(EXIT_STUCK)
