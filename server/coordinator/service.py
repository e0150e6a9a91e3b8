"""The RPCs about work. The gate has let the caller in and checked the form of the message."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, TypeVar

import grpc

from zermelo import __version__
from zermelo.proto import coordinator_pb2 as pb
from zermelo.proto import known, service
from zermelo.server.coordinator.batcher import Batcher
from zermelo.server.coordinator.gate import CALLER
from zermelo.server.coordinator.hosts import Hosts, instance_of
from zermelo.server.coordinator.leasing import Leasing
from zermelo.server.coordinator.metrics import CoordinatorMetrics
from zermelo.server.coordinator.refusals import RefusalError
from zermelo.server.coordinator.rows import (
    Beat,
    Directive,
    Host,
    HostId,
    Leased,
    Request,
    Returned,
)
from zermelo.server.coordinator.stock import Stock
from zermelo.server.coordinator.store import CoordinatorStore

log = logging.getLogger(__name__)

A = TypeVar("A")

LONGEST_WAIT_MS = 60_000
MOST_ROWS_A_BATCH = 2048
#: How long results and heartbeats are gathered: nobody waits for their replies to go on.
GATHER_SECONDS = 0.05

RETRY_MS = {
    pb.NoWork.NO_CAMPAIGN: 30_000,
    pb.NoWork.PAUSED: 30_000,
    pb.NoWork.ALL_LEASED: 1_000,
    pb.NoWork.OTHERS_ASKED: 5_000,
    pb.NoWork.TOO_MANY_LEASES: 10_000,
    pb.NoWork.STOPPING: 2_000,
}
ANSWERS = {pb.YES: "yes", pb.NO: "no", pb.EXHAUSTED: "exhausted"}
RECEIPTS = {
    "accepted": (pb.Receipt.ACCEPTED, ""),
    "duplicate": (pb.Receipt.DUPLICATE, ""),
    "late": (pb.Receipt.LATE, "the lease had ended before the result came"),
    "unknown": (pb.Receipt.REFUSED, "this host has no such lease"),
    "contradictory": (pb.Receipt.REFUSED, "the bounds do not give the answer"),
}
#: A result of a search that was ours, and is new.
TOOK_WORK = {pb.Receipt.ACCEPTED, pb.Receipt.LATE}
CAUSES = {
    "unknown": pb.LeaseUpdate.UNKNOWN,
    "finished": pb.LeaseUpdate.CAMPAIGN_FINISHED,
    "paused": pb.LeaseUpdate.CAMPAIGN_PAUSED,
    "withdrawn": pb.LeaseUpdate.WITHDRAWN,
    "expired": pb.LeaseUpdate.EXPIRED,
}


class Service:
    def __init__(
        self,
        store: CoordinatorStore,
        stock: Stock,
        leasing: Leasing,
        hosts: Hosts,
        metrics: CoordinatorMetrics,
        *,
        heartbeat_ms: int,
    ) -> None:
        self._store, self._stock, self._leasing, self._hosts = store, stock, leasing, hosts
        self._metrics = metrics
        self._heartbeat_ms = heartbeat_ms
        self.submitting: Batcher[list[Returned], list[str]] = Batcher(
            self._submit, weight=len, most=MOST_ROWS_A_BATCH, apart=GATHER_SECONDS
        )
        self.beating: Batcher[list[Beat], list[Directive]] = Batcher(
            self._beat, weight=len, most=MOST_ROWS_A_BATCH, apart=GATHER_SECONDS
        )
        self.listing: Batcher[None, list[str]] = Batcher(_once(store.running_games))
        self.looking: Batcher[None, tuple[int, int, bool]] = Batcher(_once(store.campaigns_open))

    # -- RPCs ---------------------------------------------------------------------------

    async def hello(self, request: pb.HelloRequest) -> pb.HelloReply:
        if request.protocol_version < service.OLDEST_PROTOCOL_VERSION:
            raise RefusalError(
                grpc.StatusCode.FAILED_PRECONDITION,
                service.TOO_OLD,
                f"this client speaks protocol {request.protocol_version}, this coordinator "
                f"{service.OLDEST_PROTOCOL_VERSION} to {service.PROTOCOL_VERSION}; "
                "install a newer zermelo",
            )
        user = CALLER.get().user
        self._hosts.admit_hello(user)
        await self._stock.written()
        host = await self._store.register_host(
            user,
            instance_of(request.host_key),
            name=_one_line(request.host_name),
            version=_one_line(request.client_version),
            slots=request.workers,
            speed=float(request.nodes_per_second),
            held=request.held_leases,
        )
        self._hosts.remember(request.host_key, host)
        return pb.HelloReply(
            protocol_version=service.PROTOCOL_VERSION,
            oldest_protocol_version=service.OLDEST_PROTOCOL_VERSION,
            server_version=__version__,
            heartbeat_ms=self._heartbeat_ms,
            longest_wait_ms=LONGEST_WAIT_MS,
            games=await self.listing(None),
        )

    async def request_work(self, request: pb.RequestWorkRequest) -> pb.RequestWorkReply:
        said = float(request.nodes_per_second)
        host = await self._hosts.calling(request.host_key, said)
        leased = await self._leasing.request(
            Request(host.id, host.user, request.slots, self._hosts.speed(host, said)),
            min(request.wait_ms, LONGEST_WAIT_MS) / 1000,
        )
        self._metrics.leased(len(leased))
        if leased:
            return pb.RequestWorkReply(workunits=[self._workunit(item) for item in leased])
        return pb.RequestWorkReply(no_work=await self._no_work(host))

    async def submit_results(self, request: pb.SubmitResultsRequest) -> pb.SubmitResultsReply:
        host = (await self._hosts.calling(request.host_key)).id
        receipts = await self.submitting([_returned(host, item) for item in request.results])
        self._metrics.received(receipts)
        reply = pb.SubmitResultsReply()
        for result, receipt in zip(request.results, receipts, strict=True):
            status, message = RECEIPTS[receipt]
            if status in TOOK_WORK:
                self._hosts.searched(host, result.nodes, result.milliseconds / 1000)
            reply.receipts.add(lease_id=result.lease_id, status=status, message=message)
        return reply

    async def heartbeat(self, request: pb.HeartbeatRequest) -> pb.HeartbeatReply:
        host = (await self._hosts.calling(request.host_key)).id
        beats = [Beat(host, item.lease_id, item.nodes) for item in request.leases]
        directives = await self.beating(beats) if beats else []
        reply = pb.HeartbeatReply(next_heartbeat_ms=self._heartbeat_ms)
        for item in directives:
            update = reply.leases.add(lease_id=item.lease, lease_ms=item.lease_ms)
            if item.directive == "continue":
                update.directive = pb.LeaseUpdate.CONTINUE
                update.lo, update.hi = item.lo or 0, item.hi or 0
            else:
                update.directive = pb.LeaseUpdate.DROP
                update.cause = CAUSES[item.directive]
        return reply

    async def return_work(self, request: pb.ReturnWorkRequest) -> pb.ReturnWorkReply:
        host = (await self._hosts.calling(request.host_key)).id
        for item in request.leases:
            if item.cause == pb.ReturnedLease.FAILED:
                log.warning(
                    "host %d failed on lease %d: %s", host, item.lease_id, _one_line(item.message)
                )
        await self._stock.written()
        returned = await self._store.return_leases(
            [Beat(host, item.lease_id, item.nodes) for item in request.leases]
        )
        if request.leaving:
            await self._store.return_other_leases(host, held=())
        return pb.ReturnWorkReply(returned=len(returned))

    # -- batches ------------------------------------------------------------------------

    async def _submit(self, calls: list[list[Returned]]) -> list[list[str]]:
        results = [item for call in calls for item in call]
        await self._stock.written(item.lease for item in results)
        receipts = await self._store.submit_results(results)
        return _cut(receipts, calls)

    async def _beat(self, calls: list[list[Beat]]) -> list[list[Directive]]:
        beats = [item for call in calls for item in call]
        await self._stock.written(item.lease for item in beats)
        directives = await self._store.heartbeat(beats)
        return _cut(directives, calls)

    # -- replies ------------------------------------------------------------------------

    def _workunit(self, item: Leased) -> pb.Workunit:
        workunit = pb.Workunit(
            lease_id=item.lease,
            campaign_id=item.campaign,
            game=item.game,
            position=item.position,
            history=item.history or b"",
            threshold=item.threshold,
            node_budget=item.node_budget,
            lease_ms=self._store.lease_ms,
        )
        if item.known:
            workunit.known.ParseFromString(item.known)
        return workunit

    async def _no_work(self, host: Host) -> pb.NoWork:
        running, paused, others_asked = await self.looking(None)
        if self._leasing.stopping:
            reason, message = pb.NoWork.STOPPING, "this coordinator is going down"
        elif running and (who := await self._store.quota_used_up(host)):
            reason = pb.NoWork.TOO_MANY_LEASES
            message = f"{who} may have no more workunits now; good results raise the number"
        elif running and others_asked:
            reason = pb.NoWork.OTHERS_ASKED
            message = "what is left waits for the answers of other users"
        elif running:
            reason = pb.NoWork.ALL_LEASED
            message = "everything worth asking is being worked on already"
        elif paused:
            reason, message = pb.NoWork.PAUSED, "the campaigns are paused"
        else:
            reason, message = pb.NoWork.NO_CAMPAIGN, "no campaign is open"
        return pb.NoWork(reason=reason, message=message, retry_after_ms=RETRY_MS[reason])


def _once(ask: Callable[[], Awaitable[A]]) -> Callable[[Sequence[None]], Awaitable[list[A]]]:
    """One answer for everybody who asks at the same moment."""

    async def answer(askers: Sequence[None]) -> list[A]:
        return [await ask()] * len(askers)

    return answer


def _returned(host: HostId, result: pb.Result) -> Returned:
    proved = None
    if result.HasField("proved") and result.proved.positions:
        known.from_message(result.proved)
        proved = result.proved.SerializeToString()
    return Returned(
        host=host,
        lease=result.lease_id,
        answer=ANSWERS[result.answer],
        lo=result.lo,
        hi=result.hi,
        nodes=result.nodes,
        seconds=result.milliseconds / 1000,
        proved=proved,
    )


def _cut(answers: list[Any], calls: list[list[Any]]) -> list[list[Any]]:
    """The answers to a batch, cut into the pieces that its calls asked for."""
    pieces, at = [], 0
    for call in calls:
        pieces.append(answers[at : at + len(call)])
        at += len(call)
    return pieces


def _one_line(text: str) -> str:
    """Text from outside, fit for a log and a table."""
    return "".join(char for char in text if char.isprintable())
