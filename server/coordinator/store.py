"""The coordinator's side of the database: named queries, a batch of calls at a time."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from psycopg import errors
from psycopg_pool import AsyncConnectionPool

from zermelo.proto import coordinator_pb2 as pb
from zermelo.server.coordinator.matching import (
    Again,
    assign,
    lease_parameters,
    open_slots,
)
from zermelo.server.trust.accounts import ANONYMOUS, Caller, Role, UserId
from zermelo.sql import query

HostId = int
LeaseId = int

POOL_CONNECTIONS = 6
POOL_WAIT_SECONDS = 3.0
ATTEMPTS = 5

#: Known answers to choose from, the latest.
MOST_PROBES = 64

#: Nodes a second of a host that has not said how fast it is.
DEFAULT_SPEED = 100_000.0


class Host(NamedTuple):
    id: HostId
    user: UserId
    banned: bool


class Request(NamedTuple):
    """One call for work."""

    host: HostId
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
    def __init__(self, url: str, *, lease_seconds: float) -> None:
        self._lease_seconds = lease_seconds
        self._shared: Caller | None = None
        #: How many of the leases shall be questions with a known answer.
        self.probe_rate = 0.0
        self.lease_ms = round(lease_seconds * 1000)
        self._pool = AsyncConnectionPool(
            url,
            min_size=2,
            max_size=POOL_CONNECTIONS,
            timeout=POOL_WAIT_SECONDS,
            reconnect_timeout=30,
            open=False,
            kwargs={
                "autocommit": True,
                "prepare_threshold": 2,
                "application_name": "zermelo coordinator",
            },
        )

    async def open(self) -> None:
        await self._pool.open()

    async def close(self) -> None:
        await self._pool.close()

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
        """Whether there is a new account with this token; False if the name is taken."""
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
            if row is not None:
                await connection.execute(
                    query("add_token"), {"digest": digest, "user": row[0]}
                )
            return row is not None

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
        host = Host(*rows[0])
        await self.return_other_leases(host.id, held)
        return host

    async def find_host(self, instance: uuid.UUID) -> Host | None:
        rows = await self._run("find_host", {"instance": instance})
        return Host(*rows[0]) if rows else None

    async def hosts_seen(self, speeds: Mapping[HostId, float]) -> None:
        if speeds:
            await self._run(
                "hosts_seen", {"hosts": list(speeds), "speeds": list(speeds.values())}
            )

    # -- work ---------------------------------------------------------------------------

    async def running_games(self) -> list[str]:
        return [row[0] for row in await self._run("running_games", {})]

    async def lease_workunits(self, requests: Sequence[Request]) -> tuple[list[Leased], list[int]]:
        """Leases for requests, and how many each could have had by its host's quota.

        Most are fresh questions, some were asked of others before.
        """
        terms = await self._run("lease_terms", {"hosts": list({r.host for r in requests})})
        slots = open_slots(
            [(request.host, request.slots, float(request.speed)) for request in requests],
            {host: (user, free) for host, user, free in terms},
        )
        granted = [0] * len(requests)
        for slot in slots:
            granted[slot.request - 1] += 1
        if not slots:
            return [], granted
        rows = await self._run("workunits_asked_again", {"most": 2 * len(slots)})
        probes = []
        if self.probe_rate:
            probes = await self._run("probes", {"most": MOST_PROBES})
        assigned = assign(
            slots, [Again(*row) for row in rows], [Again(*row) for row in probes],
            self.probe_rate,
        )  # fmt: skip
        rows = await self._run("lease_workunits", lease_parameters(slots, assigned) | {
            "default_speed": DEFAULT_SPEED, "lease_seconds": self._lease_seconds,
        })  # fmt: skip
        return [Leased(*row) for row in rows], granted

    async def may_lease(self, host: HostId) -> bool:
        """Whether the quota of a host leaves room for another lease."""
        return any(free for _, _, free in await self._run("lease_terms", {"hosts": [host]}))

    async def read_probe_rate(self) -> None:
        self.probe_rate = float((await self._run("probe_rate", {}))[0][0])

    async def ask_for_more(self) -> None:
        await self._run("ask_for_more", {})

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
        receipts = {place: receipt for place, receipt, _ in rows}
        return [receipts.get(place, "unknown") for place in range(1, len(results) + 1)]

    async def heartbeat(self, beats: Sequence[Beat]) -> list[Directive]:
        columns = _columns(beats, Beat)
        rows = await self._run(
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
        rows = await self._run("expire_leases", {})
        return int(rows[0][0])

    # -- running ------------------------------------------------------------------------

    async def _run(self, name: str, parameters: Mapping[str, Any]) -> list[Any]:
        """One statement, which is one transaction; again when it lost against another."""
        for _ in range(ATTEMPTS - 1):
            try:
                return await self._run_once(name, parameters)
            except (errors.DeadlockDetected, errors.SerializationFailure):
                continue
        return await self._run_once(name, parameters)

    async def _run_once(self, name: str, parameters: Mapping[str, Any]) -> list[Any]:
        async with self._pool.connection() as connection:
            cursor = await connection.execute(query(name), parameters)
            return await cursor.fetchall() if cursor.description else []


def _columns(rows: Iterable[Any], kind: Any) -> dict[str, list[Any]]:
    """Rows turned into columns, the form in which a statement takes a batch."""
    columns: dict[str, list[Any]] = {field: [] for field in kind._fields}
    for row in rows:
        for field, value in zip(kind._fields, row, strict=True):
            columns[field].append(value)
    return columns
