"""Work comes in: asked for early enough that no worker waits, and never in a hurry."""

from __future__ import annotations

import asyncio
import logging
import math
import time
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress

from zermelo.client.connection import FIRST_PAUSE, LONGEST_PAUSE, WORTH_A_LINE, Connection
from zermelo.client.crew import Crew
from zermelo.client.ledger import HeldLease, Ledger
from zermelo.client.refusals import ReplyLostError
from zermelo.client.speed import Speed
from zermelo.proto import coordinator_pb2 as pb
from zermelo.retry import Backoff, Retry, directed_pause, first_line

log = logging.getLogger(__name__)

#: Work kept in store for each worker, in seconds, unless server or owner want more: bridges a
#: request and the noise of a busy machine.
STORE_SECONDS = 0.03
#: Workunits in store by the server's wish, and by the owner's.
MOST_IN_STORE, MOST_FOR_OWNER = 64, 512
#: Where a search takes so long its worker may as well wait for the next workunit, unless its owner
#: wants more in store: what waits makes no progress, and grows old.
LONG_SECONDS = 10.0
#: Without progress a lease ends: the last workunit in store must begin in this part of the time.
SHARE_OF_LEASE = 0.5
MOST_WANTED = 256
#: No more work is asked for while the workunits of all leases take this much memory.
MOST_HELD_BYTES = 8 * 1024 * 1024
#: Seconds to wait before asking for more work when a search failed on this computer.
FIRST_REST, LONGEST_REST = 2.0, 60.0
#: The same reason for no work is told again, after some work, when it was last told so long ago.
REPEAT_SECONDS = 60.0


class Intake:
    def __init__(
        self,
        connection: Connection,
        ledger: Ledger,
        crew: Crew,
        speed: Speed,
        *,
        max_workunits: int | None,
        store_seconds: float = 0.0,
        feed: Callable[[], None],
        hello: Callable[[], Awaitable[None]],
        fetch: Callable[[Iterable[str]], Awaitable[None]],
        receipts: asyncio.Event,
    ) -> None:
        """`receipts` is set whenever the server has taken results. Without `store_seconds` the
        server says how much work to keep for each worker.
        """
        self._connection = connection
        self._ledger = ledger
        self._crew = crew
        self._speed = speed
        self._max_workunits = max_workunits
        self._owners_store = store_seconds
        self._feed = feed
        self._hello = hello
        self._fetch = fetch
        self._receipts = receipts
        #: Workunits of this run that were not given back.
        self.taken = 0
        #: Counts the searches in a row that failed on this computer.
        self.backoff = Backoff(FIRST_REST, LONGEST_REST)
        #: Why there is no work, in the server's words; empty while there is some.
        self.no_work = ""
        #: The reason that is in the log already, and since when.
        self._logged, self._logged_at = "", 0.0
        self.retry_at = 0.0
        self._introduces = False
        self._servers_store = STORE_SECONDS
        #: How long leases last here without progress, as far as is known.
        self._lease_seconds = math.inf

    def keep_in_store(self, milliseconds: int) -> None:
        """The server says how much work to keep for each worker; 0 leaves it to us."""
        self._servers_store = min(LONG_SECONDS, max(STORE_SECONDS, milliseconds / 1000))

    def introduce(self) -> None:
        """Say hello before the next call for work. It ends all leases that it does not name: not
        while those of another call may be on their way here.
        """
        self._introduces = True
        self._ledger.changed.set()

    async def run(self) -> None:
        while True:
            if self._introduces:
                self._introduces = False
                await self._hello()
            wanted = self._wanted()
            if wanted <= 0:
                self._ledger.changed.clear()
                await self._ledger.changed.wait()
                continue
            if self.backoff.failures:
                await self._pause(self.backoff.pause())
            # With nothing to do and no reason why, the reason comes first, then the waiting.
            patient = bool(self.no_work or len(self._ledger))
            self._receipts.clear()
            none = await self._ask(wanted, patient=patient)
            if none is not None and patient:
                pause = directed_pause(none.retry_after_ms / 1000)
                # A result that the server has taken makes room for another lease.
                full = none.reason == pb.NoWork.TOO_MANY_LEASES
                await self._pause(pause, self._receipts if full else None)

    async def _ask(self, wanted: int, *, patient: bool) -> pb.NoWork | None:
        """Ask for work and take what comes; why there is none, if so.

        The reply, which may be large, is not kept while the client waits for the next one.
        """
        reply = await self._request(wanted, patient=patient)
        await self._fetch({workunit.game for workunit in reply.workunits})
        for workunit in reply.workunits:
            self._take(workunit)
        if reply.workunits:
            return None
        self.no_work = reply.no_work.message or "the coordinator does not say why"
        if patient:
            self._log(reply.no_work.reason)
        return reply.no_work

    async def _request(self, wanted: int, *, patient: bool) -> pb.RequestWorkReply:
        """Ask until there is an answer.

        Leases in a reply that was lost would keep their work from everybody until they run
        out; so the coordinator is told which leases we know of, and ends the others. Then less
        is asked for, because the reply may have been too large.
        """
        retry = Retry(
            "a reply was lost", ReplyLostError, log=log,
            backoff=Backoff(FIRST_PAUSE, LONGEST_PAUSE), quiet_below=WORTH_A_LINE,
            describe=lambda error: "" if error.unreachable else first_line(error),
        )  # fmt: skip

        async def attempt() -> pb.RequestWorkReply:
            if retry.failures:
                await self._hello()
            asked = max(1, wanted >> retry.failures)
            reply = await self._connection.request_work(
                asked, self._speed.current, patient=patient
            )
            self._check(reply, asked)
            return reply

        return await retry.acall(attempt)

    def _check(self, reply: pb.RequestWorkReply, asked: int) -> None:
        """`ReplyLostError` for a reply that gives what nobody asked for."""
        leases = {workunit.lease_id for workunit in reply.workunits}
        if len(reply.workunits) > asked:
            trouble = f"{len(reply.workunits)} workunits came where {asked} were asked for"
        elif len(leases) < len(reply.workunits) or any(map(self._ledger.get, leases)):
            trouble = "a lease was given twice"
        elif min(leases, default=1) < 1:
            trouble = f"there is no lease {min(leases)}"
        else:
            return
        raise ReplyLostError(f"the coordinator's reply makes no sense: {trouble}")

    def _wanted(self) -> int:
        """How many workunits to ask for now."""
        if self._crew.preparing or not self._crew.allowed or self._ledger.bytes > MOST_HELD_BYTES:
            return 0
        wanted = self._crew.allowed + self._wanted_in_store() - len(self._ledger)
        if self._max_workunits is not None:
            wanted = min(wanted, self._max_workunits - self.taken)
        return min(wanted, MOST_WANTED)

    def _wanted_in_store(self) -> int:
        seconds = self._speed.workunit_seconds
        if seconds is None:  # none was finished: at least as long as they take by now
            seconds = max([1.0, *(held.seconds for held in self._ledger)])
        store = min(
            self._owners_store or self._servers_store, SHARE_OF_LEASE * self._lease_seconds
        )
        if seconds >= max(LONG_SECONDS, store):
            return 0
        enough = math.ceil(self._crew.allowed * store / max(seconds, 1e-4))
        return min(max(1, enough), MOST_FOR_OWNER if self._owners_store else MOST_IN_STORE)

    def _take(self, workunit: pb.Workunit) -> None:
        self.no_work = ""
        if time.monotonic() - self._logged_at > REPEAT_SECONDS:
            self._logged = ""
        self.taken += 1
        # A copy: a part of a message keeps all of it in memory.
        own = pb.Workunit()
        own.CopyFrom(workunit)
        held = HeldLease(own, time.monotonic())
        held.deadline += held.lasts
        self._lease_seconds = held.lasts
        self._ledger.take(held)
        self._feed()

    def _log(self, reason: pb.NoWork.Reason) -> None:
        if self.no_work != self._logged:
            self._logged, self._logged_at = self.no_work, time.monotonic()
            what = "no more work" if len(self._ledger) else "no work"
            log.info("%s: %s", what, self.no_work, extra={"reason": _word(reason)})

    async def _pause(self, seconds: float, until: asyncio.Event | None = None) -> None:
        """Wait for so long, or until this happens."""
        self.retry_at = time.monotonic() + seconds
        if until is None:
            await asyncio.sleep(seconds)
            return
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await until.wait()


def _word(reason: pb.NoWork.Reason) -> str:
    try:
        return str(pb.NoWork.Reason.Name(reason))
    except ValueError:
        return "UNKNOWN"
