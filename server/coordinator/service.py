"""The RPCs of the coordinator. What arrives is hostile until it was checked."""

from __future__ import annotations

import hashlib
import logging
import uuid
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from typing import Any, NoReturn

import grpc
import psycopg

from zermelo import __version__
from zermelo.proto import coordinator_pb2 as pb
from zermelo.proto import known, limits, service
from zermelo.proto.service import Handler
from zermelo.server.coordinator.batcher import Batcher, OverloadError
from zermelo.server.coordinator.leasing import Leasing
from zermelo.server.coordinator.store import (
    Beat,
    CoordinatorStore,
    Directive,
    HostId,
    Leased,
    Request,
    Returned,
)

log = logging.getLogger(__name__)

LONGEST_WAIT_MS = 60_000
MOST_HOSTS_REMEMBERED = 100_000
MOST_ROWS_A_BATCH = 2048
LONGEST_QUEUE = 10_000

RETRY_MS = {
    pb.NoWork.NO_CAMPAIGN: 30_000,
    pb.NoWork.PAUSED: 30_000,
    pb.NoWork.ALL_LEASED: 1_000,
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
CAUSES = {
    "unknown": pb.LeaseUpdate.UNKNOWN,
    "finished": pb.LeaseUpdate.CAMPAIGN_FINISHED,
    "paused": pb.LeaseUpdate.CAMPAIGN_PAUSED,
    "withdrawn": pb.LeaseUpdate.WITHDRAWN,
    "expired": pb.LeaseUpdate.EXPIRED,
}


class RefusalError(Exception):
    """A call that gets a gRPC status instead of a reply."""

    def __init__(self, code: grpc.StatusCode, reason: str, message: str) -> None:
        super().__init__(message)
        self.code, self.reason, self.message = code, reason, message


class Service:
    def __init__(self, store: CoordinatorStore, leasing: Leasing, *, heartbeat_ms: int) -> None:
        self._store = store
        self._leasing = leasing
        self._heartbeat_ms = heartbeat_ms
        self._hosts: OrderedDict[bytes, HostId] = OrderedDict()
        self.seen: dict[HostId, float] = {}
        self.submitting: Batcher[list[Returned], list[str]] = Batcher(
            self._submit, weight=len, most=MOST_ROWS_A_BATCH, longest=LONGEST_QUEUE
        )
        self.beating: Batcher[list[Beat], list[Directive]] = Batcher(
            self._beat, weight=len, most=MOST_ROWS_A_BATCH, longest=LONGEST_QUEUE
        )

    def handlers(self) -> dict[str, Handler]:
        return {
            "Hello": _guarded(self.hello),
            "RequestWork": _guarded(self.request_work),
            "SubmitResults": _guarded(self.submit_results),
            "Heartbeat": _guarded(self.heartbeat),
            "ReturnWork": _guarded(self.return_work),
        }

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
        host = await self._store.register_host(
            _instance(request.host_key),
            name=_one_line(request.host_name),
            version=_one_line(request.client_version),
            slots=request.workers,
            speed=float(request.nodes_per_second),
            held=request.held_leases,
        )
        self._remember(request.host_key, host)
        return pb.HelloReply(
            protocol_version=service.PROTOCOL_VERSION,
            oldest_protocol_version=service.OLDEST_PROTOCOL_VERSION,
            server_version=__version__,
            heartbeat_ms=self._heartbeat_ms,
            longest_wait_ms=LONGEST_WAIT_MS,
            games=await self._store.running_games(),
        )

    async def request_work(self, request: pb.RequestWorkRequest) -> pb.RequestWorkReply:
        host = await self._host(request.host_key, float(request.nodes_per_second))
        leased = await self._leasing.request(
            Request(host, request.slots, float(request.nodes_per_second)),
            min(request.wait_ms, LONGEST_WAIT_MS) / 1000,
        )
        if leased:
            return pb.RequestWorkReply(workunits=[self._workunit(item) for item in leased])
        return pb.RequestWorkReply(no_work=await self._no_work())

    async def submit_results(self, request: pb.SubmitResultsRequest) -> pb.SubmitResultsReply:
        host = await self._host(request.host_key)
        receipts = await self.submitting([_returned(host, item) for item in request.results])
        reply = pb.SubmitResultsReply()
        for result, receipt in zip(request.results, receipts, strict=True):
            status, message = RECEIPTS[receipt]
            reply.receipts.add(lease_id=result.lease_id, status=status, message=message)
        return reply

    async def heartbeat(self, request: pb.HeartbeatRequest) -> pb.HeartbeatReply:
        host = await self._host(request.host_key)
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
        host = await self._host(request.host_key)
        for item in request.leases:
            if item.cause == pb.ReturnedLease.FAILED:
                log.warning(
                    "host %d failed on lease %d: %s", host, item.lease_id, _one_line(item.message)
                )
        returned = await self._store.return_leases(
            [Beat(host, item.lease_id, item.nodes) for item in request.leases]
        )
        if request.leaving:
            await self._store.return_other_leases(host, held=())
        return pb.ReturnWorkReply(returned=len(returned))

    # -- hosts --------------------------------------------------------------------------

    async def _host(self, host_key: bytes, speed: float = 0.0) -> HostId:
        """Who is calling; noted as seen."""
        host = self._hosts.get(host_key)
        if host is None:
            host = await self._store.find_host(_instance(host_key))
            if host is None:
                raise RefusalError(
                    grpc.StatusCode.UNAUTHENTICATED,
                    service.UNKNOWN_HOST,
                    "this host is unknown here; call Hello first",
                )
            self._remember(host_key, host)
        self.seen[host] = speed or self.seen.get(host, 0.0)
        return host

    def _remember(self, host_key: bytes, host: HostId) -> None:
        self._hosts[host_key] = host
        if len(self._hosts) > MOST_HOSTS_REMEMBERED:
            self._hosts.popitem(last=False)

    # -- batches ------------------------------------------------------------------------

    async def _submit(self, calls: list[list[Returned]]) -> list[list[str]]:
        receipts = await self._store.submit_results([item for call in calls for item in call])
        return _cut(receipts, calls)

    async def _beat(self, calls: list[list[Beat]]) -> list[list[Directive]]:
        directives = await self._store.heartbeat([item for call in calls for item in call])
        return _cut(directives, calls)

    # -- replies ------------------------------------------------------------------------

    def _workunit(self, item: Leased) -> pb.Workunit:
        workunit = pb.Workunit(
            lease_id=item.lease,
            workunit_id=item.workunit,
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

    async def _no_work(self) -> pb.NoWork:
        running, paused = await self._store.campaigns_open()
        if self._leasing.stopping:
            reason, message = pb.NoWork.STOPPING, "this coordinator is going down"
        elif running:
            reason = pb.NoWork.ALL_LEASED
            message = "everything worth asking is being worked on already"
        elif paused:
            reason, message = pb.NoWork.PAUSED, "the campaigns are paused"
        else:
            reason, message = pb.NoWork.NO_CAMPAIGN, "no campaign is open"
        return pb.NoWork(reason=reason, message=message, retry_after_ms=RETRY_MS[reason])


def _guarded(rpc: Callable[[Any], Awaitable[Any]]) -> Handler:
    """The RPC with its request checked first and every failure given a proper status."""

    async def handler(request: Any, context: Any) -> Any:
        try:
            limits.check(request)
            return await rpc(request)
        except RefusalError as refusal:
            await _refuse(context, refusal.code, refusal.reason, refusal.message)
        except limits.LimitError as error:
            code = grpc.StatusCode.INVALID_ARGUMENT
            await _refuse(context, code, service.BROKEN_LIMIT, str(error))
        except OverloadError:
            code = grpc.StatusCode.RESOURCE_EXHAUSTED
            await _refuse(context, code, service.OVERLOADED, "too many calls; try again later")
        except psycopg.OperationalError:
            code = grpc.StatusCode.UNAVAILABLE
            await _refuse(context, code, service.DATABASE_AWAY, "the database cannot be reached")

    return handler


async def _refuse(context: Any, code: grpc.StatusCode, reason: str, message: str) -> NoReturn:
    await context.abort(code, message, ((service.REASON, reason),))
    raise AssertionError("abort returns never")


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


def _instance(host_key: bytes) -> uuid.UUID:
    """What the database knows a host by; it does not give away the host's key."""
    return uuid.UUID(bytes=hashlib.blake2b(host_key, digest_size=16).digest())


def _one_line(text: str) -> str:
    """Text from outside, fit for a log and a table."""
    return "".join(char for char in text if char.isprintable())
