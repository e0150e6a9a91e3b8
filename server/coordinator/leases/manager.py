"""The door to leases: calls for work, results, heartbeats and leases given back."""

from __future__ import annotations

import asyncio
import logging
import math
import time
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from itertools import islice
from typing import Any, TypeVar

import psycopg

from zermelo.retry import Retry
from zermelo.server.coordinator.batcher import Batcher
from zermelo.server.coordinator.leases.assigner import Assigner
from zermelo.server.coordinator.leases.prefetch import Prefetch
from zermelo.server.coordinator.leases.queue import CallQueue
from zermelo.server.coordinator.leases.quota import Clock, Quota
from zermelo.server.coordinator.leases.rows import (
    Directive,
    HostId,
    Leased,
    LeaseId,
    Progress,
    Question,
    Request,
    Returned,
)
from zermelo.server.coordinator.leases.second_opinions import SecondOpinions
from zermelo.server.coordinator.leases.store import LeaseStore
from zermelo.server.coordinator.leases.told import ToldShortages
from zermelo.server.coordinator.statements import Statements
from zermelo.server.database import DATABASE
from zermelo.server.trust.accounts import UserId
from zermelo.server.trust.shortage import Shortage

log = logging.getLogger(__name__)

Row = TypeVar("Row")
Reply = TypeVar("Reply")

MOST_ROWS_A_BATCH = 2048
#: How long results and heartbeats are gathered: nobody waits for their replies to go on.
GATHER_SECONDS = 0.05
#: ... and calls of clients that have just arrived, where many do.
LIST_SECONDS = 0.2
#: After this many seconds without housekeeping, leases were out of reach of their hosts: the
#: database was away, or there was no coordinator.
OUTAGE_SECONDS = 10.0
#: How long hosts may take to call again after an outage: clients pause for up to a minute.
RETURN_SECONDS = 90.0
#: How long another coordinator may take to write down a lease that its host brings here already.
ELSEWHERE_SECONDS = 0.25


class LeaseManager:
    """Hands out work and takes it back. Its `tasks` must run as long as it is used."""

    def __init__(
        self, statements: Statements, *, lease_seconds: float, limits_users: bool = True,
        clock: Clock = time.monotonic,
    ) -> None:  # fmt: skip
        """Without `limits_users` only hosts have a quota: where all callers share an account."""
        self._store = LeaseStore(statements, lease_seconds=lease_seconds)
        self._quota = Quota(self._store, limits_users=limits_users)
        self._second_opinions = SecondOpinions(self._store)
        self._prefetch = Prefetch(self._store)
        self._queue = CallQueue(self._store, Assigner(
            self._store, self._quota, self._second_opinions, self._prefetch
        ))  # fmt: skip
        self._grace_seconds = min(lease_seconds, RETURN_SECONDS)
        self._clock = clock
        #: When housekeeping ended last, and from when on leases may expire.
        self._kept_at = self._expires_from = -math.inf
        #: Kept by who words the answers and knows when hosts hand something in.
        self.told = ToldShortages()
        self._prefetched = asyncio.Event()
        self._submitting = _batched(self._store.submit)
        self._beating = _batched(self._store.heartbeat)
        self._asking = _batched(self._store.questions, apart=0.0)
        self._starting = Batcher(self._store.give_back_others)
        self._listing = _shared(self._store.running_games, apart=LIST_SECONDS)
        self._telling = _shared(self._store.told_to_volunteers, apart=LIST_SECONDS)
        self._looking = _shared(self._store.campaigns_open)

    # -- the door ---------------------------------------------------------------------------

    async def running_games(self) -> list[str]:
        """What a client that has just arrived should get ready for."""
        return await self._listing(None)

    async def told_to_volunteers(self) -> tuple[str, float]:
        """The operators' notice, and how long a workunit should take, in seconds."""
        return await self._telling(None)

    async def request(self, request: Request, wait_seconds: float) -> list[Leased]:
        """Leases for one call; none when there was no work for `wait_seconds`.

        `psycopg.OperationalError` when the database was away for that long.
        """
        self._prefetch.asked_for(request.wanted)
        return await self._queue.request(request, wait_seconds)

    async def shortage(self, host: HostId, user: UserId) -> Shortage:
        """Why there is no work for a host."""
        running, paused, others_asked = await self._looking(None)
        if self._queue.stopping:
            return Shortage.STOPPING
        if not running:
            return Shortage.PAUSED if paused else Shortage.NO_CAMPAIGN
        if used_up := await self._quota.used_up(host, user):
            if used_up == "user":
                return Shortage.USER_QUOTA
            rests = await self._store.host_rests(host)
            return Shortage.HOST_RESTS if rests else Shortage.HOST_QUOTA
        return Shortage.OTHERS_ASKED if others_asked else Shortage.ALL_LEASED

    async def questions(self, host: HostId, leases: list[LeaseId]) -> dict[LeaseId, Question]:
        """What these leases of a host are about; nothing of those it does not have."""
        found = await self._asking([(host, lease) for lease in leases])
        return {lease: item for lease, item in zip(leases, found, strict=True) if item}

    async def submit(self, results: list[Returned]) -> list[str]:
        """The receipt of each: accepted, duplicate, late, unknown or contradictory."""
        receipts = await self._submitting(results)
        elsewhere = [
            place for place, receipt in enumerate(receipts)
            if receipt == "unknown" and not self._store.reserved_here(results[place].lease)
        ]  # fmt: skip
        if elsewhere:
            await asyncio.sleep(ELSEWHERE_SECONDS)
            again = await self._submitting([results[place] for place in elsewhere])
            for place, receipt in zip(elsewhere, again, strict=True):
                receipts[place] = receipt
        return receipts

    async def heartbeat(self, progress: list[Progress]) -> list[Directive]:
        """What to do about each lease; those with progress live on."""
        return await self._beating(progress) if progress else []

    async def give_back(self, progress: Sequence[Progress]) -> int:
        """End leases unfinished; how many of them were still open."""
        return await self._store.give_back(progress)

    async def give_back_others(self, host: HostId, held: Sequence[LeaseId]) -> None:
        """End every open lease of a host but those it holds on to."""
        await self._starting((host, held))

    # -- what the coordinator tells ---------------------------------------------------------

    def work_may_be_ready(self) -> None:
        """Somebody said that there is work."""
        self._second_opinions.work_may_be_ready()
        self._queue.work_may_be_ready()

    def leases_ended(self, user: UserId) -> None:
        """A host of this user handed results in, or leases back: there may be room for more."""
        self._quota.leases_ended(user)
        self.told.has_news(user)

    def forget(self) -> None:
        """Somebody changed a host, a user or a campaign: look quotas up again."""
        self._quota.forget()
        self.told.forget()

    def stop(self) -> None:
        """Answer everybody who waits: there will be no more work from here."""
        self._queue.stop()

    async def close(self) -> None:
        """Leave nothing behind, when the tasks have ended."""
        await self._store.flush()
        await self._queue.give_back_orphaned()
        await self._prefetch.put_back(everything=True)
        await self._store.end_holds()

    # -- what runs beside the calls ---------------------------------------------------------

    def tasks(self) -> list[Coroutine[Any, Any, None]]:
        """What must run as long as this is used."""
        return [
            self._queue.run(),
            _keep("prefetch work", self._fill),
            _keep("look up who may have work", self._learn),
            self._store.write_behind(),
            self._submitting.run(),
            self._beating.run(),
            self._asking.run(),
            self._starting.run(),
            self._listing.run(),
            self._telling.run(),
            self._looking.run(),
        ]

    async def keep_house(self) -> None:
        """What must happen now and then, and may happen in several coordinators at once."""
        if self._may_expire() and (expired := await self._store.expire()):
            log.info("%d leases expired", expired)
        if overdue := await self._store.ask_overdue_again():
            log.info("%d workunits take their hosts too long, and are asked of others", overdue)
        if lost := await self._store.end_holds():
            log.info("%d workunits are ready again that a coordinator held and lost", lost)
        self._second_opinions.probe_rate = await self._store.probe_rate()
        await self._second_opinions.renew_probes()
        await self._quota.renew()
        self._second_opinions.work_may_be_ready()  # the word of it may be lost with a connection
        self._kept_at = self._clock()

    def _may_expire(self) -> bool:
        """Not right after an outage: hosts could not report, and go on with what they hold."""
        now = self._clock()
        if now - self._kept_at > OUTAGE_SECONDS:
            self._expires_from = now + self._grace_seconds
        return now >= self._expires_from

    async def _fill(self) -> None:
        await self._prefetch.refill()
        self._queue.workunits_are_prefetched()
        self._prefetched.set()

    async def _learn(self) -> None:
        """Learn what must be known to assign at once, as long as that is in use."""
        await self._prefetched.wait()
        self._prefetched.clear()
        await self._second_opinions.look()
        await self._quota.renew()


async def _keep(what: str, step: Callable[[], Awaitable[None]]) -> None:
    """Take this step again and again; when the database is away, wait before the next."""
    await Retry(f"cannot {what}", psycopg.OperationalError, log=log, outage=DATABASE).forever(step)


def _batched(
    work: Callable[[list[Row]], Awaitable[list[Reply]]], apart: float = GATHER_SECONDS
) -> Batcher[list[Row], list[Reply]]:
    """Serves calls that bring several rows each, all their rows in one statement."""

    async def serve(calls: list[list[Row]]) -> list[list[Reply]]:
        answers = iter(await work([row for call in calls for row in call]))
        return [list(islice(answers, len(call))) for call in calls]

    return Batcher(serve, weight=len, most=MOST_ROWS_A_BATCH, apart=apart)


def _shared(
    look_up: Callable[[], Awaitable[Reply]], apart: float = 0.0
) -> Batcher[None, Reply]:
    """Gives one answer to everybody who asks at the same moment."""

    async def serve(calls: list[None]) -> list[Reply]:
        return [await look_up()] * len(calls)

    return Batcher(serve, apart=apart)
