"""Clients in virtual time around the real services.

Choice, split, validation, back-up, leasing and withdrawal are the services' own code on a
real PostgreSQL; only the clock and the clients are simulated. Clients differ in speed and
in the time a message takes, and hear at their next heartbeat that nobody needs their work.
The services take turns on one processor: while one works the others wait, and the clock goes on
by the processor time that it took.
"""

from __future__ import annotations

import heapq
import math
import sys
import time
from dataclasses import dataclass, field
from itertools import cycle, islice
from typing import Any, NamedTuple

from zermelo.games import Bounds
from zermelo.server.assimilator import assimilate
from zermelo.server.campaigns import Campaign, campaign_summary, create_campaign
from zermelo.server.coordinator.in_process import (
    InProcessCoordinator,
    Progress,
    Request,
    Returned,
)
from zermelo.server.database import Connection
from zermelo.server.planning.campaign_plan import CampaignPlan, Demand
from zermelo.server.validator import validate

from .oracle import Ask, Oracle, Reply
from .services import ServiceTime
from .timeline import State, Timeline

#: How fast clients are compared with the average, in turn: their mean is 1 for 1, 16, 256
#: and (but for 0.02 %) 1024 clients.
PACES = (1.0, 0.5, 1.5, 0.75, 1.25)
LATENCY = 0.1  # seconds from the coordinator to a client of average pace
TICK = 0.1  # seconds from a result until the services begin to deal with it
HEARTBEAT = 5.0
TARGET_SECONDS = 60.0
#: How often, in real seconds, a run tells how far it is.
REPORT_SECONDS = 15.0


class Puzzle(NamedTuple):
    """What a fleet is to find out."""

    position: str | None
    goal: str
    claim: Bounds | None


@dataclass(frozen=True, slots=True)
class Client:
    host: int
    user: int
    speed: float
    latency: float


@dataclass(slots=True)
class Job:
    lease: int
    client: Client
    started: float
    reply: Reply
    dropped: bool = False

    @property
    def seconds(self) -> float:
        return self.reply.nodes / self.client.speed


@dataclass
class Fleet:
    """N clients, the services, and a clock that jumps to the next event."""

    connection: Connection
    campaign: Campaign
    oracle: Oracle
    size: int
    speed: float
    now: float = 0.0
    #: Time that clients worked, and the nodes they searched in it.
    busy_seconds: float = 0.0
    searched: float = 0.0
    #: Whether the services' own time passes in the virtual clock.
    times_services: bool = True
    paces: tuple[float, ...] = PACES
    latency: float = LATENCY
    tick: float = TICK
    heartbeat: float = HEARTBEAT
    jobs: dict[int, Job] = field(default_factory=dict)
    events: list[tuple[float, int, str]] = field(default_factory=list)
    timeline: Timeline = field(default_factory=Timeline)
    #: Answers given back, how many of them ran out, workunits handed out, and their budgets.
    answers: int = 0
    exhausted: int = 0
    leases: int = 0
    budgets: float = 0.0

    def __post_init__(self) -> None:
        self.services = ServiceTime(self.connection)
        self.plan = CampaignPlan(self.connection, self.campaign, self.oracle.engines[0])
        self.coordinator = self._open_coordinator()
        self.idle = [
            self._client("fleet", pace) for pace in islice(cycle(self.paces), self.size)
        ]

    def run(self) -> None:
        """Work until the campaign is finished, telling on stderr how far it is."""
        told = time.monotonic()
        self._serve([])
        while not self.plan.finished:
            if not self.events:
                raise RuntimeError("nobody works, but the campaign is not finished")
            self.now = max(self.now, self.events[0][0] + self.tick)
            self._serve(self._due())
            if self.timeline.due(self.now) and not self.plan.finished:
                self.timeline.note(self._state())
            if time.monotonic() - told > REPORT_SECONDS:
                told = time.monotonic()
                self._tell()
        # Whoever still works when the answer is known works for nothing.
        self.timeline.note(self._state())
        for job in self.jobs.values():
            self._account(job, self.now)

    def _open_coordinator(self) -> InProcessCoordinator:
        return InProcessCoordinator(self.connection)

    def _client(self, user: str, pace: float) -> Client:
        speed = pace * self.speed
        host = self.coordinator.register(user, speed=speed)
        return Client(host.id, host.user, speed, self.latency / pace)

    def _due(self) -> list[Job]:
        """What ended until now: jobs done, and jobs that a heartbeat told to drop."""
        done = []
        while self.events and self.events[0][0] <= self.now:
            at, lease, event = heapq.heappop(self.events)
            job = self.jobs.get(lease)
            if job is None or (event == "drop") != job.dropped:
                continue
            if event == "done":
                done.append(job)
            elif not self._told_to_drop(job, at):
                job.dropped = False
                continue
            del self.jobs[lease]
            self.idle.append(job.client)
            self._account(job, at)
        return done

    def _account(self, job: Job, until: float) -> None:
        seconds = max(0.0, until - job.started)
        self.busy_seconds += seconds
        self.searched += seconds * job.client.speed

    def _serve(self, done: list[Job]) -> None:
        before = self.services.total
        if done:
            with self.services.of("coordinator"):
                self._submit(done)
            with self.services.of("validator"):
                while validate(self.connection):
                    pass
            with self.services.of("assimilator"):
                while assimilate(self.connection, self.campaign):
                    pass
        self._pass(before)
        while self._plan() and not self.plan.finished:
            pass

    def _plan(self) -> bool:
        """One step of the generator, whose questions clients get at once; whether there is more."""
        before = self.services.total
        with self.services.of("generator"):
            more = self.plan.step(self._demand())
        self._pass(before)
        self._spread_withdrawals()
        if not self.plan.finished:
            self._hand_out()
        return more

    def _pass(self, before: float) -> None:
        """Let the time pass that the services took since they had taken `before`."""
        if self.times_services:
            self.now += self.services.total - before

    def _tell(self) -> None:
        test = self.plan.planner.test if self.plan.planner else None
        print(
            f"  {self.size} clients: {self.now:.1f} s, {self.searched / 1e6:,.0f} M nodes searched,"
            f" {test.work / 1e6 if test else 0:,.0f} M expected, {len(self.jobs)} at work,"
            f" services {self.services.total:.1f} s",
            file=sys.stderr, flush=True,
        )  # fmt: skip

    def _state(self) -> State:
        working = [
            (max(0.0, self.now - job.started), job.client.speed) for job in self.jobs.values()
        ]
        planner = self.plan.planner
        return State(
            self.now,
            self.busy_seconds + sum(seconds for seconds, _ in working),
            self.searched + sum(seconds * speed for seconds, speed in working),
            self.answers, self.exhausted, self.leases, self.budgets,
            self.services.seconds["generator"], self.services.total,
            len(planner.questions.nodes) if planner else 0,
            planner.test.work if planner and planner.test else 0.0,
            planner.questions.open_count if planner else 0,
            self.plan.short,
        )  # fmt: skip

    def _demand(self) -> Demand:
        return Demand(self.size, self.speed, self.now)

    def _hand_out(self) -> None:
        if self.idle:
            self._lease()

    def _lease(self) -> None:
        clients = self.idle
        before = self.services.total
        with self.services.of("coordinator"):
            leased = self.coordinator.request_for_all(
                [Request(client.host, client.user, 1, client.speed) for client in clients]
            )
        self._pass(before)
        replies = self.oracle.ask(
            [Ask(bytes(item.position), item.threshold, item.node_budget) for item in leased]
        )
        self.leases += len(leased)
        self.budgets += sum(item.node_budget for item in leased)
        for item, reply in zip(leased, replies, strict=True):
            client = clients[item.request - 1]
            job = Job(item.lease, client, self.now + client.latency, reply)
            self.jobs[item.lease] = job
            heapq.heappush(self.events, (job.started + job.seconds, item.lease, "done"))
        given = {item.request - 1 for item in leased}
        self.idle = [client for at, client in enumerate(clients) if at not in given]

    def _spread_withdrawals(self) -> None:
        """Clients learn at their next heartbeat that nobody needs their work."""
        rows = self.connection.execute(
            "SELECT leases.id FROM leases JOIN workunits ON workunits.id = workunit"
            " WHERE leases.state = 'open' AND workunits.state NOT IN ('ready', 'leased')"
        )
        for (lease,) in rows:
            job = self.jobs.get(lease)
            if job is None or job.dropped:
                continue
            beats = max(1, math.ceil((self.now - job.started) / self.heartbeat))
            at = job.started + beats * self.heartbeat
            if at < job.started + job.seconds:
                job.dropped = True
                heapq.heappush(self.events, (at, lease, "drop"))

    def _told_to_drop(self, job: Job, at: float) -> bool:
        """What the coordinator says at a heartbeat."""
        nodes = round((at - job.started) * job.client.speed)
        (told,) = self.coordinator.heartbeat([Progress(job.client.host, job.lease, nodes)])
        return told.directive != "continue"

    def _submit(self, jobs: list[Job]) -> None:
        self.answers += len(jobs)
        self.exhausted += sum(job.reply.answer == "exhausted" for job in jobs)
        self.coordinator.submit([
            Returned(
                job.client.host, job.lease, job.reply.answer, job.reply.lo, job.reply.hi,
                job.reply.nodes, job.seconds, job.reply.proved,
            )
            for job in jobs
        ])  # fmt: skip


def simulate(
    connection: Connection, oracle: Oracle, puzzle: Puzzle, clients: int, speed: float,
    times_services: bool = True,
) -> dict[str, Any]:
    """Solve the puzzle with clients that search `speed` nodes a second on average."""
    campaign = create_campaign(
        connection, oracle.game.spec, position=puzzle.position, goal=puzzle.goal,
        claim=puzzle.claim, name=f"{clients} clients", target_seconds=TARGET_SECONDS,
        replication="none",
    )  # fmt: skip
    found, found_nodes = oracle.found, oracle.found_nodes
    fleet = Fleet(connection, campaign, oracle, clients, speed, times_services=times_services)
    started = time.perf_counter()
    fleet.run()
    oracle.save()
    summary = campaign_summary(connection, campaign.name)
    unfinished = sum(
        max(0.0, fleet.now - job.started) * job.client.speed for job in fleet.jobs.values()
    )
    return {
        "clients": clients,
        "bounds": summary.bounds,
        "seconds": fleet.now,
        "idle_share": 1 - fleet.busy_seconds / (fleet.now * clients),
        "unneeded_share": (summary.wasted_nodes + unfinished) / fleet.searched,
        # A small tree may be solved by splitting alone, before any search ends.
        "split_share": summary.split_nodes / summary.nodes if summary.nodes else 0.0,
        "nodes": round(fleet.searched),
        "workunits": summary.workunits,
        "splits": summary.splits,
        "withdrawn": summary.withdrawn,
        "tree_nodes": summary.tree_nodes,
        "new_answers": oracle.found - found,
        "new_nodes": oracle.found_nodes - found_nodes,
        "real_seconds": time.perf_counter() - started,
        "service_seconds": dict(fleet.services.seconds),
        "timeline": fleet.timeline.states,
    }
