"""The workers of a client: feeding them, stopping them for a while, replacing them.

They search with one table, so that what one has proved helps all. A worker that stays the only one
has a table of its own, which the kernel keeps in larger pages than what processes share.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable

from zermelo.client.crew_member import CrewMember
from zermelo.client.folder import ClientFolder
from zermelo.client.frames import read_frame
from zermelo.client.ledger import Ending, HeldLease
from zermelo.client.preferences import Limits
from zermelo.client.settings import ClientError, ClientSettings
from zermelo.engine import SharedTable
from zermelo.proto.worker_pb2 import FromWorker, ToWorker

log = logging.getLogger(__name__)

#: A worker that dies this often without having finished anything is not worth restarting.
MOST_DEATHS = 5


class Crew:
    """All workers. `on_report` hears everything they say, also that one died."""

    def __init__(
        self,
        settings: ClientSettings,
        folder: ClientFolder,
        on_report: Callable[[FromWorker], None],
    ) -> None:
        self._settings = settings
        self._folder = folder
        self._on_report = on_report
        self._prepare: ToWorker | None = None
        self._limits = settings.preferences.idle
        self._table = SharedTable.create(max(1, self._limits.memory_mb))
        self._on_duty = True
        self.allowed = 0
        self._group: asyncio.TaskGroup | None = None
        self.members = [CrewMember() for _ in range(settings.preferences.workers)]

    async def run(self) -> None:
        """Keep every worker alive until cancelled."""
        try:
            async with asyncio.TaskGroup() as self._group:
                for member in self.members:
                    self._group.create_task(self._keep(member))
        except* ClientError as errors:
            raise errors.exceptions[0] from None
        finally:
            self._group = None
            for member in self.members:
                member.kill()
            self._table.close()

    # -- what they may use ----------------------------------------------------------------

    def limit(self, limits: Limits, allowed: int) -> None:
        """Let `allowed` searches run from now on, within these limits."""
        if limits.priority != self._limits.priority:
            for member in self.members:
                member.give_way(limits.priority)
        before, self._limits, self.allowed = self._limits, limits, allowed
        if limits.memory_mb != before.memory_mb:
            self._move()
        self._arrange()

    def grow(self, workers: int) -> None:
        """Have this number of workers; those that are there already stay."""
        while len(self.members) < workers and self._group is not None:
            member = CrewMember()
            self.members.append(member)
            self._group.create_task(self._keep(member))

    def duty(self, on: bool) -> None:
        """The throttle's beat: all searches run, or none."""
        self._on_duty = on
        self._arrange()

    def stands_still(self, held: HeldLease) -> bool:
        """Whether a search may not run, other than for a beat of the throttle."""
        return held in [member.held for member in self._searching()][self.allowed :]

    def _searching(self) -> list[CrewMember]:
        return [member for member in self.members if member.held and not member.held.ending]

    def _arrange(self) -> None:
        """Suspend the searches that may not run, and no others."""
        searching = self._searching()
        for member in self.members:
            if member not in searching:
                member.suspend(False)
        for place, member in enumerate(searching):
            member.suspend(place >= self.allowed or not self._on_duty)

    def _move(self) -> None:
        """Take a table of another size: each worker leaves its search to a successor."""
        self._table.close()
        self._table = SharedTable.create(max(1, self._limits.memory_mb))
        for member in self.members:
            if member.held is None:
                member.retire()
            elif member.held.ending is None:
                self.drop(member.held, Ending.MOVED)

    # -- what they do ---------------------------------------------------------------------

    def prepare(self, game: str, seconds: float) -> None:
        """Have every worker, also a later replacement, open this engine first.

        With `seconds` it is measured, too.
        """
        self._prepare = ToWorker(
            prepare=ToWorker.Prepare(game=game, milliseconds=round(seconds * 1000))
        )
        for member in self.members:
            member.preparing = True
            member.send(self._prepare)

    @property
    def preparing(self) -> bool:
        return any(member.preparing for member in self.members)

    @property
    def busy(self) -> int:
        return sum(member.held is not None for member in self.members)

    @property
    def free(self) -> int:
        """How many searches may start now."""
        return min(sum(member.ready for member in self.members), self.allowed - self.busy)

    def give(self, held: HeldLease) -> None:
        """Hand a lease to a free worker."""
        member = next(member for member in self.members if member.ready)
        member.held = held
        member.send(ToWorker(solve=ToWorker.Solve(workunit=held.workunit, resume=held.resume)))
        self._arrange()

    def drop(self, held: HeldLease, ending: Ending) -> bool:
        """Stop a search; its worker reports when it has. False if nobody works on it."""
        held.ending = ending
        for member in self.members:
            if member.held is held:
                member.suspend(False)
                drop = ToWorker.Drop(lease_id=held.lease, save=ending.saves)
                member.send(ToWorker(drop=drop))
                return True
        return False

    # -- keeping them alive ----------------------------------------------------------------

    async def _keep(self, member: CrewMember) -> None:
        while True:
            reader = await member.start(self._table, self._arguments(), self._limits.priority)
            if self._prepare:
                member.preparing = True
                member.send(self._prepare)
            while report := await read_frame(reader, FromWorker):
                self._hear(member, report)
            how = member.kill()
            if not member.retired:
                await self._recover(member, how)

    async def _recover(self, member: CrewMember, how: str) -> None:
        """Report what a worker that died was doing, and wait before another is started."""
        pause = member.backoff.next()
        if member.backoff.failures >= MOST_DEATHS:
            raise ClientError(
                f"a worker died {member.backoff.failures} times in a row: it {how}; "
                "`zermelo client doctor` checks this computer"
            )
        log.warning("a worker %s; starting another", how)
        held, member.held = member.held, None
        if held is not None:
            failed = FromWorker.Failed(lease_id=held.lease, message=f"the worker {how}")
            self._on_report(FromWorker(failed=failed))
        await asyncio.sleep(pause)

    def _arguments(self) -> list[str]:
        return [
            str(self._limits.hash_mb), str(self._folder.searches), str(self._folder.definitions),
            str(self._settings.checkpoint_seconds), str(int(self._settings.durable)),
            str(self._settings.threads), str(int(self._settings.one_worker)),
        ]  # fmt: skip

    def _hear(self, member: CrewMember, report: FromWorker) -> None:
        kind = report.WhichOneof("report")
        if kind == "prepared":
            member.preparing = False
        elif kind in ("result", "dropped", "failed"):
            member.held = None
            member.backoff.reset()
            if member.table is not self._table:
                member.retire()
            self._arrange()
        self._on_report(report)
