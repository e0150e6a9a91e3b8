"""The statements about leases. Some leases are written behind, which only the store knows.

Leases of prefetched workunits are handed out from memory (`lease_behind`) and written down
together soon after (write-behind). Every method that asks the database about leases waits until
those it asks about are written. If this process dies in between, the host's next call finds
its lease unknown, as after a crash of the database, and loses what it did in that moment.

A workunit is in a *hold* from the moment it leaves the queue until its lease is written. What
is left of a hold goes back to the queue: when the coordinator ends the hold, or, when nobody
is left to do it, at the hold's end.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Iterable, Sequence

import psycopg

from zermelo.retry import Retry
from zermelo.server.arrays import array
from zermelo.server.coordinator.leases.rows import (
    Again,
    Directive,
    HoldId,
    HostId,
    Leased,
    LeaseId,
    Prefetched,
    Progress,
    Question,
    Returned,
    WorkunitId,
    columns,
)
from zermelo.server.coordinator.statements import Statements
from zermelo.server.database import DATABASE
from zermelo.server.trust.accounts import UserId
from zermelo.server.trust.shortage import OVERDUE_SECONDS, OVERDUE_TARGETS, OVERDUE_WEIGHT

log = logging.getLogger(__name__)

#: How many lease numbers are reserved at once.
BLOCK = 1 << 16
#: How long to gather leases before they are written down together.
GATHER_SECONDS = 0.04
#: When others may take a hold for lost. Far longer than it is used: they go by another clock.
HOLD_SECONDS = 30.0

#: A lease ends when its host has searched more than its budget: threads notice the end of it
#: late, and a small budget is soon exceeded by MORE_NODES.
MOST_BUDGETS, MORE_NODES = 1.25, 1_000_000
#: A lease with progress is extended, but not beyond the time without any and this many times
#: what its search was to take.
MOST_TARGETS = 2.0
#: Others are asked, too, OVERDUE_SECONDS after a search should have ended: it takes at most the
#: campaign's target, and seldom OVERDUE_EFFORTS times what the cost model expects.
OVERDUE_EFFORTS = 10.0
#: The same where nothing as urgent is ready: whoever is free had better answer it twice than
#: what may never be needed.
URGENT_SECONDS, URGENT_TARGETS, URGENT_EFFORTS = 1.0, 0.5, 2.0
#: What leases that expire leave of the quota of a user.
LEAST_QUOTA = 1


class LeaseStore:
    def __init__(self, statements: Statements, *, lease_seconds: float) -> None:
        self._statements = statements
        self._lease_seconds = lease_seconds
        #: The blocks of lease numbers reserved here.
        self._blocks: set[int] = set()
        #: How many workunits of each hold are not leased yet.
        self._left: Counter[HoldId] = Counter()
        #: Holds to be ended, until the database has done so.
        self._ending: set[HoldId] = set()
        #: Leases that nobody was told of, and may be in the database all the same.
        self._doubtful: list[Progress] = []
        self._behind: list[Leased] = []
        self._unwritten: set[LeaseId] = set()
        self._to_write = asyncio.Event()
        self._batch_written = asyncio.Event()
        #: Whether leases can be written, as far as is known.
        self.writable = True

    # -- what there is to hand out ----------------------------------------------------------

    async def free_of_hosts(self, hosts: Iterable[HostId]) -> list[tuple[HostId, UserId, int]]:
        """Whose hosts these are, and how many more leases each may have."""
        await self._written()
        return await self._statements.run("free_of_hosts", {"hosts": list(hosts)})

    async def free_of_users(self, users: Iterable[UserId]) -> list[tuple[UserId, int]]:
        """How many more leases all hosts of each user may have together."""
        await self._written()
        return await self._statements.run("free_of_users", {
            "users": list(users), "seconds": OVERDUE_SECONDS, "targets": OVERDUE_TARGETS,
            "overdue_weight": OVERDUE_WEIGHT,
        })  # fmt: skip

    async def workunits_asked_again(self, most: int) -> list[Again]:
        """Workunits that wait for another user's answer, most urgent first."""
        rows = await self._statements.run("workunits_asked_again", {"most": most})
        return [Again(*row) for row in rows]

    async def probes(self, most: int) -> list[Again]:
        """Workunits whose answer several users agreed on, the latest first."""
        return [Again(*row) for row in await self._statements.run("probes", {"most": most})]

    async def probe_rate(self) -> float:
        """Which part of the leases shall be probes."""
        return float((await self._statements.run("probe_rate", {}))[0][0])

    async def running_games(self) -> list[str]:
        return [row[0] for row in await self._statements.run("running_games", {})]

    async def told_to_volunteers(self) -> tuple[str, float]:
        """The operators' notice, and how long a workunit should take, in seconds."""
        ((notice, target),) = await self._statements.run("told_to_volunteers", {})
        return notice, target

    async def host_rests(self, host: HostId) -> bool:
        """Whether a host gets no work for a while after a bad answer."""
        return any(rests for (rests,) in await self._statements.run("host_rests", {"host": host}))

    async def campaigns_open(self) -> tuple[int, int, bool]:
        """How many campaigns run, how many are paused, and whether other users are waited for."""
        running, paused, others_asked = (await self._statements.run("no_work_reason", {}))[0]
        return running, paused, others_asked

    async def ask_for_more(self) -> None:
        """Tell the generators that clients want more than is ready."""
        await self._statements.lazily("ask_for_more", {})

    # -- from the queue to a lease ----------------------------------------------------------

    async def reserve_leases(self) -> range:
        """Lease numbers that nobody ever used or will use but who called this."""
        block = (await self._statements.run("reserve_leases", {}))[0][0]
        self._blocks.add(block)
        return range(block * BLOCK, (block + 1) * BLOCK)

    def reserved_here(self, lease: LeaseId) -> bool:
        """Whether this store would know of the lease before the database does."""
        return lease // BLOCK in self._blocks

    async def take(
        self, most: int, again: Sequence[tuple[WorkunitId, bool]] = ()
    ) -> list[Prefetched]:
        """Take workunits out of the queue into a hold: the most urgent, at most `most`.

        And those that are to be asked `again`, each with whether it is a probe.
        """
        rows = await self._statements.lazily("take_workunits", {
            "most": most,
            "again": array([workunit for workunit, _ in again]),
            "probes": array([probe for _, probe in again]),
            "hold_seconds": HOLD_SECONDS,
        })  # fmt: skip
        taken = [Prefetched(*row) for row in rows]
        if taken:
            self._left[taken[0].hold] = len(taken)
        return taken

    async def lease(self, leases: Sequence[Leased]) -> bool:
        """Write leases of a whole hold down; False if it had ended, and there are none."""
        holds = {item.hold for item in leases}
        try:
            written = await self._write(leases, holds)
        except BaseException:
            self.give_up(holds)
            self._doubtful += [Progress(item.host, item.lease, 0) for item in leases]
            raise
        self._forget(holds)
        return written > 0

    def lease_behind(self, leases: Sequence[Leased]) -> None:
        """Have leases written down soon, without waiting for it."""
        self._left.subtract(item.hold for item in leases)
        self._behind += leases
        self._unwritten.update(item.lease for item in leases)
        self._to_write.set()

    def give_up(self, holds: Iterable[HoldId]) -> None:
        """Nobody takes anything more out of these holds: they are among the next to be ended."""
        self._ending.update(holds)
        self._forget(holds)

    async def end_holds(self, holds: Iterable[HoldId] = ()) -> int:
        """Back to the queue with what nobody took out of these holds, of those that were given up
        and of overdue ones.

        Returns the number of workunits that are ready again.
        """
        self._ending |= set(holds)
        await self._written()  # what was handed out of them must not go back
        ending = list(self._ending)
        rows = await self._statements.lazily("end_holds", {"holds": ending})
        self._ending.difference_update(ending)
        self._forget(ending)
        doubtful, self._doubtful = self._doubtful, []
        try:
            given_back = await self.give_back(doubtful) if doubtful else 0
        except BaseException:
            self._doubtful += doubtful
            raise
        return int(rows[0][0]) + given_back

    # -- write-behind -----------------------------------------------------------------------

    async def write_behind(self) -> None:
        """Write down what is handed out, until this is cancelled."""
        retry = Retry(
            "cannot write leases down", psycopg.OperationalError, log=log, outage=DATABASE
        )
        await retry.forever(self._write_behind_once)

    async def _write_behind_once(self) -> None:
        await self._to_write.wait()
        await asyncio.sleep(GATHER_SECONDS)
        self._to_write.clear()
        try:
            await self.flush()
        except psycopg.OperationalError:
            self._to_write.set()
            self._tell_who_waits(writable=False)
            raise
        self._tell_who_waits(writable=True)

    def _tell_who_waits(self, *, writable: bool) -> None:
        self.writable = writable
        self._batch_written.set()
        self._batch_written = asyncio.Event()

    async def flush(self) -> None:
        """Write down what was handed out so far."""
        batch, self._behind = self._behind, []
        spent = [hold for hold, left in self._left.items() if left <= 0]
        try:
            await self._write(batch, spent)
        except BaseException:
            self._behind = batch + self._behind
            raise
        self._forget(spent)
        self._unwritten.difference_update(item.lease for item in batch)

    async def _written(self, leases: Iterable[LeaseId] | None = None) -> None:
        """Wait until these leases, or all so far, are in the database if they are ours."""
        wanted = self._unwritten.copy() if leases is None else set(leases)
        while not self._unwritten.isdisjoint(wanted):
            if not self.writable:
                raise psycopg.OperationalError("the database is away")
            await self._batch_written.wait()

    async def _write(self, leases: Sequence[Leased], spent: Iterable[HoldId]) -> int:
        """Write leases as far as their holds last, and end the `spent` ones; how many."""
        rows = await self._statements.lazily(
            "write_leases",
            columns(leases, "hold", "lease", "workunit", "host", "node_budget", "probe")
            | {"spent": array(list(spent)), "lease_seconds": self._lease_seconds},
        )
        return int(rows[0][0])

    def _forget(self, holds: Iterable[HoldId]) -> None:
        for hold in holds:
            self._left.pop(hold, None)

    # -- what comes back --------------------------------------------------------------------

    async def questions(
        self, asked: Sequence[tuple[HostId, LeaseId]]
    ) -> list[Question | None]:
        """What leases of hosts are about, in their order; None for those that do not exist."""
        await self._written(lease for _, lease in asked)
        rows = await self._statements.run("questions_of_leases", {
            "host": array([host for host, _ in asked]),
            "lease": array([lease for _, lease in asked]),
        })  # fmt: skip
        found = {place: Question(*facts) for place, *facts in rows}
        return [found.get(place) for place in range(1, len(asked) + 1)]

    async def submit(self, results: Sequence[Returned]) -> list[str]:
        """The receipt of each: accepted, duplicate, late, unknown or contradictory."""
        await self._written(item.lease for item in results)
        rows = await self._statements.run(
            "submit_results", columns(results, *Returned._fields)
        )
        await self._statements.lazily("tell_of_results", {})
        receipts = {place: receipt for place, receipt, _ in rows}
        return [receipts.get(place, "unknown") for place in range(1, len(results) + 1)]

    async def heartbeat(self, progress: Sequence[Progress]) -> list[Directive]:
        """What to do about each lease; those with progress live on."""
        await self._written(item.lease for item in progress)
        rows = await self._statements.lazily(
            "heartbeat",
            columns(progress, *Progress._fields) | {
                "lease_seconds": self._lease_seconds, "most_targets": MOST_TARGETS,
                "most_budgets": MOST_BUDGETS, "more_nodes": MORE_NODES,
            },
        )  # fmt: skip
        directives = {row[0]: Directive(*row[1:]) for row in rows}
        return [
            directives.get(place) or Directive(item.lease, "unknown", 0, None, None)
            for place, item in enumerate(progress, 1)
        ]

    async def give_back(self, progress: Sequence[Progress]) -> int:
        """End leases unfinished; how many of them were still open."""
        await self._written(item.lease for item in progress)
        rows = await self._statements.run(
            "return_leases", columns(progress, *Progress._fields)
        )
        return len(rows)

    async def give_back_others(
        self, hosts: Sequence[tuple[HostId, Sequence[LeaseId]]]
    ) -> list[None]:
        """End every open lease of hosts but those that each holds on to."""
        await self._written()
        held = [(host, lease) for host, leases in hosts for lease in leases]
        await self._statements.run("return_other_leases", {
            "hosts": array([host for host, _ in hosts]),
            "host": array([host for host, _ in held]),
            "lease": array([lease for _, lease in held]),
        })  # fmt: skip
        return [None] * len(hosts)

    async def expire(self) -> int:
        """End leases that reached their deadline; how many."""
        rows = await self._statements.lazily("expire_leases", {"least_quota": LEAST_QUOTA})
        return int(rows[0][0])

    async def ask_overdue_again(self) -> int:
        """Let others answer what takes a host far too long; how many workunits."""
        rows = await self._statements.lazily(
            "ask_overdue_again",
            {
                "seconds": OVERDUE_SECONDS, "targets": OVERDUE_TARGETS,
                "efforts": OVERDUE_EFFORTS, "urgent_seconds": URGENT_SECONDS,
                "urgent_targets": URGENT_TARGETS, "urgent_efforts": URGENT_EFFORTS,
            },
        )  # fmt: skip
        return int(rows[0][0])
