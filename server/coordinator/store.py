"""The coordinator's side of the database: named queries, a batch of calls at a time."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from psycopg import AsyncConnection, errors
from psycopg_pool import AsyncConnectionPool

from zermelo.proto import coordinator_pb2 as pb
from zermelo.server.coordinator.matching import (
    Again,
    Assignment,
    Slot,
    lease_parameters,
    leases_of_block,
)
from zermelo.server.trust.accounts import ANONYMOUS, AccountError, Caller, Role, UserId
from zermelo.sql import query

HostId = int
LeaseId = int
Pool = AsyncConnectionPool[AsyncConnection[Any]]
Configure = Callable[[AsyncConnection[Any]], Awaitable[None]]

POOL_CONNECTIONS = 6
PROMISE_CONNECTIONS = 4
POOL_WAIT_SECONDS = 3.0
ATTEMPTS = 5

#: Nodes a second of a host that has not said how fast it is.
DEFAULT_SPEED = 100_000.0


class Host(NamedTuple):
    id: HostId
    user: UserId
    banned: bool
    #: Nodes a second, by what its searches took; 0 while they are too few to tell.
    speed: float = 0.0


@dataclass(slots=True)
class Seen:
    """What calls of a host told since the last time."""

    #: What it says of itself, in nodes a second.
    speed: float = 0.0
    #: What the searches of its results took.
    nodes: int = 0
    seconds: float = 0.0


class Request(NamedTuple):
    """One call for work."""

    host: HostId
    user: UserId
    slots: int
    speed: float


class Leased(NamedTuple):
    """One workunit handed out; `request` counts from 1 within the batch."""

    request: int
    lease: LeaseId
    workunit: int
    campaign: int
    game: str
    position: bytes
    history: bytes | None
    threshold: int
    node_budget: int
    known: bytes | None


class Returned(NamedTuple):
    """One result as it came in, its form already checked."""

    host: HostId
    lease: LeaseId
    answer: str
    lo: int
    hi: int
    nodes: int
    seconds: float
    proved: bytes | None


class Beat(NamedTuple):
    """The progress of one lease."""

    host: HostId
    lease: LeaseId
    nodes: int


class Directive(NamedTuple):
    """What the client is to do about a lease, and what is known about its node."""

    lease: LeaseId
    directive: str
    lease_ms: int
    lo: int | None
    hi: int | None


class CoordinatorStore:
    def __init__(
        self, url: str, *, lease_seconds: float, limits_users: bool = True
    ) -> None:
        self._lease_seconds = lease_seconds
        #: Whether users have quotas; where all callers share an account it has none.
        self.limits_users = limits_users
        self._shared: Caller | None = None
        self.lease_ms = round(lease_seconds * 1000)
        #: For what must not be lost once somebody was told of it.
        self._pool = _pool(url, POOL_CONNECTIONS, configure=_prepare)
        #: For promises: a crash that undoes the latest of them costs work, nothing else.
        self._promises = _pool(url, PROMISE_CONNECTIONS, configure=_prepare_for_promises)

    async def open(self) -> None:
        await asyncio.gather(self._pool.open(), self._promises.open())

    async def close(self) -> None:
        await asyncio.gather(self._pool.close(), self._promises.close())

    # -- accounts -----------------------------------------------------------------------

    async def find_caller(self, digest: bytes) -> Caller | None:
        rows = await self._run("find_caller", {"digest": digest})
        if not rows:
            return None
        user, role, name, banned = rows[0]
        return Caller(user, Role(role), name, banned)

    async def shared_caller(self) -> Caller:
        """The account of everybody who calls without a token, where that is allowed."""
        if self._shared is None:
            rows = await self._run("ensure_user", {"name": ANONYMOUS})
            self._shared = Caller(rows[0][0], Role.VOLUNTEER, ANONYMOUS, banned=False)
        return self._shared

    async def open_account(self, name: str, team: str, digest: bytes) -> bool:
        """Whether the account of this name has this token, from now on or since an earlier
        call; False if it is somebody else's. `AccountError` if the token is of another one.
        """
        async with self._pool.connection() as connection, connection.transaction():
            team_id = None
            if team:
                cursor = await connection.execute(query("ensure_team"), {"name": team})
                row = await cursor.fetchone()
                team_id = row[0] if row else None
            cursor = await connection.execute(
                query("open_account"), {"name": name, "team": team_id, "role": Role.VOLUNTEER}
            )
            row = await cursor.fetchone()
            if row is None:
                cursor = await connection.execute(query("find_caller"), {"digest": digest})
                found = await cursor.fetchone()
                return found is not None and Caller(*found).name == name
            try:
                await connection.execute(
                    query("add_token"), {"digest": digest, "user": row[0]}
                )
            except errors.UniqueViolation:
                raise AccountError("this secret opened another account; draw a new one") from None
            return True

    async def standing(self, user: UserId, host: HostId | None) -> pb.StandingReply:
        ((name, team, credit, month, of_host, of_team, rank, users),) = await self._run(
            "standing", {"user": user, "host": host}
        )
        return pb.StandingReply(
            user_name=name, team=team, credit=credit, month_credit=month, host_credit=of_host,
            team_credit=of_team, rank=rank, users=users,
        )  # fmt: skip

    # -- hosts --------------------------------------------------------------------------

    async def register_host(
        self,
        user: UserId,
        instance: uuid.UUID,
        *,
        name: str,
        version: str,
        slots: int,
        speed: float,
        held: Sequence[LeaseId],
    ) -> Host:
        rows = await self._run(
            "register_host",
            {
                "user": user, "instance": instance, "name": name, "version": version,
                "slots": slots, "speed": speed,
            },
        )  # fmt: skip
        host = Host(*rows[0][:4])
        await self.return_other_leases(host.id, held)
        return host

    async def find_host(self, instance: uuid.UUID) -> Host | None:
        rows = await self._run("find_host", {"instance": instance})
        return Host(*rows[0]) if rows else None

    async def hosts_seen(self, seen: Mapping[HostId, Seen]) -> list[tuple[HostId, float]]:
        """Note what the calls of hosts told; the speed of each by what is known now."""
        if not seen:
            return []
        told = seen.values()
        return await self._promise(
            "hosts_seen",
            {
                "hosts": list(seen), "speeds": [item.speed for item in told],
                "nodes": [item.nodes for item in told],
                "seconds": [item.seconds for item in told],
            },
        )  # fmt: skip

    # -- work ---------------------------------------------------------------------------

    async def running_games(self) -> list[str]:
        return [row[0] for row in await self._run("running_games", {})]

    async def lease_terms(self, hosts: Sequence[HostId]) -> list[tuple[HostId, UserId, int]]:
        """Whose hosts these are, and how many more leases each may have."""
        return await self._run("lease_terms", {"hosts": hosts})

    async def user_terms(self, users: Sequence[UserId]) -> list[tuple[UserId, int]]:
        """How many more leases all hosts of each user may have together."""
        return await self._run("user_terms", {"users": users})

    async def quota_used_up(self, host: Host) -> str:
        """Whose quota leaves no room for another lease of this host; empty if there is room."""
        if not any(free for _, _, free in await self.lease_terms([host.id])):
            return "this host"
        if self.limits_users and not any(free for _, free in await self.user_terms([host.user])):
            return "all hosts of this account together"
        return ""

    async def workunits_asked_again(self, most: int) -> list[Again]:
        """Questions that wait for another user's answer, most urgent first."""
        return [Again(*row) for row in await self._run("workunits_asked_again", {"most": most})]

    async def probes(self, most: int) -> list[Again]:
        """Questions whose answer several users agreed on, the latest first."""
        return [Again(*row) for row in await self._run("probes", {"most": most})]

    async def probe_rate(self) -> float:
        """How many of the leases shall be questions with a known answer."""
        return float((await self._run("probe_rate", {}))[0][0])

    async def reserve_leases(self) -> range:
        """Lease numbers that nobody ever used or will use but who called this."""
        return leases_of_block((await self._run("reserve_leases", {}))[0][0])

    async def lease_workunits(
        self, slots: Sequence[Slot], assigned: Sequence[Assignment], first: LeaseId
    ) -> list[Leased]:
        """Leases for slots, numbered from `first`; some get a question chosen for them."""
        rows = await self._promise("lease_workunits", lease_parameters(slots, first, assigned) | {
            "default_speed": DEFAULT_SPEED, "lease_seconds": self._lease_seconds,
        })  # fmt: skip
        return [Leased(*row) for row in rows]

    async def ask_for_more(self) -> None:
        await self._promise("ask_for_more", {})

    async def campaigns_open(self) -> tuple[int, int, bool]:
        """How many campaigns run, how many are paused, and whether other users are waited for."""
        rows = await self._run("no_work_reason", {})
        return rows[0][0], rows[0][1], rows[0][2]

    async def submit_results(self, results: Sequence[Returned]) -> list[str]:
        """The receipt of each: accepted, duplicate, late, unknown or contradictory."""
        columns = _columns(results, Returned)
        rows = await self._run(
            "submit_results",
            {
                "hosts": columns["host"],
                "leases": columns["lease"],
                "answers": columns["answer"],
                "los": columns["lo"],
                "his": columns["hi"],
                "nodes": columns["nodes"],
                "seconds": columns["seconds"],
                "proved": columns["proved"],
            },
        )
        await self._promise("tell_of_results", {})
        receipts = {place: receipt for place, receipt, _ in rows}
        return [receipts.get(place, "unknown") for place in range(1, len(results) + 1)]

    async def heartbeat(self, beats: Sequence[Beat]) -> list[Directive]:
        columns = _columns(beats, Beat)
        rows = await self._promise(
            "heartbeat",
            {
                "hosts": columns["host"],
                "leases": columns["lease"],
                "nodes": columns["nodes"],
                "lease_seconds": self._lease_seconds,
            },
        )
        directives = {row[0]: Directive(*row[1:]) for row in rows}
        return [
            directives.get(place) or Directive(beat.lease, "unknown", 0, None, None)
            for place, beat in enumerate(beats, 1)
        ]

    async def return_leases(self, beats: Sequence[Beat]) -> set[LeaseId]:
        """End leases unfinished; those that were still open."""
        columns = _columns(beats, Beat)
        rows = await self._run(
            "return_leases",
            {"hosts": columns["host"], "leases": columns["lease"], "nodes": columns["nodes"]},
        )
        return {row[0] for row in rows}

    async def return_other_leases(self, host: HostId, held: Sequence[LeaseId]) -> None:
        """End every open lease of a host but those it holds on to."""
        await self._run("return_other_leases", {"host": host, "held": list(held)})

    async def expire_leases(self) -> int:
        rows = await self._promise("expire_leases", {})
        return int(rows[0][0])

    # -- running ------------------------------------------------------------------------

    async def _run(self, name: str, parameters: Mapping[str, Any]) -> list[Any]:
        """One statement, which is one transaction and on the disk when this returns."""
        return await _run(self._pool, name, parameters)

    async def _promise(self, name: str, parameters: Mapping[str, Any]) -> list[Any]:
        """One statement, which is one transaction and will be on the disk soon."""
        return await _run(self._promises, name, parameters)


def _pool(url: str, connections: int, configure: Configure) -> Pool:
    return AsyncConnectionPool(
        url,
        min_size=2,
        max_size=connections,
        timeout=POOL_WAIT_SECONDS,
        reconnect_timeout=30,
        open=False,
        configure=configure,
        kwargs={
            "autocommit": True,
            "prepare_threshold": 2,
            "application_name": "zermelo coordinator",
        },
    )


async def _prepare(connection: AsyncConnection[Any]) -> None:
    await connection.execute(query("plan_by_index"))


async def _prepare_for_promises(connection: AsyncConnection[Any]) -> None:
    await connection.execute(query("plan_by_index"))
    await connection.execute(query("commit_lazily"))


async def _run(pool: Pool, name: str, parameters: Mapping[str, Any]) -> list[Any]:
    """Run a statement, again when it lost against another."""
    for _ in range(ATTEMPTS - 1):
        try:
            return await _run_once(pool, name, parameters)
        except (errors.DeadlockDetected, errors.SerializationFailure):
            continue
    return await _run_once(pool, name, parameters)


async def _run_once(pool: Pool, name: str, parameters: Mapping[str, Any]) -> list[Any]:
    async with pool.connection() as connection:
        cursor = await connection.execute(query(name), parameters)
        return await cursor.fetchall() if cursor.description else []


def _columns(rows: Iterable[Any], kind: Any) -> dict[str, list[Any]]:
    """Rows turned into columns, the form in which a statement takes a batch."""
    columns: dict[str, list[Any]] = {field: [] for field in kind._fields}
    for row in rows:
        for field, value in zip(kind._fields, row, strict=True):
            columns[field].append(value)
    return columns
