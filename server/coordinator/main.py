"""Running a coordinator: the gRPC server, the notifications, the housekeeping."""

from __future__ import annotations

import asyncio
import gc
import logging
import threading
from collections.abc import Callable
from contextlib import suppress

import grpc
import psycopg
import uvloop
from grpc_health.v1 import health, health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection

from zermelo.proto.service import (
    COORDINATOR,
    MAX_MESSAGE_BYTES,
    OPERATIONS,
    RESEARCH,
    SERVICES,
    methods_of,
    service_handler,
)
from zermelo.retry import Backoff, Stopped
from zermelo.server.coordinator.account_store import AccountStore
from zermelo.server.coordinator.dealing import Dealer
from zermelo.server.coordinator.desk import Desk
from zermelo.server.coordinator.gate import Gate
from zermelo.server.coordinator.hosts import Hosts
from zermelo.server.coordinator.leasing import Leasing
from zermelo.server.coordinator.members import Members
from zermelo.server.coordinator.metrics import CoordinatorMetrics
from zermelo.server.coordinator.operations import Operations
from zermelo.server.coordinator.research import ReplyTo, Research, library
from zermelo.server.coordinator.service import Service
from zermelo.server.coordinator.settings import CoordinatorSettings
from zermelo.server.coordinator.statements import Statements
from zermelo.server.coordinator.stock import Stock
from zermelo.server.coordinator.store import CoordinatorStore
from zermelo.server.coordinator.terms import Terms
from zermelo.server.coordinator.transport import bind
from zermelo.server.database import connect
from zermelo.server.metrics import DatabaseCollector, serve_metrics
from zermelo.server.vocabulary import Channel

log = logging.getLogger(__name__)

HOUSEKEEPING_SECONDS = 2.0
GRACE_SECONDS = 1.0
#: How many calls may wait to be looked at. gRPC would throw away some beyond a thousand, without
#: a word to the client; the queues behind are shorter, and say when to try again.
MOST_CALLS_WAITING = 50_000

SERVER_OPTIONS = (
    # Two coordinators on one port must be an error, not a lottery.
    ("grpc.so_reuseport", 0),
    ("grpc.max_receive_message_length", MAX_MESSAGE_BYTES),
    ("grpc.max_send_message_length", MAX_MESSAGE_BYTES),
    ("grpc.keepalive_permit_without_calls", 1),
    ("grpc.http2.min_recv_ping_interval_without_data_ms", 10_000),
    ("grpc.server.max_pending_requests", MOST_CALLS_WAITING),
    ("grpc.server.max_pending_requests_hard_limit", MOST_CALLS_WAITING),
)


def run(
    url: str,
    stop: threading.Event,
    settings: CoordinatorSettings,
    reply_to_researcher: ReplyTo | None = None,
) -> None:
    """Serve until `stop` is set; waits for the database as long as it takes."""
    try:
        connect(url, stop).close()
    except Stopped:
        return
    gc.freeze()  # what is loaded by now is no garbage: looking for some there takes 40 ms
    uvloop.run(_serve(url, stop, settings, reply_to_researcher))


async def _serve(
    url: str,
    stop: threading.Event,
    settings: CoordinatorSettings,
    reply_to_researcher: ReplyTo | None,
) -> None:
    statements = Statements(url)
    accounts = AccountStore(statements)
    store = CoordinatorStore(
        statements, lease_seconds=settings.lease_seconds, limits_users=settings.require_token
    )
    stock = Stock(store)
    desk, reading = Desk(url), library(url)
    metrics = CoordinatorMetrics()
    terms = Terms(store, stock)
    dealer = Dealer(store, stock, terms)
    leasing = Leasing(store, dealer)
    hosts = Hosts(store, open_access=not settings.require_token)
    service = Service(
        store, stock, leasing, hosts, metrics,
        heartbeat_ms=round(settings.heartbeat_seconds * 1000),
    )  # fmt: skip
    gate = Gate(accounts, settings, metrics)
    server = grpc.aio.server(options=SERVER_OPTIONS, interceptors=(gate,))
    server.add_generic_rpc_handlers((
        service_handler(COORDINATOR, methods_of(service, Members(accounts, store))),
        service_handler(OPERATIONS, lambda _: Operations(desk).serve),
        service_handler(RESEARCH, lambda _: Research(reading, reply_to_researcher).serve),
    ))
    names = tuple(served.full_name for served in SERVICES)
    healthy = health.aio.HealthServicer()
    health_pb2_grpc.add_HealthServicer_to_server(healthy, server)
    reflection.enable_server_reflection(
        (*names, health.SERVICE_NAME, reflection.SERVICE_NAME), server
    )
    bind(server, settings)
    metrics.registry.register(DatabaseCollector(url))
    serve_metrics(settings.metrics_listen, metrics.registry)
    await statements.open()

    def forget() -> None:
        gate.forget()
        hosts.forget()
        terms.forget()

    tasks = [
        asyncio.create_task(work)
        for work in (
            leasing.run(),
            stock.write(),
            dealer.keep_stocked(leasing.stock_is_filled),
            dealer.keep_informed(),
            service.submitting.run(),
            service.beating.run(),
            service.listing.run(),
            service.looking.run(),
            gate.finding.run(),
            hosts.finding.run(),
            _listen(url, leasing, forget),
            _keep_house(store, hosts, dealer),
        )
    ]
    await server.start()
    for part in ("", *names):
        await healthy.set(part, health_pb2.HealthCheckResponse.SERVING)
    log.info("coordinator listens on %s", settings.listen)
    try:
        await _until(stop, tasks)
    finally:
        leasing.stop()
        await healthy.enter_graceful_shutdown()
        await server.stop(GRACE_SECONDS)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        with suppress(psycopg.OperationalError):  # then the holds end by themselves
            await stock.close()
        await desk.close()
        await reading.close()
        await statements.close()


async def _until(stop: threading.Event, tasks: list[asyncio.Task[None]]) -> None:
    """Wait for `stop`, or for a task that fails and must not do so silently."""
    stopped = asyncio.create_task(asyncio.to_thread(stop.wait))
    done, _ = await asyncio.wait([stopped, *tasks], return_when=asyncio.FIRST_COMPLETED)
    for task in done:
        task.result()


async def _listen(url: str, leasing: Leasing, forget: Callable[[], None]) -> None:
    """Wake waiting calls when the database says that there is work; forget what it changed."""
    backoff = Backoff()
    while True:
        try:
            connection = await psycopg.AsyncConnection.connect(
                url, autocommit=True, application_name="zermelo coordinator listen"
            )
            async with connection:
                for channel in (Channel.READY, Channel.FINISHED, Channel.ACCOUNTS):
                    await connection.execute(psycopg.sql.SQL("LISTEN {}").format(
                        psycopg.sql.Identifier(channel)
                    ))
                backoff.reset()
                forget()
                leasing.work_may_be_ready()
                async for notice in connection.notifies():
                    if notice.channel == Channel.ACCOUNTS:
                        forget()
                    else:
                        leasing.work_may_be_ready()
        except psycopg.OperationalError as error:
            pause = backoff.next()
            log.warning("cannot listen to the database: %s; again in %.1f s", error, pause)
            await asyncio.sleep(pause)


async def _keep_house(store: CoordinatorStore, hosts: Hosts, dealer: Dealer) -> None:
    """What must happen now and then, and may happen in several coordinators at once."""

    async def expire() -> None:
        if expired := await store.expire_leases():
            log.info("%d leases expired without progress", expired)
        if lost := await store.end_holds():
            log.info("%d workunits are ready again that a coordinator held and lost", lost)

    async def look_for_checks() -> None:
        dealer.probe_rate = await store.probe_rate()
        dealer.work_may_be_ready()  # in case the word of it was lost with a connection

    duties = (hosts.note_seen, expire, look_for_checks)
    while True:
        for duty in duties:
            try:
                await duty()
            except psycopg.OperationalError as error:
                log.warning("housekeeping failed: %s", error)
        await asyncio.sleep(HOUSEKEEPING_SECONDS)
