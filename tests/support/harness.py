"""A whole solve in one process: real services' code, a fake network, a real engine.

Clients take turns instead of running side by side, so that a test is deterministic and
can interrupt a solve wherever it likes.
"""

from __future__ import annotations

import random
import uuid
from dataclasses import dataclass, field
from typing import Any

from zermelo.engine import Engine, Known, SearchReport, Status, Window, open_engine
from zermelo.games import Bounds, Game
from zermelo.proto.known import KnownBounds, pack, unpack
from zermelo.server.assimilator import assimilate
from zermelo.server.campaigns import Campaign
from zermelo.server.coordinator.matching import (
    Again,
    assign,
    lease_parameters,
    leases_of_block,
    open_slots,
)
from zermelo.server.database import Connection
from zermelo.server.planning.campaign_plan import CampaignPlan, Demand
from zermelo.server.validator import validate
from zermelo.sql import query

MOST_STEPS = 20_000


@dataclass
class Work:
    lease: int
    workunit: int
    position: Any
    threshold: int
    budget: int
    known: list[Known]


@dataclass
class Result:
    lease: int
    answer: str
    lo: int
    hi: int
    nodes: int = 1
    proved: bytes | None = None


def reserve(connection: Connection) -> int:
    """A lease number with enough unused ones after it."""
    row = connection.execute(query("reserve_leases")).fetchone()
    assert row
    return leases_of_block(row[0])[0]


def lease_to(
    connection: Connection, hosts: list[int], count: int = 1, probe_rate: float = 0.0
) -> list[tuple[Any, ...]]:
    """Lease so many workunits to each host, as the coordinator does."""
    terms = connection.execute(query("lease_terms"), {"hosts": hosts}).fetchall()
    slots = open_slots(
        [(host, count, 0.0) for host in hosts],
        {host: (user, free) for host, user, free in terms},
    )
    again, probes = (
        [Again(*row) for row in connection.execute(query(name), {"most": 1000}).fetchall()]
        for name in ("workunits_asked_again", "probes")
    )
    return connection.execute(
        query("lease_workunits"),
        lease_parameters(slots, reserve(connection), assign(slots, again, probes, probe_rate))
        | {"default_speed": 1e6, "lease_seconds": 60},
    ).fetchall()


@dataclass
class Host:
    """One client, with an engine of its own."""

    connection: Connection
    campaign: Campaign
    engine: Engine
    user: str = "tester"
    probe_rate: float = 0.0
    id: int = 0
    holding: list[Work] = field(default_factory=list)

    def __post_init__(self) -> None:
        user = self.connection.execute(query("ensure_user"), {"name": self.user}).fetchone()
        assert user
        row = self.connection.execute(
            query("register_host"),
            {
                "instance": uuid.uuid4(), "user": user[0], "name": "", "version": "",
                "slots": 1, "speed": 0.0,
            },
        ).fetchone()
        assert row
        self.id = row[0]

    @property
    def game(self) -> Game[Any]:
        return self.engine.game

    def take(self, count: int = 1) -> list[Work]:
        rows = lease_to(self.connection, [self.id], count, self.probe_rate)
        taken = []
        for _, lease, workunit, _, _, key, history, threshold, budget, known in rows:
            seeds = [
                Known(self.game.decode(item.key, item.history), Bounds(item.lo, item.hi))
                for item in (unpack(known) if known else [])
            ]
            position = self.game.decode(key, history or b"")
            taken.append(Work(lease, workunit, position, threshold, budget, seeds))
        self.holding += taken
        return taken

    def solve(self, work: Work) -> Result:
        self.engine.clear()
        answer = self.engine.solve(
            work.position, Window.question(work.threshold),
            node_limit=work.budget, known=work.known,
        )
        if answer.status is Status.SOLVED:
            verdict = "yes" if answer.bounds.lo >= work.threshold else "no"
        else:
            verdict = "exhausted"
        return Result(
            work.lease, verdict, answer.bounds.lo, answer.bounds.hi, answer.nodes,
            self._proved(answer) if verdict == "exhausted" else None,
        )

    def send(self, *results: Result) -> list[str]:
        rows = self.connection.execute(
            query("submit_results"),
            {
                "hosts": [self.id] * len(results),
                "leases": [result.lease for result in results],
                "answers": [result.answer for result in results],
                "los": [result.lo for result in results],
                "his": [result.hi for result in results],
                "nodes": [result.nodes for result in results],
                "seconds": [0.0] * len(results),
                "proved": [result.proved for result in results],
            },
        ).fetchall()
        sent = {result.lease for result in results}
        self.holding = [work for work in self.holding if work.lease not in sent]
        return [row[1] for row in rows]

    def _proved(self, answer: SearchReport) -> bytes:
        known = []
        for item in answer.proved:
            canonical = self.game.canonical(item.position)
            known.append(
                KnownBounds(
                    self.game.encode(canonical), self.game.history(canonical),
                    item.bounds.lo, item.bounds.hi,
                )
            )
        return pack(known)


@dataclass
class Solve:
    """A campaign with its services and some clients, stepped by hand."""

    connection: Connection
    campaign: Campaign
    clients: int = 2
    seed: int = 1
    #: Whether every client belongs to a user of its own.
    users: bool = False
    hosts: list[Host] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.random = random.Random(self.seed)
        self.engine = open_engine(self.campaign.game, hash_mb=1)
        self.plan = CampaignPlan(self.connection, self.campaign, self.engine)
        self.hosts = [
            Host(
                self.connection, self.campaign, open_engine(self.campaign.game, hash_mb=1),
                user=f"user {number}" if self.users else "tester",
            )
            for number in range(self.clients)
        ]
        self.now = 0.0

    def step(self) -> None:
        """The generator plans, every client takes work, a random one answers."""
        self.plan.step(self.demand())
        for host in self.hosts:
            if not host.holding:
                host.take()
        busy = [host for host in self.hosts if host.holding]
        if busy:
            host = self.random.choice(busy)
            host.send(host.solve(self.random.choice(host.holding)))
        self.assimilate()

    def demand(self) -> Demand:
        self.now += 0.1
        return Demand(self.clients, 0.0, self.now)

    def assimilate(self) -> None:
        while validate(self.connection):
            pass
        while assimilate(self.connection, self.campaign):
            pass

    def restart_generator(self) -> None:
        self.plan = CampaignPlan(self.connection, self.campaign, self.engine)

    def run(self) -> Bounds:
        """Step until the campaign is finished; the bounds of its root."""
        for _ in range(MOST_STEPS):
            self.step()
            if self.plan.finished:
                return self.plan.bounds
        raise AssertionError("the solve does not come to an end")
