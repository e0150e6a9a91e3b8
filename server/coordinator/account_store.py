"""Who calls: the statements about accounts and their hosts."""

from __future__ import annotations

import asyncio
import bisect
import math
import time
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from psycopg import errors

from zermelo.proto import coordinator_pb2 as pb
from zermelo.server.coordinator.leases import HostId
from zermelo.server.coordinator.statements import PooledStatements, Statements
from zermelo.server.trust.accounts import (
    ANONYMOUS,
    Account,
    AccountError,
    Role,
    UserId,
    looks_of,
    team_taken,
)
from zermelo.server.trust.looks import look_of
from zermelo.sql import query


class Host(NamedTuple):
    id: HostId
    user: UserId
    banned: bool
    #: Nodes a second, by what its searches took; 0 while they are too few to tell.
    speed: float = 0.0
    #: Why it is banned, as the operators said.
    ban_reason: str = ""


#: How long the places of all users are remembered.
PLACES_SECONDS = 5.0


class RegistrationClosedError(Exception):
    """The operators let nobody open an account."""


class Introduction(NamedTuple):
    """What a host says of itself when it says hello."""

    user: UserId
    host_key_digest: uuid.UUID
    name: str
    version: str
    workers: int
    speed: float
    cores: int = 0
    memory_mb: int = 0
    platform: str = ""


@dataclass(slots=True)
class Seen:
    """What calls of a host told since the last time."""

    #: What it says of itself, in nodes a second.
    speed: float = 0.0
    #: What the searches of its results took.
    nodes: int = 0
    seconds: float = 0.0


class AccountStore:
    def __init__(self, statements: PooledStatements) -> None:
        self._statements = statements
        self._shared: Account | None = None
        self._known_sums: list[float] = []
        self._summed_at = -math.inf
        self._summing = asyncio.Lock()

    async def find_accounts(self, digests: Sequence[bytes]) -> list[Account | None]:
        """Whose tokens these are, in their order."""
        rows = await self._statements.run("find_accounts", {"digests": digests})
        found = {digest: Account(user, Role(role), *facts) for digest, user, role, *facts in rows}
        return [found.get(digest) for digest in digests]

    async def shared_account(self) -> Account:
        """The account of everybody who calls without a token, where that is allowed."""
        if self._shared is None:
            rows = await self._statements.run("ensure_user", {"name": ANONYMOUS})
            self._shared = Account(rows[0][0], Role.VOLUNTEER, ANONYMOUS, banned=False)
        return self._shared

    async def open_account(self, name: str, team: str, digest: bytes) -> bool:
        """Whether the account of this name has this token, from now on or since an earlier
        call; False if it is somebody else's. `AccountError` if the token is of another one, or
        if the team's name looks like another team's, `RegistrationClosedError` if the operators
        let nobody in.
        """
        async with self._statements.transaction() as connection:
            await connection.execute(query("lock_looks"), {"looks": looks_of(name, team)})
            team_id, founded = None, False
            if team:
                cursor = await connection.execute(
                    query("ensure_team"), {"name": team, "look": look_of(team)}
                )
                row = await cursor.fetchone()
                if row is None:
                    raise team_taken(team)
                team_id, founded = row
            cursor = await connection.execute(
                query("open_account"),
                {
                    "name": name, "look": look_of(name), "team": team_id,
                    "role": Role.VOLUNTEER,
                },
            )  # fmt: skip
            row = await cursor.fetchone()
            if row is None:
                cursor = await connection.execute(query("find_accounts"), {"digests": [digest]})
                found = await cursor.fetchone()
                return found is not None and Account(*found[1:]).name == name
            cursor = await connection.execute(query("show_project"))
            project = await cursor.fetchone()
            if project is not None and not project[0]:
                raise RegistrationClosedError
            if founded:
                await connection.execute(
                    query("set_founder"), {"user": row[0], "team": team_id}
                )
            try:
                await connection.execute(
                    query("add_token"), {"digest": digest, "user": row[0]}
                )
            except errors.UniqueViolation:
                raise AccountError("this secret opened another account; draw a new one") from None
            return True

    async def standing(self, user: UserId, host: HostId | None) -> pb.StandingReply:
        ((name, team, credit, month, of_host, of_team, notice),) = (
            await self._statements.run("standing", {"user": user, "host": host})
        )
        rank, users = place(await self._sums(), credit)
        return pb.StandingReply(
            user_name=name, team=team, credit=credit, month_credit=month, host_credit=of_host,
            team_credit=of_team, rank=rank, users=users, notice=notice,
        )  # fmt: skip

    async def _sums(self) -> list[float]:
        """The credit of all users, at most PLACES_SECONDS old: summing it is not cheap."""
        async with self._summing:  # whoever comes meanwhile waits for these
            now = time.monotonic()
            if now - self._summed_at > PLACES_SECONDS:
                rows = await self._statements.run("credit_of_users", {})
                self._known_sums, self._summed_at = [row[0] for row in rows], now
        return self._known_sums


def place(sums: Sequence[float], credit: float) -> tuple[int, int]:
    """The place that a credit has among all sums, from 1 (0 without credit), and of how many."""
    if credit <= 0:
        return 0, len(sums)
    rank = len(sums) - bisect.bisect_right(sums, credit) + 1
    return rank, max(rank, len(sums))


class HostStore:
    def __init__(self, statements: Statements) -> None:
        self._statements = statements

    async def register_hosts(self, said: Sequence[Introduction]) -> list[Host]:
        """The hosts that introduce themselves, new ones perhaps, in their order."""
        found: list[Host | None] = [None] * len(said)
        waiting = list(enumerate(said))
        while waiting:
            # One statement changes a host once: who says the same key again comes next.
            turn = {item.host_key_digest: place for place, item in reversed(waiting)}
            waiting = [(place, item) for place, item in waiting
                       if turn[item.host_key_digest] != place]  # fmt: skip
            chosen = [said[place] for place in turn.values()]
            rows = await self._statements.run("register_hosts", {
                field: [getattr(item, field) for item in chosen] for field in Introduction._fields
            })  # fmt: skip
            for digest, *facts in rows:
                found[turn[digest]] = Host(*facts[:5])
        return [host for host in found if host is not None]

    async def find_hosts(self, digests: Sequence[uuid.UUID]) -> list[Host | None]:
        """The hosts with keys of these digests, in their order."""
        rows = await self._statements.run("find_hosts", {"host_key_digests": digests})
        found = {digest: Host(*facts) for digest, *facts in rows}
        return [found.get(digest) for digest in digests]

    async def hosts_seen(self, seen: Mapping[HostId, Seen]) -> list[tuple[HostId, float]]:
        """Note what the calls of hosts told; the speed of each by what is known now."""
        if not seen:
            return []
        told = seen.values()
        return await self._statements.lazily(
            "hosts_seen",
            {
                "hosts": list(seen), "speeds": [item.speed for item in told],
                "nodes": [item.nodes for item in told],
                "seconds": [item.seconds for item in told],
            },
        )  # fmt: skip
