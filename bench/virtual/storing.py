"""A fleet in virtual time whose clients keep work in store, as `client/intake.py` does.

Every host has a user of its own, and all rules for leases hold: they end, what takes a host too
long is asked of others, and a client hears at its next heartbeat that work in its store has ended,
and hands back what would run out there.
"""

from __future__ import annotations

import heapq
import math
from collections import deque
from dataclasses import dataclass, field
from typing import NamedTuple

from zermelo.client.daemon import LAST_BEATS
from zermelo.client.intake import LONG_SECONDS, MOST_FOR_OWNER
from zermelo.client.speed import MEMORY
from zermelo.server.campaigns import campaign_summary, create_campaign
from zermelo.server.coordinator.in_process import Progress, Request
from zermelo.server.coordinator.settings import CoordinatorSettings
from zermelo.server.database import Connection

from .fleet import HEARTBEAT, Client, Job, Puzzle
from .hoarders import HoardedFleet
from .oracle import Ask, Oracle, Reply


class Stored(NamedTuple):
    """A lease that waits for its client."""

    lease: int
    reply: Reply
    leased_at: float


@dataclass
class StoringFleet(HoardedFleet):
    """Each client has one worker and asks for what it needs for `store_seconds`, too."""

    store_seconds: float = 0.0
    #: Leases that ended before their client began with them.
    ended_in_store: int = 0
    _stores: dict[int, deque[Stored]] = field(default_factory=dict)
    #: The mean time of a client's workunits, as it has seen them.
    _means: dict[int, float] = field(default_factory=dict)
    _clients: list[Client] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__post_init__()
        self._clients = list(self.idle)

    def _due(self) -> list[Job]:
        done = super()._due()
        for job in done:
            mean = self._means.get(job.client.host, job.seconds)
            self._means[job.client.host] = mean * MEMORY + job.seconds * (1 - MEMORY)
        self._begin()
        return done

    def _begin(self) -> None:
        """Who is free goes on with what it has in store."""
        free, self.idle = self.idle, []
        for client in free:
            store = self._stores.get(client.host)
            if store:
                self._search(client, store.popleft(), self.now)
            else:
                self.idle.append(client)

    def _search(self, client: Client, stored: Stored, begins: float) -> None:
        job = Job(stored.lease, client, begins, stored.reply)
        self.jobs[stored.lease] = job
        heapq.heappush(self.events, (begins + job.seconds, stored.lease, "done"))

    def _hand_out(self) -> None:
        idle = {client.host for client in self.idle}
        clients = {client.host: client for client in self._clients}
        requests = [
            Request(client.host, client.user, wanted, client.speed)
            for client in self._clients
            if (wanted := self._wanted(client, idle)) > 0
        ]
        leased = self.coordinator.request_for_all(requests) if requests else []
        replies = self.oracle.ask(
            [Ask(bytes(item.position), item.threshold, item.node_budget) for item in leased]
        )
        self.leases += len(leased)
        self.budgets += sum(item.node_budget for item in leased)
        for item, reply in zip(leased, replies, strict=True):
            client, stored = clients[item.host], Stored(item.lease, reply, self.now)
            if item.host in idle:
                idle.remove(item.host)
                self._search(client, stored, self.now + client.latency)
            else:
                self._stores.setdefault(item.host, deque()).append(stored)
        self.idle = [client for client in self.idle if client.host in idle]

    def _wanted(self, client: Client, idle: set[int]) -> int:
        mean = self._means.get(client.host, 1.0)
        if mean >= max(LONG_SECONDS, self.store_seconds):
            enough = 0
        else:
            enough = min(math.ceil(self.store_seconds / max(mean, 1e-4)), MOST_FOR_OWNER)
        return (client.host in idle) + enough - len(self._stores.get(client.host, ()))

    def _beat(self) -> None:
        if self.now < self._next_beat:
            return
        self._next_beat = self.now + HEARTBEAT
        working = [job for job in self.jobs.values() if self.now > job.started]
        told = self.coordinator.heartbeat([
            *(Progress(job.client.host, job.lease, round(
                (self.now - job.started) * job.client.speed
            )) for job in working),
            *(Progress(host, item.lease, 0)
              for host, store in self._stores.items() for item in store),
        ])  # fmt: skip
        ended = {item.lease for item in told if item.directive != "continue"}
        for job in working:
            if job.lease in ended and not job.dropped:
                job.dropped = True
                heapq.heappush(self.events, (self.now, job.lease, "drop"))
        oldest = self.now - CoordinatorSettings().lease_seconds + LAST_BEATS * HEARTBEAT
        for host, store in self._stores.items():
            old = [item for item in store if item.leased_at < oldest and item.lease not in ended]
            self.coordinator.give_back([Progress(host, item.lease, 0) for item in old])
            gone = ended.union(item.lease for item in old)
            kept = deque(item for item in store if item.lease not in gone)
            self.ended_in_store += len(store) - len(kept)
            self._stores[host] = kept


class Outcome(NamedTuple):
    """How long a campaign took, in virtual seconds, and what of it was for nothing."""

    seconds: float
    nodes: int
    unneeded_share: float
    idle_share: float
    workunits: int
    leases: int
    ended_in_store: int
    expired: int
    bounds: tuple[int, int]


def solve_with_store(
    connection: Connection, oracle: Oracle, puzzle: Puzzle, *, clients: int, speed: float,
    target_seconds: float, store_seconds: float, mature: bool = False, seed: int = 1,
) -> Outcome:  # fmt: skip
    """Solve the puzzle in a database of its own, which virtual time takes hold of."""
    campaign = create_campaign(
        connection, oracle.game.spec, position=puzzle.position, goal=puzzle.goal,
        claim=puzzle.claim, name="with a store", target_seconds=target_seconds,
        replication="adaptive",
    )  # fmt: skip
    fleet = StoringFleet(
        connection, campaign, oracle, clients, speed, times_services=False, mature=mature,
        store_seconds=store_seconds,
    )  # fmt: skip
    fleet.run_by(seed)
    summary = campaign_summary(connection, campaign.name)
    unfinished = sum(
        max(0.0, fleet.now - job.started) * job.client.speed for job in fleet.jobs.values()
    )
    return Outcome(
        fleet.now, round(fleet.searched), (summary.wasted_nodes + unfinished) / fleet.searched,
        1 - fleet.busy_seconds / (fleet.now * clients), summary.workunits, fleet.leases,
        fleet.ended_in_store, fleet.expired, summary.bounds,
    )  # fmt: skip
