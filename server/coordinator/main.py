"""Running a coordinator: the server, the notifications, the housekeeping."""

from __future__ import annotations

import asyncio
import gc
import logging
import threading
from collections.abc import Callable
from contextlib import suppress

import psycopg
import uvloop
from grpc_health.v1 import health, health_pb2

from zermelo.proto.requests import MAX_REQUEST_BYTES
from zermelo.proto.service import (
    COORDINATOR,
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
from zermelo.server.coordinator.methods import Methods
from zermelo.server.coordinator.metrics import CoordinatorMetrics
from zermelo.server.coordinator.operations import Operations
from zermelo.server.coordinator.research import ReplyTo, Research, library
from zermelo.server.coordinator.service import Service
from zermelo.server.coordinator.settings import CoordinatorSettings
from zermelo.server.coordinator.standard import add_standard_services
from zermelo.server.coordinator.statements import PooledStatements
from zermelo.server.coordinator.transport import bind
from zermelo.server.coordinator.volunteers import Volunteers
from zermelo.server.database import DATABASE, wait_for
from zermelo.server.http2.server import Http2Server, Patience
from zermelo.server.metrics import CertificateCollector, DatabaseCollector, serve_metrics
from zermelo.server.tasks import end
from zermelo.server.vocabulary import Channel

log = logging.getLogger(__name__)

HOUSEKEEPING_SECONDS = 2.0
GRACE_SECONDS = 1.0
#: When to look for garbage in circles, which calls hardly leave: so seldom that no call waits for
#: a look at everything that thousands of clients keep in memory.
GARBAGE_THRESHOLDS = (20_000, 20, 50)
#: How long callers are waited for.
PATIENCE = Patience(handshake=20.0, idle=600.0, stuck=60.0)

#: What a coordinator serves behind its admission.
NAMES = tuple(served.full_name for served in SERVICES)


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
    methods = Methods(admission.guard)
    methods.add_generic_rpc_handlers((
        service_handler(COORDINATOR, methods_of(
            service, Members(accounts, host_store), Definitions(statements)
        )),
        service_handler(OPERATIONS, lambda _: Operations(pool).serve),
        service_handler(VOLUNTEERS, lambda _: Volunteers(own).serve),
        service_handler(RESEARCH, lambda _: Research(reading, reply_to_researcher).serve),
    ))
    healthy = health.aio.HealthServicer()
    # Known before the first probe can come: it is told "not ready", not "no such service".
    for name in NAMES:
        await healthy.set(name, health_pb2.HealthCheckResponse.NOT_SERVING)
    add_standard_services(methods, healthy, NAMES)
    server = Http2Server(
        methods.find, most_request_bytes=MAX_REQUEST_BYTES, patience=PATIENCE
    )
    doors, certificate = bind(settings)
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
            _keep_house(statements, hosts, leases, healthy),
        )
    ]
    for door in doors:
        await server.serve(*door)
    await healthy.set("", health_pb2.HealthCheckResponse.SERVING)
    log.info("coordinator listens on %s", settings.listen)
    try:
        await _until(stop, tasks)
    finally:
        leases.stop()
        await healthy.enter_graceful_shutdown()
        await server.stop(GRACE_SECONDS)
        await end(tasks)
        with suppress(psycopg.OperationalError):  # then the holds end by themselves
            await leases.close()
        await pool.close()
        await own.close()
        await reading.close()
        await statements.close()


async def _until(stop: threading.Event, tasks: list[asyncio.Task[None]]) -> None:
    """Wait for `stop`, or for a task that fails and must not do so silently."""
    loop = asyncio.get_running_loop()
    stopped: asyncio.Future[None] = loop.create_future()

    def tell() -> None:
        stop.wait()
        with suppress(RuntimeError):  # a task had failed, and the loop has ended
            loop.call_soon_threadsafe(stopped.set_result, None)

    # Not a thread of the loop's: the end of a loop waits for those, and this one may wait for ever.
    threading.Thread(target=tell, name="stop", daemon=True).start()
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
                    continue
                if notice.channel == Channel.CAMPAIGNS:
                    leases.forget()  # whether answers are compared decides about quotas
                leases.work_may_be_ready()

    await retry.forever(listen)


async def _keep_house(
    statements: PooledStatements,
    hosts: Hosts,
    leases: LeaseManager,
    healthy: health.aio.HealthServicer,
) -> None:
    """What must happen now and then, and may happen in several coordinators at once.

    So it is also what shows whether the database is there. Without it the process is as healthy
    as it was, and starting it again is no use: only its services are not ready.
    """
    survived = DATABASE.count
    while True:
        ready = health_pb2.HealthCheckResponse.SERVING
        began, outages = DATABASE.clock(), DATABASE.count
        renewing = [statements.renew] if outages > survived else []
        for duty in (*renewing, hosts.note_seen, leases.keep_house):
            try:
                await duty()
            except psycopg.OperationalError as error:
                DATABASE.began(first_line(error), began)
                ready = health_pb2.HealthCheckResponse.NOT_SERVING
        if ready == health_pb2.HealthCheckResponse.SERVING:
            survived = outages
            DATABASE.ended(began)
        for name in NAMES:
            await healthy.set(name, ready)
        await asyncio.sleep(HOUSEKEEPING_SECONDS)
