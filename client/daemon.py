"""The client itself: work comes in, results go out, workers never wait for either.

The parts do the work: `intake` asks for it, `crew` does it, `outbox` hands it in, `pulse`
sends heartbeats, `governor` and `throttle` keep within the owner's preferences. The daemon
connects them, hears what the workers report, and sees to an orderly end.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import replace
from typing import Any

from zermelo.client.checkpoints import CheckpointFileError, Checkpoints
from zermelo.client.clock import ClockWatch
from zermelo.client.connection import FIRST_PAUSE, LONGEST_PAUSE, Connection
from zermelo.client.control import ControlServer
from zermelo.client.crew import Crew
from zermelo.client.definitions import DefinitionFolder
from zermelo.client.folder import PATIENCE_SECONDS, ClientFolder
from zermelo.client.governor import Allowance, Governor
from zermelo.client.intake import Intake
from zermelo.client.ledger import Ending, HeldLease, Ledger
from zermelo.client.outbox import Outbox
from zermelo.client.preferences import Preferences
from zermelo.client.pulse import Pulse
from zermelo.client.refusals import UnknownHostError
from zermelo.client.reloading import Reloading
from zermelo.client.sensors import Sensors
from zermelo.client.settings import ClientSettings
from zermelo.client.speed import KnownSpeeds, Speed
from zermelo.client.spool import Spool
from zermelo.client.standing import Standing
from zermelo.client.status import snapshot
from zermelo.client.stopping import Stopping
from zermelo.client.throttle import Throttle
from zermelo.games import GameError, open_game
from zermelo.games.definition.sources import add_source
from zermelo.proto import coordinator_pb2 as pb
from zermelo.proto.worker_pb2 import FromWorker
from zermelo.retry import Backoff

log = logging.getLogger(__name__)

GOVERN_SECONDS = 1.0
#: How long `status` waits for a standing that is not older than a heartbeat.
STANDING_SECONDS = 1.0
#: A paused search is handed back when its lease has only LAST_BEATS heartbeats left, or
#: LAST_LOOKS looks at the computer: the next one could be too late.
LAST_BEATS = 2.0
LAST_LOOKS = 3.0
MOST_HELD = 1024


def run(settings: ClientSettings, sensors: Sensors, show: Show | None = None) -> None:
    """Work until a signal, a command or the owner's limit ends it; `show` it meanwhile."""
    folder = ClientFolder(settings.data_dir)
    # A predecessor that was told to stop may take as long as we would.
    host_key = folder.open(settings.leave_seconds + PATIENCE_SECONDS)

    async def work() -> None:
        # Made inside, because its connection belongs to the running loop.
        await Daemon(settings, folder, host_key, sensors).run(show)

    try:
        asyncio.run(work())
    finally:
        folder.close()


#: Shows a running daemon until it is cancelled.
Show = Callable[["Daemon"], Coroutine[Any, Any, None]]


class Daemon:
    def __init__(
        self, settings: ClientSettings, folder: ClientFolder, host_key: bytes, sensors: Sensors
    ) -> None:
        self.settings = settings
        self.speed = Speed(settings.threads)
        self.known_speeds = KnownSpeeds(folder.speeds)
        self.checkpoints = Checkpoints(folder.searches, durable=settings.durable)
        self.spool = Spool(folder.spool, durable=settings.durable)
        self.ledger = Ledger(folder.reported)
        self.connection = Connection(settings, host_key, folder)
        self.definitions = DefinitionFolder(folder.definitions, self.connection.definition)
        add_source(self.definitions.text)
        self.crew = Crew(settings, folder, self._hear)
        self.throttle = Throttle(self.crew)
        self.governor = Governor(settings.preferences, sensors)
        self.allowance = Allowance(settings.preferences.idle, in_use=False)
        self.spool.open()
        self.outbox = Outbox(self.spool, self.checkpoints, self.connection)
        self.intake = Intake(
            self.connection, self.ledger, self.crew, self.speed,
            max_workunits=settings.max_workunits, store_seconds=settings.store_seconds,
            feed=self._feed, hello=self._hello, fetch=self.definitions.fetch,
            receipts=self.outbox.receipts,
        )  # fmt: skip
        self.pulse = Pulse(
            self.connection, self.ledger, on_drop=self._drop, on_settled=self._settled,
            note_after_seconds=settings.checkpoint_seconds,
        )  # fmt: skip
        self.stopping = Stopping(self)
        self.control = ControlServer(
            folder.control,
            {
                "status": lambda _: self._status(),
                "pause": self._pause,
                "resume": self._resume,
                "stop": self._stop,
            },
        )
        self.clock = ClockWatch()
        self.started_at = time.monotonic()
        #: Set while the owner wants a pause: when it ends by itself.
        self.paused_until: float | None = None
        self.welcome = False
        self.standing = Standing(self.connection, host_key)
        self.game = ""
        self._reloading = Reloading(folder.config, settings.read_preferences)

    async def run(self, show: Show | None = None) -> None:
        self.stopping.listen()
        await self.control.start()
        crew = asyncio.create_task(self.crew.run())
        others: list[asyncio.Task[None]] = []
        try:
            self.checkpoints.tidy()
            self._govern()
            parts = [self.stopping.asked(), self.outbox.write(), self.throttle.run(),
                     self._watch(), self._work()]  # fmt: skip
            if show is not None:
                parts.append(show(self))
            others = [asyncio.create_task(part) for part in parts]
            done, _ = await asyncio.wait([crew, *others], return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()
        finally:
            try:
                await self.stopping.leave(crew, others)
            finally:
                if self.game:
                    self.known_speeds.put(self.game, self.speed.of_thread)
                await self.control.close()
                self.spool.close()

    # -- working ------------------------------------------------------------------------

    async def _work(self) -> None:
        """Introduce ourselves, go on where an earlier run stopped, then do as told."""
        if self.settings.game:
            self._get_ready(self.settings.game)  # while the server starts
        await self._hello(self._saved_searches())
        loops = (self.intake.run, self.outbox.send, self.pulse.run, self._until_enough,
                 self.standing.run)  # fmt: skip
        tasks = [asyncio.create_task(self._as_known_host(loop)) for loop in loops]
        try:
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _hello(self, saved: list[HeldLease] | None = None) -> None:
        saved = saved or []
        held = [*self.outbox.leases, *self.ledger.leases, *(item.lease for item in saved)]
        reply = await self.connection.hello(
            held=held[:MOST_HELD],
            speed=self.speed.current,
            memory_mb=self.settings.preferences.idle.memory_mb,
        )
        if not self.welcome:
            log.info("working for %s", self.settings.address.server)
        self.welcome = True
        self.pulse.every(reply.heartbeat_ms)
        self.intake.keep_in_store(reply.store_ms)
        if reply.notice:
            log.info("the coordinator says: %s", reply.notice)
        await self.definitions.fetch(reply.games)
        game = next(filter(_is_known, reply.games), "")
        if game and game != self.game and not self.speed.current:
            self._get_ready(game)
        if saved:
            await self._go_on(saved)

    def _get_ready(self, game: str) -> None:
        """Open the engine; measure it if this is its first time on this host."""
        self.game = game
        known = self.known_speeds.get(game)
        self.speed.measured(known)
        if not known:
            log.info("measuring how fast this computer is")
        self.crew.prepare(game, 0.0 if known else self.settings.benchmark_seconds)

    def _saved_searches(self) -> list[HeldLease]:
        """The leases that an earlier run left with a checkpoint."""
        saved = []
        finished = set(self.outbox.leases)
        reported = self.ledger.reported()
        for search in self.checkpoints.saved():
            if isinstance(search, CheckpointFileError):
                log.warning("%s", search)
            elif search.workunit.lease_id not in finished:
                held = HeldLease(search.workunit, time.monotonic(), search.nodes, resume=True)
                held.nodes_before = search.nodes
                held.repeated = max(0, reported.get(held.lease, 0) - search.nodes)
                saved.append(held)
        return saved

    async def _go_on(self, saved: list[HeldLease]) -> None:
        """Take up the saved searches whose leases still stand; the first heartbeat tells."""
        for held in saved:
            self.ledger.take(held)
        await self.pulse.beat()
        for held in saved:
            if self.ledger.get(held.lease):
                self.intake.taken += 1
                log.info("going on with lease %d from its checkpoint, %d nodes on",
                         held.lease, held.nodes)  # fmt: skip
        self._feed()

    async def _as_known_host(self, loop: Callable[[], Awaitable[None]]) -> None:
        """Run a loop, introducing ourselves again whenever the coordinator forgot us."""
        backoff = Backoff(FIRST_PAUSE, LONGEST_PAUSE)
        while True:
            began = time.monotonic()
            try:
                return await loop()
            except UnknownHostError:
                if time.monotonic() - began > LONGEST_PAUSE:
                    backoff.reset()
                await asyncio.sleep(backoff.next())
                await self._hello()

    async def _until_enough(self) -> None:
        """Ends when the owner wants no more results."""
        limit = self.settings.max_workunits
        while limit is None or self.outbox.handed_in < limit:
            self.outbox.sent.clear()
            await self.outbox.sent.wait()

    def _feed(self) -> None:
        if not self.allowance.workers and not self.stopping.begun:
            # Also what was asked for before a pause and came in it: others shall have it at once.
            for held in list(self.ledger.waiting):
                self.give_back(held, pb.ReturnedLease.STOPPING)
        while self.ledger.waiting and self.crew.free > 0 and not self.stopping.begun:
            held = self.ledger.waiting.popleft()
            held.started_at = time.monotonic()
            self.crew.give(held)

    # -- what the workers say -------------------------------------------------------------

    def _hear(self, report: FromWorker) -> None:
        kind = report.WhichOneof("report")
        if kind == "progress":
            held = self.ledger.get(report.progress.lease_id)
            if held is not None:
                held.nodes = report.progress.nodes
                held.permille = report.progress.done_permille
            return
        if kind == "prepared":
            if report.prepared.speed:
                self.speed.measured(report.prepared.speed)
                self.known_speeds.put(report.prepared.game, self.speed.of_thread)
        elif kind == "result":
            self._finished(report.result)
        elif kind == "dropped":
            self._dropped(report.dropped)
        elif kind == "failed":
            self._failed(report.failed)
        elif kind == "note":
            log.warning("%s", report.note.message)
        self._feed()
        self.ledger.changed.set()

    def _finished(self, result: pb.Result) -> None:
        self.intake.backoff.reset()
        held = self.ledger.end(result.lease_id)
        passed = held.seconds if held and held.started_at is not None else None
        self.speed.finished(result.nodes, result.milliseconds / 1000, passed)
        self.outbox.put(result, held.workunit if held else None)
        if held is not None:
            self.game = held.workunit.game

    def _dropped(self, dropped: FromWorker.Dropped) -> None:
        held = self.ledger.get(dropped.lease_id)
        if held is None:
            return
        held.nodes = dropped.nodes
        if held.ending is Ending.SETTLED:
            return  # until the server says so, too
        if held.ending is Ending.MOVED:
            held.ending, held.resume = None, dropped.saved
            self.ledger.waiting.appendleft(held)
            return
        if held.ending is Ending.KEPT and dropped.saved:
            return
        server_said = held.ending is Ending.DROPPED
        if server_said:
            self.checkpoints.remove(held.workunit)
        self.give_back(
            held, pb.ReturnedLease.DROPPED if server_said else pb.ReturnedLease.STOPPING
        )

    def _failed(self, failed: FromWorker.Failed) -> None:
        self.intake.backoff.failures += 1
        log.error("a search failed: %s", failed.message)
        held = self.ledger.get(failed.lease_id)
        if held is not None:
            self.give_back(held, pb.ReturnedLease.FAILED, failed.message)

    def give_back(
        self, held: HeldLease, cause: pb.ReturnedLease.Cause, message: str = ""
    ) -> None:
        self.ledger.end(held.lease)
        self.intake.taken -= 1
        self.outbox.give_back(held.lease, held.effort, cause, message)

    # -- what the server says ---------------------------------------------------------------

    def _drop(self, held: HeldLease) -> None:
        if held.ending is Ending.SETTLED or not self.crew.drop(held, Ending.DROPPED):
            self.checkpoints.remove(held.workunit)
            self.give_back(held, pb.ReturnedLease.DROPPED)

    def _settled(self, held: HeldLease) -> None:
        # The lease stays ours until the server ends it: given back, it would go to others.
        if not self.crew.drop(held, Ending.SETTLED) and held in self.ledger.waiting:
            self.ledger.waiting.remove(held)

    # -- what the owner says ----------------------------------------------------------------

    def look(self) -> dict[str, Any]:
        """What the client is doing, for somebody who looks at it now."""
        self.standing.look(self.pulse.seconds)
        return snapshot(self)

    async def _status(self) -> dict[str, Any]:
        """The same for a command, which may wait a moment for news of the standing."""
        if self.welcome and not self.connection.trouble:
            await self.standing.fresh(self.pulse.seconds, STANDING_SECONDS)
        return snapshot(self)

    def _pause(self, request: dict[str, object]) -> dict[str, object]:
        seconds = request.get("seconds")
        if seconds is not None and not isinstance(seconds, int | float):
            raise ValueError("seconds is not a number")
        self.paused_until = float("inf") if seconds is None else time.monotonic() + seconds
        self._govern()
        return {"state": "paused"}

    def _resume(self, _: dict[str, object]) -> dict[str, object]:
        self.paused_until = None
        self._govern()
        return {"state": "working"}

    def _stop(self, request: dict[str, object]) -> dict[str, object]:
        self.stopping.ask(at_once=bool(request.get("at_once")))
        return {"state": "stopping"}

    async def _watch(self) -> None:
        """Look at the computer and the clock now and then."""
        while True:
            await asyncio.sleep(GOVERN_SECONDS)
            if self.clock.jumped():
                self.pulse.soon()
            preferences = self._reloading.changed(self.settings.preferences)
            if preferences is not None:
                self._prefer(preferences)
            self._govern()
            limit = self.settings.run_seconds
            if limit is not None and time.monotonic() - self.started_at >= limit:
                log.info("the time given is over")
                return

    def _prefer(self, preferences: Preferences) -> None:
        """Go on within other preferences, and tell the server how many workers there are."""
        log.info("the configuration changed; the new limits apply")
        self.settings = replace(self.settings, preferences=preferences)
        self.governor.prefer(preferences)
        self.connection.workers = max(1, preferences.workers)
        self.crew.grow(preferences.workers)
        if self.welcome:
            self.intake.introduce()

    def _govern(self) -> None:
        """Let the crew do what is allowed now."""
        if self.stopping.begun:
            return
        before, self.allowance = self.allowance, self._allowed_now()
        if self.allowance.reason != before.reason:
            log.info("%s", f"paused: {self.allowance.reason}" if self.allowance.reason
                     else "going on")  # fmt: skip
        self.throttle.share = self.allowance.limits.cpu_share
        self.crew.limit(self.allowance.limits, self.allowance.workers)
        self._let_others_have()
        self._feed()
        self.ledger.changed.set()

    def _let_others_have(self) -> None:
        """Hand back what makes no progress before its lease ends, which would not be extended."""
        margin = max(LAST_BEATS * self.pulse.seconds, LAST_LOOKS * GOVERN_SECONDS)
        for held in self.ledger:
            left = held.deadline - time.monotonic()
            if left < margin and not held.ending and self.crew.stands_still(held):
                self.crew.drop(held, Ending.PAUSED)
            # Where searches take longer than those before, a store lasts longer than it should.
            elif left < min(margin, held.lasts / 4) and self._would_run_out(held):
                self.give_back(held, pb.ReturnedLease.STOPPING)

    def _would_run_out(self, held: HeldLease) -> bool:
        """Whether it waits for a worker, and the server ends leases as it said."""
        waits = held in self.ledger.waiting and not held.resume
        return waits and not self.connection.trouble

    def _allowed_now(self) -> Allowance:
        allowance = self.governor.judge()
        if self.paused_until is not None:
            if time.monotonic() < self.paused_until:
                return Allowance(allowance.limits, allowance.in_use, "you paused it")
            self.paused_until = None
        return allowance


def _is_known(game: str) -> bool:
    """Whether this release can play a game that the coordinator names."""
    try:
        open_game(game)
    except GameError:
        return False
    return True
