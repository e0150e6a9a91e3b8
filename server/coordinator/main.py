"""Running a coordinator: the gRPC server, the notifications, the housekeeping."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Awaitable, Callable

import grpc
import psycopg
from grpc_health.v1 import health, health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection

from zermelo import ZermeloError
from zermelo.proto import service as proto_service
from zermelo.server.coordinator.leasing import Leasing
from zermelo.server.coordinator.service import Service
from zermelo.server.coordinator.settings import CoordinatorSettings
from zermelo.server.coordinator.store import CoordinatorStore
from zermelo.server.database import Backoff, Stopped, connect

log = logging.getLogger(__name__)

HOUSEKEEPING_SECONDS = 2.0
GRACE_SECONDS = 1.0

SERVER_OPTIONS = (
    # Two coordinators on one port must be an error, not a lottery.
    ("grpc.so_reuseport", 0),
    ("grpc.max_receive_message_length", proto_service.MAX_MESSAGE_BYTES),
    ("grpc.max_send_message_length", proto_service.MAX_MESSAGE_BYTES),
    ("grpc.keepalive_permit_without_calls", 1),
    ("grpc.http2.min_recv_ping_interval_without_data_ms", 10_000),
)


class PortTakenError(ZermeloError):
    """The coordinator cannot listen where it was told to."""

    exit_code = 5


def run(url: str, stop: threading.Event, settings: CoordinatorSettings) -> None:
    """Serve until `stop` is set; waits for the database as long as it takes."""
    try:
        connect(url, stop).close()
    except Stopped:
        return
    asyncio.run(_serve(url, stop, settings))


async def _serve(url: str, stop: threading.Event, settings: CoordinatorSettings) -> None:
    store = CoordinatorStore(url, lease_seconds=settings.lease_seconds)
    leasing = Leasing(store)
    service = Service(store, leasing, heartbeat_ms=round(settings.heartbeat_seconds * 1000))
    server = grpc.aio.server(options=SERVER_OPTIONS)
    server.add_generic_rpc_handlers(
        (proto_service.coordinator_handler(service.handlers()),)
    )
    name = proto_service.SERVICE.full_name
    healthy = health.aio.HealthServicer()
    health_pb2_grpc.add_HealthServicer_to_server(healthy, server)
    reflection.enable_server_reflection(
        (name, health.SERVICE_NAME, reflection.SERVICE_NAME), server
    )
    _bind(server, settings.listen)
    await store.open()
    tasks = [
        asyncio.create_task(work)
        for work in (
            leasing.run(),
            service.submitting.run(),
            service.beating.run(),
            _listen(url, leasing),
            _keep_house(store, service),
        )
    ]
    await server.start()
    for part in ("", name):
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
        await store.close()


def _bind(server: grpc.aio.Server, listen: str) -> None:
    try:
        bound = server.add_insecure_port(listen)
    except RuntimeError as error:
        raise PortTakenError(
            f"cannot listen on {listen}: the port is taken or the address is not ours; "
            "stop the other program or choose another --listen"
        ) from error
    if not bound:
        raise PortTakenError(f"cannot listen on {listen}")


async def _until(stop: threading.Event, tasks: list[asyncio.Task[None]]) -> None:
    """Wait for `stop`, or for a task that fails and must not do so silently."""
    stopped = asyncio.create_task(asyncio.to_thread(stop.wait))
    done, _ = await asyncio.wait([stopped, *tasks], return_when=asyncio.FIRST_COMPLETED)
    for task in done:
        task.result()


async def _listen(url: str, leasing: Leasing) -> None:
    """Wake waiting calls when the database says that there is work."""
    backoff = Backoff()
    while True:
        try:
            connection = await psycopg.AsyncConnection.connect(
                url, autocommit=True, application_name="zermelo coordinator listen"
            )
            async with connection:
                for channel in ("zermelo_ready", "zermelo_finished"):
                    await connection.execute(psycopg.sql.SQL("LISTEN {}").format(
                        psycopg.sql.Identifier(channel)
                    ))
                backoff.reset()
                leasing.work_may_be_ready()
                async for _ in connection.notifies():
                    leasing.work_may_be_ready()
        except psycopg.OperationalError as error:
            pause = backoff.next()
            log.warning("cannot listen to the database: %s; again in %.1f s", error, pause)
            await asyncio.sleep(pause)


async def _keep_house(store: CoordinatorStore, service: Service) -> None:
    """What must happen now and then, and may happen in several coordinators at once."""

    async def note_hosts() -> None:
        seen, service.seen = service.seen, {}
        await store.hosts_seen(seen)

    async def expire() -> None:
        if expired := await store.expire_leases():
            log.info("%d leases expired without progress", expired)

    duties: tuple[Callable[[], Awaitable[None]], ...] = (note_hosts, expire)
    while True:
        await asyncio.sleep(HOUSEKEEPING_SECONDS)
        for duty in duties:
            try:
                await duty()
            except psycopg.OperationalError as error:
                log.warning("housekeeping failed: %s", error)
