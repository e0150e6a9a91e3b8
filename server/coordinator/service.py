"""The RPCs about work: messages to and from leases.

Admission has let the caller in and checked the form of the message.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable

import grpc

from zermelo import __version__
from zermelo.proto import coordinator_pb2 as pb
from zermelo.proto import service
from zermelo.server.coordinator.account_store import Host
from zermelo.server.coordinator.below import fault_below
from zermelo.server.coordinator.holding import LONGEST_SECONDS, Holding
from zermelo.server.coordinator.hosts import Hosts
from zermelo.server.coordinator.leases import (
    HostId,
    Leased,
    LeaseManager,
    Progress,
    Question,
    Request,
    Returned,
)
from zermelo.server.coordinator.metrics import CoordinatorMetrics
from zermelo.server.coordinator.refusals import RefusalError
from zermelo.server.coordinator.settings import CoordinatorSettings
from zermelo.server.trust.shortage import Shortage
from zermelo.texts import one_line

log = logging.getLogger(__name__)

LONGEST_WAIT_MS = 60_000

#: What a call without work is told besides the sentence: the reason, and when to ask again, in ms.
NO_WORK = {
    Shortage.STOPPING: (pb.NoWork.STOPPING, 2_000),
    Shortage.HOST_RESTS: (pb.NoWork.TOO_MANY_LEASES, 30_000),
    Shortage.HOST_QUOTA: (pb.NoWork.TOO_MANY_LEASES, 10_000),
    Shortage.USER_QUOTA: (pb.NoWork.TOO_MANY_LEASES, 10_000),
    Shortage.OTHERS_ASKED: (pb.NoWork.OTHERS_ASKED, 5_000),
    Shortage.ALL_LEASED: (pb.NoWork.ALL_LEASED, 1_000),
    Shortage.PAUSED: (pb.NoWork.PAUSED, 30_000),
    Shortage.NO_CAMPAIGN: (pb.NoWork.NO_CAMPAIGN, 30_000),
}
ANSWERS = {pb.YES: "yes", pb.NO: "no", pb.EXHAUSTED: "exhausted"}
RECEIPTS = {
    "accepted": (pb.Receipt.ACCEPTED, ""),
    "duplicate": (pb.Receipt.DUPLICATE, ""),
    "late": (pb.Receipt.LATE, "the lease had ended before the result came"),
    "unknown": (pb.Receipt.REFUSED, "this host has no such lease"),
    "contradictory": (pb.Receipt.REFUSED, "the bounds do not give the answer"),
}
#: A result for a lease that the host never had counts as CALLS_A_REFUSAL more calls, and where a
#: request has many of them as one for each REFUSALS_A_CALL: a client of ours sends a few after a
#: crash, and the largest request that is legal takes 14 ms to refuse.
CALLS_A_REFUSAL, REFUSALS_A_CALL = 4, 4
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
        leases: LeaseManager,
        hosts: Hosts,
        metrics: CoordinatorMetrics,
        settings: CoordinatorSettings,
        fine: Callable[[int], None],
        holding: Holding,
    ) -> None:
        """`fine` counts the call that is being served as more calls of its account."""
        self._leases, self._hosts = leases, hosts
        self._metrics, self._fine, self._holding = metrics, fine, holding
        self._keeps_store = settings.require_token
        self._heartbeat_ms = round(settings.heartbeat_seconds * 1000)
        self._lease_ms = round(settings.lease_seconds * 1000)

    async def hello(self, request: pb.HelloRequest) -> pb.HelloReply:
        if request.protocol_version < service.OLDEST_PROTOCOL_VERSION:
            raise RefusalError(
                grpc.StatusCode.FAILED_PRECONDITION,
                service.TOO_OLD,
                f"this client speaks protocol {request.protocol_version}, this coordinator "
                f"{service.OLDEST_PROTOCOL_VERSION} to {service.PROTOCOL_VERSION}; "
                "install a newer zermelo",
            )
        changes = self._hosts.changes
        host = await self._hosts.register(
            request.host_key,
            name=one_line(request.host_name),
            version=one_line(request.client_version),
            workers=request.workers,
            speed=float(request.speed),
            cores=request.cores,
            memory_mb=request.memory_mb,
            platform=one_line(request.platform),
        )
        await self._leases.give_back_others(host.id, request.held_leases)
        self._leases.told.has_news(host.user)
        self._hosts.remember(request.host_key, host, changes)
        notice, target = await self._leases.told_to_volunteers()
        return pb.HelloReply(
            protocol_version=service.PROTOCOL_VERSION,
            oldest_protocol_version=service.OLDEST_PROTOCOL_VERSION,
            server_version=__version__,
            heartbeat_ms=self._heartbeat_ms,
            longest_wait_ms=LONGEST_WAIT_MS,
            notice=notice,
            games=await self._leases.running_games(),
            # Where all callers are the operator's own, work waits for nobody.
            store_ms=round(target * 1000) if self._keeps_store else 0,
        )

    async def request_work(self, request: pb.RequestWorkRequest) -> pb.RequestWorkReply:
        said = float(request.speed)
        host = await self._hosts.calling(request.host_key, said)
        # Who waits is served as soon as there is room, in statements shared by all who wait.
        if not request.wait_ms and (told := await self._told_again(host)):
            return _no_work(told)
        page = self._leases.told.page(host.user)  # as of now: news may come while it waits
        leased = await self._leases.request(
            Request(host.id, host.user, request.wanted, self._hosts.speed(host, said)),
            min(request.wait_ms, LONGEST_WAIT_MS) / 1000,
        )
        self._metrics.leased(len(leased))
        if leased:
            return pb.RequestWorkReply(workunits=[self._workunit(item) for item in leased])
        shortage = await self._leases.shortage(host.id, host.user)
        if shortage is Shortage.HOST_RESTS:  # as one does that was banned a moment ago
            await self._hosts.look_again(request.host_key)
        _, retry_ms = NO_WORK[shortage]
        self._leases.told.tell(page, host.id, shortage, retry_ms / 1000)
        return _no_work(shortage)

    async def _told_again(self, host: Host) -> Shortage | None:
        """What a host is told, late, that asks again too soon."""
        told = self._leases.told
        if told.again(host.id, host.user):
            await self._holding.hold(host.user, LONGEST_SECONDS)
        return told.again(host.id, host.user)

    async def submit_results(self, request: pb.SubmitResultsRequest) -> pb.SubmitResultsReply:
        calling = await self._hosts.calling(request.host_key, leases=len(request.results))
        host = calling.id
        told = [item.lease_id for item in request.results if item.HasField("proved")]
        questions = await self._leases.questions(host, told) if told else {}
        receipts = await self._leases.submit([
            _returned(host, item, questions.get(item.lease_id)) for item in request.results
        ])
        self._metrics.received(receipts)
        self._fine(calls_for_refusals(receipts.count("unknown")))
        if set(receipts) != {"unknown"}:
            self._leases.leases_ended(calling.user)
        reply = pb.SubmitResultsReply()
        for result, receipt in zip(request.results, receipts, strict=True):
            status, message = RECEIPTS[receipt]
            if status in TOOK_WORK:
                self._hosts.searched(host, result.nodes, result.milliseconds / 1000)
            reply.receipts.add(lease_id=result.lease_id, status=status, message=message)
        return reply

    async def heartbeat(self, request: pb.HeartbeatRequest) -> pb.HeartbeatReply:
        calling = await self._hosts.calling(request.host_key, leases=len(request.leases))
        host = calling.id
        reply = pb.HeartbeatReply(next_heartbeat_ms=self._heartbeat_ms)
        for item in await self._leases.heartbeat(_progress(host, request.leases)):
            update = reply.leases.add(lease_id=item.lease, lease_ms=item.lease_ms)
            if item.directive == "continue":
                update.directive = pb.LeaseUpdate.CONTINUE
                update.lo, update.hi = item.lo or 0, item.hi or 0
            else:
                update.directive = pb.LeaseUpdate.DROP
                update.cause = CAUSES[item.directive]
                if item.directive != "unknown":
                    self._leases.told.has_news(calling.user)
        return reply

    async def return_work(self, request: pb.ReturnWorkRequest) -> pb.ReturnWorkReply:
        calling = await self._hosts.calling(request.host_key, leases=len(request.leases))
        host = calling.id
        for item in request.leases:
            if item.cause == pb.ReturnedLease.FAILED:
                log.warning(
                    "host %d failed on lease %d: %s", host, item.lease_id, one_line(item.message)
                )
        returned = await self._leases.give_back(_progress(host, request.leases))
        if request.leaving:
            await self._leases.give_back_others(host, held=())
        if returned:
            self._leases.leases_ended(calling.user)
        else:
            self._leases.told.has_news(calling.user)
        return pb.ReturnWorkReply(returned=returned)

    def _workunit(self, item: Leased) -> pb.Workunit:
        workunit = pb.Workunit(
            lease_id=item.lease,
            campaign_id=item.campaign,
            game=item.game,
            position=item.position,
            history=item.history or b"",
            threshold=item.threshold,
            node_budget=item.node_budget,
            lease_ms=self._lease_ms,
        )
        if item.known:
            workunit.known.ParseFromString(item.known)
        return workunit


def calls_for_refusals(refused: int) -> int:
    """How many calls a request with results for unknown leases counts as."""
    return refused * max(CALLS_A_REFUSAL, refused // REFUSALS_A_CALL)


def _no_work(shortage: Shortage) -> pb.RequestWorkReply:
    reason, retry_ms = NO_WORK[shortage]
    return pb.RequestWorkReply(
        no_work=pb.NoWork(reason=reason, message=shortage.value, retry_after_ms=retry_ms)
    )


def _progress(
    host: HostId, leases: Iterable[pb.LeaseProgress | pb.ReturnedLease]
) -> list[Progress]:
    return [Progress(host, item.lease_id, item.nodes) for item in leases]


def _returned(host: HostId, result: pb.Result, question: Question | None) -> Returned:
    """A result; what it proved below is kept as far as a search for this `question` can prove."""
    proved = None
    if question is not None and result.answer == pb.EXHAUSTED and result.proved.positions:
        if fault := fault_below(result.proved, question):
            log.warning("host %d, lease %d: %s; left out", host, result.lease_id, fault)
        else:
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
