"""Which host calls: remembered between calls, and noted as seen."""

from __future__ import annotations

import asyncio
import hashlib
import logging
import time
import uuid
from collections import OrderedDict
from collections.abc import Coroutine
from typing import Any

import grpc
import psycopg

from zermelo.proto import service
from zermelo.retry import Retry
from zermelo.server.coordinator.account_store import Host, HostStore, Introduction, Seen
from zermelo.server.coordinator.admission import ACCOUNT
from zermelo.server.coordinator.batcher import Batcher
from zermelo.server.coordinator.leases import HostId
from zermelo.server.coordinator.rates import Rate, RateLimiter
from zermelo.server.coordinator.refusals import RefusalError, banned, too_fast
from zermelo.server.database import DATABASE

log = logging.getLogger(__name__)

MOST_HOSTS_REMEMBERED = 100_000
#: Calls of one host. A busy client makes a few a second.
HOST_RATE = Rate(per_second=50, burst=200)
#: Where access is open everybody is a friend, and a client next door hands in small
#: workunits one by one.
FRIENDLY_HOST_RATE = Rate(per_second=1000, burst=4000)

#: A call counts as another for each of these leases that it is about.
LEASES_A_CALL = 8

#: A shorter search tells more about its overhead than about the host.
TELLING_SECONDS = 0.01

#: A host of which nothing is known but that it called is noted as often as this.
NOTE_SECONDS = 10.0

#: Hosts of one account that introduce themselves: each may be a new one, and is remembered.
HELLO_RATE = Rate(per_second=2, burst=1000)


class Hosts:
    def __init__(self, store: HostStore, *, open_access: bool) -> None:
        self._store = store
        self._hosts: OrderedDict[bytes, Host] = OrderedDict()
        #: How often somebody changed a host.
        self.changes = 0
        self._finding: Batcher[uuid.UUID, Host | None] = Batcher(store.find_hosts)
        self._registering: Batcher[Introduction, Host] = Batcher(store.register_hosts)
        self._rates = RateLimiter(FRIENDLY_HOST_RATE if open_access else HOST_RATE)
        self._hellos = RateLimiter(FRIENDLY_HOST_RATE if open_access else HELLO_RATE)
        #: The hosts that called since they were last noted, and what their calls told.
        self._seen: dict[HostId, Seen] = {}
        #: When each was noted last.
        self._noted_at: dict[HostId, float] = {}
        self._speeds: dict[HostId, float] = {}
        #: Set when a host has said how fast it is that nothing was known of.
        self._news = asyncio.Event()

    def tasks(self) -> list[Coroutine[Any, Any, None]]:
        """What must run as long as this is used."""
        return [self._finding.run(), self._registering.run(), self._note_news()]

    def forget(self) -> None:
        """Somebody changed a host: ask the database about all of them again."""
        self.changes += 1
        self._hosts.clear()
        self._speeds.clear()

    async def note_seen(self) -> None:
        """Tell the database who called, and learn how fast they are."""
        now = time.monotonic()
        due = {
            host: seen for host, seen in self._seen.items()
            if seen.seconds or now - self._noted_at.get(host, -NOTE_SECONDS) >= NOTE_SECONDS
        }  # fmt: skip
        self._seen = {host: seen for host, seen in self._seen.items() if host not in due}
        for remembered in (self._speeds, self._noted_at):
            if len(remembered) > MOST_HOSTS_REMEMBERED:
                remembered.clear()
        self._noted_at.update(dict.fromkeys(due, now))
        self._speeds.update(await self._store.hosts_seen(due))

    async def _note_news(self) -> None:
        """Tell the database of speeds that it does not know: workunits are cut by them."""

        async def note() -> None:
            await self._news.wait()
            self._news.clear()
            await self.note_seen()

        retry = Retry("cannot note hosts", psycopg.OperationalError, log=log, outage=DATABASE)
        await retry.forever(note)

    def speed(self, host: Host, said: float) -> float:
        """Nodes a second: by its record, or by what the host says while that is too short."""
        return self._speeds.get(host.id, host.speed) or said

    def searched(self, host: HostId, nodes: int, seconds: float) -> None:
        """A search of this host took this effort, by its result."""
        if seconds >= TELLING_SECONDS:
            seen = self._seen.setdefault(host, Seen())
            seen.nodes += nodes
            seen.seconds += seconds

    async def calling(self, host_key: bytes, speed: float = 0.0, leases: int = 0) -> Host:
        """The host that calls, about this number of leases; a refusal when it may not."""
        host, changes = self._hosts.get(host_key), self.changes
        if host is None:
            host = await self._finding(host_key_digest(host_key))
        if host is None or host.user != ACCOUNT.get().user:
            raise RefusalError(
                grpc.StatusCode.UNAUTHENTICATED, service.UNKNOWN_HOST,
                "this host is unknown here; call Hello first",
            )  # fmt: skip
        self.remember(host_key, host, changes)
        self._rates.charge(host.id, leases // LEASES_A_CALL)
        seen = self._seen.setdefault(host.id, Seen())
        seen.speed = speed or seen.speed
        if speed and host.id not in self._noted_at:
            self._news.set()
        return host

    async def look_again(self, host_key: bytes) -> None:
        """A refusal for a host that was banned while its call waited."""
        host = await self._finding(host_key_digest(host_key))
        if host is not None:
            _refuse_banned(host)

    async def register(self, host_key: bytes, **said: Any) -> Host:
        """The host that says hello, with these fields of an `Introduction`, a new one perhaps; a
        refusal when it may not.
        """
        user = ACCOUNT.get().user
        _slow_down(self._hellos.wait_needed(user), "too many hosts of this account say hello")
        return await self._registering(Introduction(user, host_key_digest(host_key), **said))

    def remember(self, host_key: bytes, host: Host, changes: int) -> None:
        """Keep a host for its next calls; a refusal when it is banned or too fast.

        It was looked up when there had been that number of `changes`: if there were more since,
        its next call looks it up again.
        """
        _refuse_banned(host)
        if changes == self.changes:
            self._hosts[host_key] = host
        if len(self._hosts) > MOST_HOSTS_REMEMBERED:
            self._hosts.popitem(last=False)
        _slow_down(self._rates.wait_needed(host.id), "this host calls too often; slow down")


def _refuse_banned(host: Host) -> None:
    if host.banned:
        raise RefusalError(
            grpc.StatusCode.PERMISSION_DENIED, service.BANNED, banned("host", host.ban_reason)
        )


def _slow_down(seconds: float, message: str) -> None:
    if seconds:
        raise too_fast(seconds, message)


def host_key_digest(host_key: bytes) -> uuid.UUID:
    """What the database knows a host by; it does not give away the host's key."""
    return uuid.UUID(bytes=hashlib.blake2b(host_key, digest_size=16).digest())
