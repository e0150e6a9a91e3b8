"""Heartbeats: the server hears how far we are, and we hear what has changed."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from contextlib import suppress

from zermelo.client.connection import Connection
from zermelo.client.ledger import HeldLease, Ledger
from zermelo.games import Bounds
from zermelo.proto import coordinator_pb2 as pb

log = logging.getLogger(__name__)

#: Whatever the server says: it is not called more often, and hears of us in time.
SHORTEST_SECONDS, LONGEST_SECONDS = 0.2, 300.0
DEFAULT_SECONDS = 5.0
MOST_A_CALL = 1024

CAUSES = {
    pb.LeaseUpdate.WITHDRAWN: "nobody needs its answer any more",
    pb.LeaseUpdate.EXPIRED: "its lease ran out and others have it now",
    pb.LeaseUpdate.CAMPAIGN_FINISHED: "its campaign is finished",
    pb.LeaseUpdate.CAMPAIGN_PAUSED: "its campaign is paused",
    pb.LeaseUpdate.UNKNOWN: "the server does not know its lease",
}


class Pulse:
    """`on_drop` is called with leases that have ended, `on_settled` with answered ones."""

    def __init__(
        self,
        connection: Connection,
        ledger: Ledger,
        *,
        on_drop: Callable[[HeldLease], None],
        on_settled: Callable[[HeldLease], None],
        note_after_seconds: float,
    ) -> None:
        self._connection = connection
        self._ledger = ledger
        self._on_drop = on_drop
        self._on_settled = on_settled
        self._note_after_seconds = note_after_seconds
        self._now = asyncio.Event()
        self.seconds = DEFAULT_SECONDS

    def every(self, milliseconds: int) -> None:
        """The server says how often."""
        if milliseconds:
            self.seconds = min(LONGEST_SECONDS, max(SHORTEST_SECONDS, milliseconds / 1000))

    def soon(self) -> None:
        """Do not wait for the next turn."""
        self._now.set()

    async def run(self) -> None:
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(self.seconds):
                    await self._now.wait()
            self._now.clear()
            if len(self._ledger):
                await self.beat()

    async def beat(self) -> None:
        leases = [
            pb.LeaseProgress(
                lease_id=held.lease, nodes=held.effort, done_permille=held.permille
            )
            for held in self._ledger
        ]  # fmt: skip
        for at in range(0, len(leases), MOST_A_CALL):
            reply = await self._connection.heartbeat(leases[at : at + MOST_A_CALL])
            self.every(reply.next_heartbeat_ms)
            for update in reply.leases:
                held = self._ledger.get(update.lease_id)
                if held is not None:
                    self._apply(held, update)
        self._ledger.note_reported(self._note_after_seconds)

    def _apply(self, held: HeldLease, update: pb.LeaseUpdate) -> None:
        if update.directive == pb.LeaseUpdate.DROP:
            reason = CAUSES.get(update.cause, "the server says so")
            log.info("dropping lease %d: %s", held.lease, reason)
            self._on_drop(held)
            return
        held.deadline = time.monotonic() + update.lease_ms / 1000
        if held.ending or update.lo > update.hi:
            return
        if Bounds(update.lo, update.hi).answers(held.workunit.threshold) is not None:
            # Others answered it. Bounds on either side of the threshold would not help:
            # a search for a yes or a no never gets to see them.
            log.info("dropping lease %d: others answered its question", held.lease)
            self._on_settled(held)
