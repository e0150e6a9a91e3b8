"""Running a coordinator: the gRPC server, the notifications, the housekeeping."""

from __future__ import annotations

import asyncio
import gc
import logging
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import grpc
import psycopg
import uvloop
from grpc_health.v1 import health, health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection

from zermelo.proto.requests import MAX_REQUEST_BYTES
from zermelo.proto.service import (
    COORDINATOR,
    MAX_MESSAGE_BYTES,
    OPERATIONS,
    RESEARCH,
    SERVICES,
    VOLUNTEERS,
    methods_of,
    service_handler,
)
from zermelo.retry import Retry, first_line
from zermelo.server.coordinator.account_store import AccountStore, HostStore
from zermelo.server.coordinator.admission import Admission
from zermelo.server.coordinator.blocking_pool import BlockingPool
from zermelo.server.coordinator.definitions import Definitions
from zermelo.server.coordinator.holding import Holding
from zermelo.server.coordinator.hosts import Hosts
from zermelo.server.coordinator.leases import LeaseManager
from zermelo.server.coordinator.members import Members
from zermelo.server.coordinator.metrics import CoordinatorMetrics
from zermelo.server.coordinator.operations import Operations
from zermelo.server.coordinator.research import ReplyTo, Research, library
from zermelo.server.coordinator.service import Service
from zermelo.server.coordinator.settings import CoordinatorSettings
from zermelo.server.coordinator.statements import PooledStatements
from zermelo.server.coordinator.transport import bind
from zermelo.server.coordinator.volunteers import Volunteers
from zermelo.server.database import DATABASE, wait_for
from zermelo.server.metrics import CertificateCollector, DatabaseCollector, serve_metrics
from zermelo.server.vocabulary import Channel

log = logging.getLogger(__name__)

HOUSEKEEPING_SECONDS = 2.0
GRACE_SECONDS = 1.0
#: When to look for garbage in circles, which calls hardly leave: so seldom that no call waits for
#: a look at everything that thousands of clients keep in memory.
GARBAGE_THRESHOLDS = (20_000, 20, 50)
#: gRPC servers that share the port, each of which takes one call at a time: see `transport`.
SERVERS = 8
#: How many calls may wait to be looked at. gRPC would throw away some beyond a thousand, without
#: a word to the client; the queues behind are shorter, and say when to try again.
MOST_CALLS_WAITING = 50_000
#: Within which a connection must have come about, and after which one without calls ends.
HANDSHAKE_MS, IDLE_MS = 20_000, 600_000
#: How much of a request may come before it is asked for.
LOOKAHEAD_BYTES = 64 * 1024

#: What a coordinator serves behind its admission.
NAMES = tuple(served.full_name for served in SERVICES)
SERVER_OPTIONS = (
    ("grpc.so_reuseport", 1),
    ("grpc.max_receive_message_length", MAX_REQUEST_BYTES),
    # A compressed request is inflated by gRPC before anybody knows who sent it, and no client of
    # ours compresses: only the algorithm 0, "identity", is accepted.
    ("grpc.compression_enabled_algorithms_bitset", 1 << 0),
    # What comes of a request before it is asked for lies in memory.
    ("grpc.http2.bdp_probe", 0),
    ("grpc.http2.lookahead_bytes", LOOKAHEAD_BYTES),
    ("grpc.max_send_message_length", MAX_MESSAGE_BYTES),
    # Who connects says so at once, and who has nothing to say for long may come again.
    ("grpc.server_handshake_timeout_ms", HANDSHAKE_MS),
    ("grpc.max_connection_idle_ms", IDLE_MS),
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
    if not wait_for(url, stop):
        return
    gc.freeze()  # what is loaded by now is no garbage: looking for some there takes 40 ms
    gc.set_threshold(*GARBAGE_THRESHOLDS)
    uvloop.run(_serve(url, stop, settings, reply_to_researcher))


async def _serve(
    url: str,
    stop: threading.Event,
    settings: CoordinatorSettings,
    reply_to_researcher: ReplyTo | None,
) -> None:
    statements = PooledStatements(url)
    accounts, host_store = AccountStore(statements), HostStore(statements)
    leases = LeaseManager(
        statements, lease_seconds=settings.lease_seconds, limits_users=settings.require_token
    )
    hosts = Hosts(host_store, open_access=not settings.require_token)
    metrics = CoordinatorMetrics()
    holding = Holding()
    admission = Admission(accounts, settings, metrics, holding)
    # Volunteers wait for each other, never operators for them.
    pool, own = BlockingPool(url), BlockingPool(url)
    reading = library(settings.read_database or url)
    service = Service(leases, hosts, metrics, settings, admission.fine, holding)
    handlers = (
        service_handler(COORDINATOR, methods_of(
            service, Members(accounts, host_store), Definitions(statements)
        )),
        service_handler(OPERATIONS, lambda _: Operations(pool).serve),
        service_handler(VOLUNTEERS, lambda _: Volunteers(own).serve),
        service_handler(RESEARCH, lambda _: Research(reading, reply_to_researcher).serve),
    )
    healthy = health.aio.HealthServicer()
    # Known before the first probe can come: it is told "not ready", not "no such service".
    for name in NAMES:
        await healthy.set(name, health_pb2.HealthCheckResponse.NOT_SERVING)
    servers = [_server(admission, handlers, healthy) for _ in range(SERVERS)]
    certificate = bind(servers, settings)
    metrics.registry.register(DatabaseCollector(url))
    if certificate is not None:
        metrics.registry.register(CertificateCollector(certificate))
    serve_metrics(settings.metrics_listen, metrics.registry)
    await statements.open()

    def forget() -> None:
        admission.forget()
        hosts.forget()
        leases.forget()

    tasks = [
        asyncio.create_task(work)
        for work in (
            *leases.tasks(),
            *admission.tasks(),
            *hosts.tasks(),
            _listen(url, leases, forget),
            _keep_house(hosts, leases, healthy),
        )
    ]
    for server in servers:
        await server.start()
    await healthy.set("", health_pb2.HealthCheckResponse.SERVING)
    log.info("coordinator listens on %s", settings.listen)
    try:
        await _until(stop, tasks)
    finally:
        leases.stop()
        await healthy.enter_graceful_shutdown()
        await asyncio.gather(*(server.stop(GRACE_SECONDS) for server in servers))
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        with suppress(psycopg.OperationalError):  # then the holds end by themselves
            await leases.close()
        await pool.close()
        await own.close()
        await reading.close()
        await statements.close()


def _server(
    admission: Admission, handlers: tuple[grpc.GenericRpcHandler, ...], healthy: Any
) -> grpc.aio.Server:
    """One of the servers, which differ in nothing."""
    server = grpc.aio.server(options=SERVER_OPTIONS, interceptors=(admission,))
    server.add_generic_rpc_handlers(handlers)
    health_pb2_grpc.add_HealthServicer_to_server(healthy, server)
    reflection.enable_server_reflection(
        (*NAMES, health.SERVICE_NAME, reflection.SERVICE_NAME), server
    )
    return server


async def _until(stop: threading.Event, tasks: list[asyncio.Task[None]]) -> None:
    """Wait for `stop`, or for a task that fails and must not do so silently."""
    stopped = asyncio.create_task(asyncio.to_thread(stop.wait))
    done, _ = await asyncio.wait([stopped, *tasks], return_when=asyncio.FIRST_COMPLETED)
    for task in done:
        task.result()


async def _listen(url: str, leases: LeaseManager, forget: Callable[[], None]) -> None:
    """Wake waiting calls when the database says that there is work; forget what it changed."""
    retry = Retry(
        "cannot listen to the database", psycopg.OperationalError, log=log, outage=DATABASE
    )

    async def listen() -> None:
        connection = await psycopg.AsyncConnection.connect(
            url, autocommit=True, application_name="zermelo coordinator listen"
        )
        async with connection:
            for channel in (Channel.READY, Channel.CAMPAIGNS, Channel.ACCOUNTS):
                await connection.execute(psycopg.sql.SQL("LISTEN {}").format(
                    psycopg.sql.Identifier(channel)
                ))
            retry.reset()
            forget()
            leases.work_may_be_ready()
            async for notice in connection.notifies():
                if notice.channel == Channel.ACCOUNTS:
                    forget()
                else:
                    leases.work_may_be_ready()

    await retry.forever(listen)


async def _keep_house(
    hosts: Hosts, leases: LeaseManager, healthy: health.aio.HealthServicer
) -> None:
    """What must happen now and then, and may happen in several coordinators at once.

    So it is also what shows whether the database is there. Without it the process is as healthy
    as it was, and starting it again is no use: only its services are not ready.
    """
    while True:
        ready = health_pb2.HealthCheckResponse.SERVING
        for duty in (hosts.note_seen, leases.keep_house):
            try:
                await duty()
            except psycopg.OperationalError as error:
                DATABASE.began(first_line(error))
                ready = health_pb2.HealthCheckResponse.NOT_SERVING
        for name in NAMES:
            await healthy.set(name, ready)
        await asyncio.sleep(HOUSEKEEPING_SECONDS)
