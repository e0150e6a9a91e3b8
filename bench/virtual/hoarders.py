"""A fleet in virtual time, some of whose hosts take all they may have and never answer.

Every host has a user of its own, answers are compared, and users have quotas, as in a project that
strangers may call. A hoarder asks for work all the time and reports progress, so that its leases
last as long as the rules allow.
"""

from __future__ import annotations

import heapq
import random
from dataclasses import dataclass, field
from itertools import count
from typing import Any, NamedTuple
from unittest.mock import patch

from zermelo.games import Game
from zermelo.server.campaigns import campaign_summary, create_campaign
from zermelo.server.chance import CHANCE
from zermelo.server.coordinator.in_process import InProcessCoordinator, Progress, Request
from zermelo.server.coordinator.main import HOUSEKEEPING_SECONDS
from zermelo.server.coordinator.settings import CoordinatorSettings
from zermelo.server.database import Connection
from zermelo.server.generator import live_demand
from zermelo.server.planning.campaign_plan import Demand

from .clock import VirtualClock
from .fleet import HEARTBEAT, Client, Fleet, Job, Puzzle
from .oracle import Oracle

#: What a hoarder asks for at once: more than anybody may have.
GREED = 1024
HOUSEKEEPING = "housekeeping"


class Held(NamedTuple):
    """A lease that nobody works on."""

    lease: int
    since: float
    node_budget: int


@dataclass
class HoardedFleet(Fleet):
    """`size` honest clients and besides them `hoarders`; each of a user of its own."""

    hoarders: int = 0
    #: Whether the honest are trusted from the beginning, and have the quota for it.
    mature: bool = False
    #: The most leases that hoarders held at once.
    most_held: int = 0
    _held: dict[int, list[Held]] = field(default_factory=dict)
    _next_beat: float = HEARTBEAT

    def __post_init__(self) -> None:
        self._clock = VirtualClock(self.connection)
        self._users = count()
        super().__post_init__()
        if self.mature:
            self.connection.execute("UPDATE hosts SET streak = 100000, confirmed = 100000")
            self.connection.execute("UPDATE users SET quota = 4096")
        self._hoarding = [self._client("hoarder", 1.0) for _ in range(self.hoarders)]
        heapq.heappush(self.events, (HOUSEKEEPING_SECONDS, 0, HOUSEKEEPING))

    def run_by(self, seed: int) -> None:
        """Run, and draw from the seed all that the services draw by chance."""
        chance = random.Random(seed)
        with patch.multiple(CHANCE, random=chance.random, getrandbits=chance.getrandbits):
            self.run()
        self.oracle.save()

    @property
    def expired(self) -> int:
        """The leases that ran out."""
        query = "SELECT count(*) FROM leases WHERE state = 'expired'"
        row = self.connection.execute(query).fetchone()
        return int(row[0]) if row else 0

    def _open_coordinator(self) -> InProcessCoordinator:
        return InProcessCoordinator(
            self.connection, lease_seconds=CoordinatorSettings().lease_seconds, limits_users=True
        )

    def _client(self, user: str, pace: float) -> Client:
        return super()._client(f"{user} {next(self._users)}", pace)

    def _serve(self, done: list[Job]) -> None:
        self._clock.set(self.now)
        if not any(event == HOUSEKEEPING for _, _, event in self.events):
            self.connection.execute("UPDATE hosts SET seen_at = now()")
            self.coordinator.expire()
            self.coordinator.ask_overdue_again()
            self._beat()
            heapq.heappush(self.events, (self.now + HOUSEKEEPING_SECONDS, 0, HOUSEKEEPING))
        super()._serve(done)

    def _demand(self) -> Demand:
        return live_demand(self.connection)._replace(now=self.now)

    def _hand_out(self) -> None:
        self._hoard()  # they ask all the time, so they are the first to get what is new
        super()._hand_out()

    def _beat(self) -> None:
        """Everybody reports progress: those who work what they did, hoarders what lasts longest."""
        if self.now < self._next_beat:
            return
        self._next_beat = self.now + HEARTBEAT
        working = [
            Progress(job.client.host, job.lease, round((self.now - job.started) * job.client.speed))
            for job in self.jobs.values()
            if self.now > job.started
        ]
        pretending = [
            Progress(client.host, held.lease, min(held.node_budget, round(
                (self.now - held.since) * client.speed
            )))
            for client in self._hoarding
            for held in self._held.get(client.host, ())
        ]  # fmt: skip
        self.coordinator.heartbeat(working)
        told = self.coordinator.heartbeat(pretending) if pretending else []
        ended = {item.lease for item in told if item.directive != "continue"}
        for host, held in self._held.items():
            self._held[host] = [item for item in held if item.lease not in ended]

    def _hoard(self) -> None:
        if not self._hoarding:
            return
        leased = self.coordinator.request_for_all([
            Request(client.host, client.user, GREED, client.speed) for client in self._hoarding
        ])  # fmt: skip
        for item in leased:
            self._held.setdefault(item.host, []).append(
                Held(item.lease, self.now, item.node_budget)
            )
        self.most_held = max(self.most_held, sum(map(len, self._held.values())))


class Outcome(NamedTuple):
    """How long a campaign took, in virtual seconds, and what stood in its way."""

    seconds: float
    nodes: int
    workunits: int
    bounds: tuple[int, int]
    most_held: int
    expired: int

    @property
    def pace(self) -> float:
        """Nodes that the honest searched in a second."""
        return self.nodes / self.seconds


def late_position(game: Game[Any], plies_left: int, seed: int) -> str:
    """A position after random moves."""
    chance, position = random.Random(seed), game.initial()
    while game.plies_left(position) > plies_left and not game.is_final(position):
        position = game.play(position, chance.choice(list(game.moves(position))))
    return game.format(position)


def solve_beside_hoarders(
    connection: Connection, oracle: Oracle, puzzle: Puzzle, *, honest: int, hoarders: int,
    speed: float, target_seconds: float, mature: bool = False, seed: int = 1,
) -> Outcome:  # fmt: skip
    """Solve the puzzle in a database of its own, which virtual time takes hold of."""
    campaign = create_campaign(
        connection, oracle.game.spec, position=puzzle.position, goal=puzzle.goal,
        claim=puzzle.claim, name="beside hoarders", target_seconds=target_seconds,
        replication="adaptive",
    )  # fmt: skip
    fleet = HoardedFleet(
        connection, campaign, oracle, honest, speed, times_services=False, hoarders=hoarders,
        mature=mature,
    )  # fmt: skip
    fleet.run_by(seed)
    summary = campaign_summary(connection, campaign.name)
    return Outcome(
        fleet.now, round(fleet.searched), summary.workunits, summary.bounds, fleet.most_held,
        fleet.expired,
    )
