"""The client itself: work comes in, results go out, workers never wait for either.

Three loops share the state below: one asks for work, one hands in what is finished,
one sends heartbeats. Workunits that nobody works on yet wait in `_store`, just enough
of them to bridge the time that the next request takes.
"""

from __future__ import annotations

import asyncio
import logging
import math
import random
import signal
from collections import deque
from collections.abc import Awaitable, Callable

from zermelo.client.connection import Connection, UnknownHostError
from zermelo.client.crew import Crew
from zermelo.client.identity import Identity
from zermelo.client.settings import ClientSettings
from zermelo.client.speed import Speed
from zermelo.proto import coordinator_pb2 as pb
from zermelo.proto.worker_pb2 import FromWorker

log = logging.getLogger(__name__)

#: Work kept in store, in seconds: bridges a request and the noise of a busy machine.
STORE_SECONDS = 0.03
MOST_IN_STORE = 64
MOST_SLOTS = 256
MOST_RESULTS_A_CALL = 256
SHORTEST_HEARTBEAT = 0.05
LONGEST_PAUSE_AFTER_FAILURE = 60.0
LEAVE_SECONDS = 3.0


def run(settings: ClientSettings) -> None:
    """Work until a signal or the owner's limit ends it."""
    identity = Identity(settings.data_dir)

    async def work() -> None:
        # Made inside, because its connection belongs to the running loop.
        await Daemon(settings, identity.host_key).run()

    try:
        asyncio.run(work())
    finally:
        identity.close()


class Daemon:
    def __init__(self, settings: ClientSettings, host_key: bytes) -> None:
        self._settings = settings
        self._connection = Connection(settings, host_key)
        self._crew = Crew(settings, self._hear)
        self._speed = Speed()
        #: Workunits that nobody works on yet.
        self._store: deque[pb.Workunit] = deque()
        #: Every lease we hold, with the nodes its search has visited.
        self._leases: dict[int, int] = {}
        self._results: list[pb.Result] = []
        self._returns: list[pb.ReturnedLease] = []
        self._taken = self._handed_in = self._failures = 0
        self._heartbeat_seconds = 5.0
        self._no_work = ""
        self._stopping = False
        self._changed = asyncio.Event()
        self._unsent = asyncio.Event()

    async def run(self) -> None:
        main = asyncio.current_task()
        assert main is not None  # noqa: S101
        for number in (signal.SIGINT, signal.SIGTERM):
            asyncio.get_running_loop().add_signal_handler(number, main.cancel)
        tasks = [asyncio.create_task(self._crew.run())]
        try:
            await self._hello()
            tasks += [
                asyncio.create_task(self._as_known_host(loop))
                for loop in (self._fetch, self._hand_in, self._beat)
            ]
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()
        except asyncio.CancelledError:
            log.info("stopping; unfinished work goes back to the coordinator")
        finally:
            await self._leave(tasks)

    # -- coming and going ---------------------------------------------------------------

    async def _hello(self) -> None:
        reply = await self._connection.hello(
            held=list(self._leases), nodes_per_second=self._speed.nodes_per_second
        )
        self._heartbeat_seconds = max(SHORTEST_HEARTBEAT, reply.heartbeat_ms / 1000)
        if reply.notice:
            log.info("the coordinator says: %s", reply.notice)
        if reply.games and not self._speed.nodes_per_second:
            self._crew.prepare(reply.games[0])

    async def _as_known_host(self, loop: Callable[[], Awaitable[None]]) -> None:
        """Run a loop, introducing ourselves again whenever the coordinator forgot us."""
        while True:
            try:
                return await loop()
            except UnknownHostError:
                await self._hello()

    async def _leave(self, tasks: list[asyncio.Task[None]]) -> None:
        """Stop the searches, hand in what is finished and give back the rest."""
        self._stopping = True
        crew, *loops = tasks
        for task in loops:
            task.cancel()
        await asyncio.gather(*loops, return_exceptions=True)
        try:
            async with asyncio.timeout(LEAVE_SECONDS):
                await self._stop_searches(crew)
                await self._send()
                await self._connection.return_work([], leaving=True)
        except (TimeoutError, UnknownHostError):
            log.warning("the coordinator was not told; the leases end by themselves")
        finally:
            crew.cancel()
            await asyncio.gather(crew, return_exceptions=True)
            await self._connection.close()

    async def _stop_searches(self, crew: asyncio.Task[None]) -> None:
        while self._store:
            self._give_back(self._store.popleft().lease_id, 0, pb.ReturnedLease.STOPPING)
        for lease in self._crew.leases:
            self._crew.drop(lease)
        while self._crew.leases and not crew.done():
            self._changed.clear()
            await self._changed.wait()

    # -- work comes in ------------------------------------------------------------------

    async def _fetch(self) -> None:
        while True:
            slots = self._slots()
            if slots <= 0:
                self._changed.clear()
                await self._changed.wait()
                continue
            if self._failures:
                await asyncio.sleep(min(LONGEST_PAUSE_AFTER_FAILURE, 2.0**self._failures))
            reply = await self._connection.request_work(slots, self._speed.nodes_per_second)
            for workunit in reply.workunits:
                self._take(workunit)
            if not reply.workunits:
                await self._wait_for_work(reply.no_work)

    def _slots(self) -> int:
        """How many workunits to ask for now."""
        if self._crew.preparing:
            return 0
        wanted = self._settings.workers + self._wanted_in_store() - len(self._leases)
        if self._settings.max_workunits is not None:
            wanted = min(wanted, self._settings.max_workunits - self._taken)
        return min(wanted, MOST_SLOTS)

    def _wanted_in_store(self) -> int:
        seconds = self._speed.workunit_seconds
        if seconds is None:
            return 1
        enough = math.ceil(self._settings.workers * STORE_SECONDS / max(seconds, 1e-4))
        return min(max(1, enough), MOST_IN_STORE)

    def _take(self, workunit: pb.Workunit) -> None:
        self._no_work = ""
        self._taken += 1
        self._leases[workunit.lease_id] = 0
        self._store.append(workunit)
        self._feed()

    def _feed(self) -> None:
        while self._store and self._crew.free and not self._stopping:
            self._crew.give(self._store.popleft())

    async def _wait_for_work(self, no_work: pb.NoWork) -> None:
        if no_work.message != self._no_work:
            self._no_work = no_work.message
            log.info("no work: %s", self._no_work)
        await asyncio.sleep(no_work.retry_after_ms / 1000 * random.uniform(0.5, 1.5))  # noqa: S311

    # -- what the workers say -------------------------------------------------------------

    def _hear(self, report: FromWorker) -> None:
        kind = report.WhichOneof("report")
        if kind == "progress":
            if report.progress.lease_id in self._leases:
                self._leases[report.progress.lease_id] = report.progress.nodes
        elif kind == "prepared":
            self._speed.measured(report.prepared.nodes_per_second)
        elif kind == "result":
            self._failures = 0
            self._leases.pop(report.result.lease_id, None)
            self._speed.finished(report.result.nodes, report.result.milliseconds / 1000)
            self._results.append(report.result)
            self._unsent.set()
        elif kind == "dropped":
            cause = pb.ReturnedLease.STOPPING if self._stopping else pb.ReturnedLease.DROPPED
            self._give_back(report.dropped.lease_id, report.dropped.nodes, cause)
        elif report.failed.lease_id:
            self._failures += 1
            log.error("a search failed: %s", report.failed.message)
            self._give_back(
                report.failed.lease_id, 0, pb.ReturnedLease.FAILED, report.failed.message
            )
        self._feed()
        self._changed.set()

    def _give_back(
        self, lease: int, nodes: int, cause: pb.ReturnedLease.Cause, message: str = ""
    ) -> None:
        self._leases.pop(lease, None)
        self._returns.append(
            pb.ReturnedLease(lease_id=lease, nodes=nodes, cause=cause, message=message)
        )
        self._unsent.set()

    # -- results go out -----------------------------------------------------------------

    async def _hand_in(self) -> None:
        """Hand in whatever is finished; ends when the owner wants no more."""
        limit = self._settings.max_workunits
        while limit is None or self._handed_in < limit:
            await self._unsent.wait()
            self._unsent.clear()
            await self._send()

    async def _send(self) -> None:
        while self._results:
            batch = self._results[:MOST_RESULTS_A_CALL]
            reply = await self._connection.submit_results(batch)
            for receipt in reply.receipts:
                if receipt.status == pb.Receipt.REFUSED:
                    log.error("result %d was refused: %s", receipt.lease_id, receipt.message)
            # Forgotten only now: until the receipt came they were ours to keep.
            del self._results[: len(batch)]
            self._handed_in += len(batch)
        while self._returns:
            batch_of_returns = self._returns[:MOST_RESULTS_A_CALL]
            await self._connection.return_work(batch_of_returns)
            del self._returns[: len(batch_of_returns)]
            if self._settings.max_workunits is not None:
                self._taken -= len(batch_of_returns)

    # -- heartbeats ---------------------------------------------------------------------

    async def _beat(self) -> None:
        while True:
            await asyncio.sleep(self._heartbeat_seconds)
            if not self._leases:
                continue
            reply = await self._connection.heartbeat(
                [
                    pb.LeaseProgress(lease_id=lease, nodes=nodes)
                    for lease, nodes in self._leases.items()
                ]
            )
            if reply.next_heartbeat_ms:
                self._heartbeat_seconds = max(SHORTEST_HEARTBEAT, reply.next_heartbeat_ms / 1000)
            for update in reply.leases:
                if update.directive == pb.LeaseUpdate.DROP:
                    self._drop(update.lease_id)

    def _drop(self, lease: int) -> None:
        for workunit in self._store:
            if workunit.lease_id == lease:
                self._store.remove(workunit)
                self._give_back(lease, 0, pb.ReturnedLease.DROPPED)
                self._changed.set()
                return
        self._crew.drop(lease)
