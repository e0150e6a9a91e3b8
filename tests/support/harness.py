"""A whole solve in one process: real services' code, a fake network, a real engine.

Clients take turns instead of running side by side, so that a test is deterministic and
can interrupt a solve wherever it likes.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Any

from zermelo.engine import Engine, Known, SearchReport, Status, Window, open_engine
from zermelo.games import Bounds, Game
from zermelo.proto.known import KnownBounds, pack, unpack
from zermelo.server.assimilator import assimilate
from zermelo.server.campaigns import Campaign
from zermelo.server.coordinator.in_process import InProcessCoordinator, Returned
from zermelo.server.database import Connection
from zermelo.server.planning.campaign_plan import CampaignPlan, Demand
from zermelo.server.validator import validate
from zermelo.sql import query

MOST_STEPS = 20_000
#: Nodes a second, as the coordinator is told.
SPEED = 1e6


@dataclass
class Work:
    lease: int
    workunit: int
    position: Any
    threshold: int
    node_budget: int
    known: list[Known]


@dataclass
class Result:
    lease: int
    answer: str
    lo: int
    hi: int
    nodes: int = 1
    proved: bytes | None = None


@dataclass
class Host:
    """One client, with an engine of its own."""

    coordinator: InProcessCoordinator
    engine: Engine
    user: str = "tester"
    holding: list[Work] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.host = self.coordinator.register(self.user)
        self.id = self.host.id

    @property
    def game(self) -> Game[Any]:
        return self.engine.game

    def take(self, count: int = 1) -> list[Work]:
        taken = []
        for leased in self.coordinator.request(self.host, count, SPEED):
            seeds = [
                Known(self.game.decode(item.key, item.history), Bounds(item.lo, item.hi))
                for item in (unpack(leased.known) if leased.known else [])
            ]
            position = self.game.decode(leased.position, leased.history or b"")
            taken.append(Work(
                leased.lease, leased.workunit, position, leased.threshold, leased.node_budget,
                seeds,
            ))  # fmt: skip
        self.holding += taken
        return taken

    def solve(self, work: Work) -> Result:
        self.engine.clear()
        answer = self.engine.solve(
            work.position, Window.question(work.threshold),
            node_budget=work.node_budget, known=work.known,
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
        receipts = self.coordinator.submit([
            Returned(
                self.id, result.lease, result.answer, result.lo, result.hi, result.nodes, 0.0,
                result.proved,
            )
            for result in results
        ])  # fmt: skip
        sent = {result.lease for result in results}
        self.holding = [work for work in self.holding if work.lease not in sent]
        return receipts

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
        # As the services do that run this code.
        self.connection.execute(query("plan_by_index"), prepare=False)
        self.connection.execute(query("commit_lazily"), prepare=False)
        self.engine = open_engine(self.campaign.game, hash_mb=1)
        self.plan = CampaignPlan(self.connection, self.campaign, self.engine)
        self.coordinator = InProcessCoordinator(self.connection)
        self.hosts = [
            Host(
                self.coordinator, open_engine(self.campaign.game, hash_mb=1),
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
