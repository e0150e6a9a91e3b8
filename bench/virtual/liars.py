"""A project with lying hosts, as fast as it computes: for `bench/trust.py`.

What is drawn by chance is drawn anew for every campaign, from the seed and the number of the
campaign, so that a run which was ended between two campaigns goes on as if it had not been.
"""

from __future__ import annotations

import hashlib
import json
import math
import random
import uuid
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from zermelo.engine import Engine, Known, Status, Window, open_engine
from zermelo.games import Bounds, open_game
from zermelo.proto.known import KnownBounds, pack, unpack
from zermelo.server import validator
from zermelo.server.assimilator import assimilate
from zermelo.server.campaigns import (
    DEFAULT_PROBE_RATE,
    Campaign,
    create_campaign,
    list_campaigns,
    running_campaigns,
    waiting_campaigns,
)
from zermelo.server.coordinator.in_process import InProcessCoordinator, Request, Returned
from zermelo.server.database import Connection
from zermelo.server.planning.campaign_plan import CampaignPlan, Demand
from zermelo.server.tree.tree import Tree
from zermelo.server.trust import records
from zermelo.server.trust.referee import Referee
from zermelo.sql import query

SPEC = "reversi:8x8"
EMPTIES = 12
NODE_BUDGET = 100
#: Hosts for each question that the referee answers while each of them answers one or none.
HOSTS_PER_REFEREE = 200
#: How often a turncoat lies once it is trusted.
TURNED_RATE = 0.5
#: How often those lie who lie at random.
RANDOM_RATES = (0.5, 0.3, 0.2, 0.1)
#: The shares of hosts that are not honest; those that collude are pairs of one user.
SHARES = {"random": 0.05, "always": 0.02, "lazy": 0.05, "turncoat": 0.02}
COLLUDING = 0.01
#: Which part of all questions a colluding pair lies about.
COLLUSION = 0.3
SPEED = 100_000.0


@dataclass
class Host:
    id: int
    user: int
    kind: str
    rate: float = 0.0
    trusted: bool = False

    def lies(self, position: bytes, threshold: int, chance: random.Random) -> bool:
        if self.kind == "colluding":
            digest = hashlib.blake2b(position + bytes([threshold % 256]), digest_size=4).digest()
            return int.from_bytes(digest, "big") < COLLUSION * 2**32
        if self.kind == "turncoat" and not self.trusted:
            return False
        return chance.random() < self.rate


@dataclass
class Job:
    host: Host
    lease: int
    position: Any
    key: bytes
    threshold: int
    node_budget: int
    known: list[Known]


@dataclass
class Progress:
    """What a simulation remembers besides its database."""

    answers: int = 0
    lies: int = 0
    #: The leases whose hosts were not trusted when they answered.
    of_strangers: list[int] = field(default_factory=list)
    #: The last lease before all honest hosts were trusted and rarely checked, and how many answers
    #: that took.
    trusted_from_lease: int | None = None
    trusted_after: int = 0


class Simulation:
    def __init__(self, connection: Connection, folder: Path, hosts: int, seed: int) -> None:
        """Goes on with what `folder` remembers of the database's campaigns."""
        self.connection = connection
        self.seed = seed
        self.coordinator = InProcessCoordinator(connection, probe_rate=DEFAULT_PROBE_RATE)
        self.chance = random.Random(seed)
        self.engine: Engine = open_engine(open_game(SPEC), hash_mb=4)
        self.referee = Referee(connection)
        self.hosts = self._register(hosts)
        self.campaigns: list[Campaign] = list_campaigns(connection)
        self._file = folder / "progress.json"
        told = json.loads(self._file.read_text()) if self._file.exists() else {}
        self.progress = Progress(**told)
        #: Honest hosts that are not trusted yet.
        self.not_trusted = 0
        self._note_trusted()

    def _register(self, count: int) -> list[Host]:
        kinds = [
            kind for kind, share in SHARES.items() for _ in range(max(1, round(share * count)))
        ]
        kinds = ["colluding"] * (2 * max(1, round(COLLUDING / 2 * count))) + kinds
        kinds += ["honest"] * (count - len(kinds))
        hosts = []
        for number, kind in enumerate(kinds):
            # Two who collude are of one user.
            pair = number - number % 2 if kind == "colluding" else number
            host = self.coordinator.register(
                f"user {pair} {kind}", speed=SPEED,
                host_key_digest=uuid.UUID(int=self.chance.getrandbits(128)),
            )  # fmt: skip
            rates = {"always": 1.0, "turncoat": TURNED_RATE,
                     "random": RANDOM_RATES[number % len(RANDOM_RATES)]}  # fmt: skip
            rate = rates.get(kind, 0)
            hosts.append(Host(host.id, host.user, kind, rate))
        return hosts

    # -- a campaign -----------------------------------------------------------------------

    def solve_one(self) -> None:
        game = self.engine.game
        self.chance = random.Random(f"{self.seed} {len(self.campaigns)}")
        position = self._late_position()
        campaign = create_campaign(
            self.connection, SPEC, position=game.format(position), node_budget=NODE_BUDGET,
            name=f"late {len(self.campaigns)}", replication="adaptive", goal="score",
        )  # fmt: skip
        self.campaigns.append(campaign)
        self._solve(campaign)
        # A host found lying only now may have answered in campaigns that had finished.
        while running_campaigns(self.connection) or waiting_campaigns(self.connection):
            for waiting in waiting_campaigns(self.connection):
                assimilate(self.connection, waiting)
            for reopened in running_campaigns(self.connection):
                self._solve(reopened)
        self._file.write_text(json.dumps(asdict(self.progress)))

    def _solve(self, campaign: Campaign) -> None:
        plan = CampaignPlan(self.connection, campaign, self.engine)
        idle, busy = list(self.hosts), []
        now, idle_rounds = 0.0, 0
        while not plan.finished:
            now, refereed = now + 0.1, False
            plan.step(Demand(len(self.hosts), SPEED, now))
            self.chance.shuffle(idle)
            jobs = self._lease(idle)
            working = {job.host.id for job in jobs}
            idle = [host for host in idle if host.id not in working]
            busy += jobs
            self.chance.shuffle(busy)
            done, busy = busy[: (len(busy) + 1) // 2], busy[(len(busy) + 1) // 2 :]
            self._submit(done)
            idle += [job.host for job in done]
            while validator.validate(self.connection):
                pass
            if self.chance.random() < len(self.hosts) / HOSTS_PER_REFEREE:
                refereed = self.referee.step()
            while validator.validate(self.connection):
                pass
            while assimilate(self.connection, campaign):
                pass
            self._note_trusted()
            idle_rounds = 0 if done or refereed else idle_rounds + 1
            if idle_rounds > 200:
                raise RuntimeError(f"campaign {campaign.name} does not go on")
        self._submit(busy)
        while validator.validate(self.connection):
            pass
        self.connection.execute(query("unanswerable_votes"))
        while assimilate(self.connection, campaign):
            pass

    def _late_position(self) -> Any:
        game = self.engine.game
        while True:
            position = game.initial()
            while game.plies_left(position) > EMPTIES and (moves := game.moves(position)):
                position = game.play(position, self.chance.choice(moves))
            if game.moves(position):
                return position

    def _lease(self, hosts: list[Host]) -> list[Job]:
        leased = self.coordinator.request_for_all(
            [Request(host.id, host.user, 1, SPEED) for host in hosts]
        )
        jobs = []
        for lease in leased:
            seeds = [
                Known(self.engine.game.decode(item.key, item.history), Bounds(item.lo, item.hi))
                for item in (unpack(lease.known) if lease.known else [])
            ]
            position = self.engine.game.decode(lease.position, lease.history or b"")
            jobs.append(Job(
                hosts[lease.request - 1], lease.lease, position, lease.position, lease.threshold,
                lease.node_budget, seeds,
            ))  # fmt: skip
        return jobs

    def _submit(self, jobs: list[Job]) -> None:
        self.coordinator.submit([
            Returned(job.host.id, job.lease, answer, lo, hi, nodes, 0.1, proved)
            for job, (answer, lo, hi, nodes, proved) in zip(
                jobs, map(self._answer, jobs), strict=True
            )
        ])  # fmt: skip
        self.progress.answers += len(jobs)
        self.progress.of_strangers += [job.lease for job in jobs if not job.host.trusted]

    def _answer(self, job: Job) -> tuple[str, int, int, int, bytes | None]:
        if job.host.kind == "lazy":
            rules = self.engine.game.score_range
            return "exhausted", rules.lo, rules.hi, job.node_budget, None
        self.engine.clear()
        answer = self.engine.solve(
            job.position, Window.question(job.threshold), node_budget=job.node_budget,
            known=job.known,
        )
        rules = self.engine.game.score_range
        told = answer.bounds.answers(job.threshold)
        if job.host.lies(job.key, job.threshold, self.chance):
            self.progress.lies += 1
            if told:
                return "no", rules.lo, job.threshold - 1, answer.nodes, None
            return "yes", job.threshold, rules.hi, answer.nodes, None
        if answer.status is Status.SOLVED:
            word = "yes" if told else "no"
            return word, answer.bounds.lo, answer.bounds.hi, answer.nodes, None
        return "exhausted", answer.bounds.lo, answer.bounds.hi, answer.nodes, self._proved(answer)

    def _proved(self, answer: Any) -> bytes:
        game = self.engine.game
        known = []
        for item in answer.proved:
            canonical = game.canonical(item.position)
            known.append(KnownBounds(
                game.encode(canonical), game.history(canonical), item.bounds.lo, item.bounds.hi
            ))
        return pack(known)

    def _note_trusted(self) -> None:
        """Remember when the last honest host had become trusted and is rarely checked."""
        trusted = {row[0] for row in self.connection.execute(
            "SELECT id FROM hosts WHERE streak >= %s", (records.TRUSTED_AFTER,)
        )}  # fmt: skip
        for host in self.hosts:
            host.trusted = host.id in trusted
        if self.progress.trusted_from_lease is not None:
            return
        honest = [host.id for host in self.hosts if host.kind == "honest"]
        streaks = [row[0] for row in self.connection.execute(
            "SELECT streak FROM hosts WHERE id = ANY(%s)", (honest,)
        )]  # fmt: skip
        self.not_trusted = sum(
            records.check_rate(streak) > records.LEAST_CHECKED for streak in streaks
        )
        if not self.not_trusted:
            row = self.connection.execute(
                "SELECT max(lease) FROM results WHERE host <> %s", (self.referee.host,)
            ).fetchone()
            self.progress.trusted_from_lease = row and row[0]
            self.progress.trusted_after = self.progress.answers

    # -- what came of it ----------------------------------------------------------------------

    def wrong_bounds(self, campaign: Campaign) -> tuple[int, int, bool]:
        """Nodes, those whose bounds exclude the true score, and whether the value is wrong."""
        tree = Tree(self.connection, campaign.id, campaign.game)
        ids = [row[0] for row in self.connection.execute(
            "SELECT id FROM nodes WHERE campaign = %s", (campaign.id,)
        )]
        wrong, wrong_value = 0, False
        for node in tree.load(ids):
            position = tree.position(node)
            if self.engine.game.is_final(position):
                truth = Bounds(*[self.engine.game.score(position)] * 2)
            else:
                truth = self.engine.solve(position, Window(node.lo - 1, node.hi + 1)).bounds
            if truth.lo < node.lo or truth.hi > node.hi:
                wrong += 1
                wrong_value |= node.id == campaign.root
        return len(ids), wrong, wrong_value

    def extra_work(self, after: int) -> dict[str, float]:
        """Nodes by those of first answers, by what they were for, since a lease."""
        rows = self.connection.execute(
            """
            SELECT purpose, sum(nodes)::float8
            FROM (
                SELECT results.nodes, CASE
                    WHEN results.host = %(referee)s THEN 'the referee'
                    WHEN leases.probe THEN 'known answers'
                    WHEN first.lease IS NULL THEN 'first answers'
                    WHEN first.lease < 0 THEN 'checks of sharper bounds'
                    WHEN first.host <> ALL(%(honest)s) THEN 'checks of liars'
                    WHEN first.answer = 'exhausted' THEN 'checks of exhausted'
                    WHEN first.lease = ANY(%(of_strangers)s) THEN 'checks of strangers'
                    WHEN workunits.stakes = 'Infinity' THEN 'stakes'
                    ELSE 'checks of the trusted' END AS purpose
                FROM results JOIN leases ON leases.id = results.lease
                LEFT JOIN LATERAL (
                    SELECT earlier.lease, earlier.host, earlier.answer FROM results AS earlier
                    WHERE earlier.workunit = results.workunit AND earlier.lease < results.lease
                      AND earlier.host <> ALL(%(lazy)s)
                    ORDER BY earlier.lease LIMIT 1
                ) AS first ON true
                JOIN workunits ON workunits.id = results.workunit
                WHERE results.lease > %(after)s AND results.host <> ALL(%(lazy)s)
            ) AS work
            GROUP BY purpose
            """,
            {
                "after": after, "referee": self.referee.host,
                "of_strangers": self.progress.of_strangers,
                "honest": [host.id for host in self.hosts if host.kind == "honest"],
                # They searched nothing: who answers after them is the first.
                "lazy": [host.id for host in self.hosts if host.kind == "lazy"],
            },
        ).fetchall()
        nodes = dict(rows)
        first = nodes.pop("first answers", math.nan)
        return {purpose: spent / first for purpose, spent in nodes.items()}
