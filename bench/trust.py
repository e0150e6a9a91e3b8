"""How safe the tree is from lying hosts, what that costs, and what the cheapest lie costs.

Real PostgreSQL, the real generator, validator, referee and assimilator, the real engine; only the
network is left out: hosts take their leases from, and hand in their results to, a coordinator in
the same process. 200 hosts solve late positions of reversi 8x8, one campaign after
the other; 5 % of them lie at random, 2 % always, 1 % are pairs of one user who agree on
what to lie about, 5 % are lazy (`exhausted` to everything) and 2 % are turncoats (honest until they
are trusted, then they lie). At the end every bound of every tree is compared with the truth.

Then the cheapest corruption is computed from the same rules and trees (virtual/corruption.py).

    python bench/trust.py [--hosts 200] [--answers 40000] [--seed 1] [--json]
"""

from __future__ import annotations

import argparse
import hashlib
import json
import logging
import math
import random
import shutil
import tempfile
import time
import uuid
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from virtual.corruption import Corruption, cheapest_corruption

from zermelo.engine import Engine, Known, Status, Window, open_engine
from zermelo.games import Bounds, open_game
from zermelo.proto.known import KnownBounds, pack, unpack
from zermelo.server import validator
from zermelo.server.assimilator import assimilate
from zermelo.server.campaigns import (
    DEFAULT_PROBE_RATE,
    Campaign,
    create_campaign,
    running_campaigns,
    waiting_campaigns,
)
from zermelo.server.check import check_database
from zermelo.server.coordinator.in_process import InProcessCoordinator, Request, Returned
from zermelo.server.database import Connection, connect_once, ensure_schema
from zermelo.server.embedded import EmbeddedPostgres, running
from zermelo.server.planning.campaign_plan import CampaignPlan, Demand
from zermelo.server.tree.tree import Tree
from zermelo.server.trust import records
from zermelo.server.trust.referee import Referee
from zermelo.sql import query

SPEC = "reversi:8x8"
EMPTIES = 12
#: At least one answer in this number comes after all honest hosts are trusted.
ANSWERS_PART_TRUSTED = 5
NODE_BUDGET = 100
#: Hosts for each question that the referee answers while each of them answers one or none.
HOSTS_PER_REFEREE = 200
#: Half of the answers that 200 hosts needed before trust was confirmed work.
HALF_OF_FORMER = 13_500
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
    chance: random.Random = field(default_factory=random.Random)
    trusted: bool = False

    def lies(self, position: bytes, threshold: int) -> bool:
        if self.kind == "colluding":
            digest = hashlib.blake2b(position + bytes([threshold % 256]), digest_size=4).digest()
            return int.from_bytes(digest, "big") < COLLUSION * 2**32
        if self.kind == "turncoat" and not self.trusted:
            return False
        return self.chance.random() < self.rate


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
class Report:
    hosts: int
    liars: dict[str, int]
    answers: int
    lies: int
    campaigns: int
    tree_nodes: int
    wrong_bounds: int
    wrong_values: int
    violations: int
    convictions: int
    distrusted: int
    retractions: int
    #: What the trees of the simulation say about the cheapest corruption.
    corruption: Corruption
    #: Second opinions and known answers, in nodes, by the nodes of first answers.
    extra_work: float
    extra_work_for: dict[str, float]
    extra_work_trusted: float
    #: The latter by what it was for.
    extra_work_trusted_for: dict[str, float]
    trusted_after_answers: int
    seconds: float


class Simulation:
    def __init__(self, connection: Connection, hosts: int, seed: int) -> None:
        self.connection = connection
        self.coordinator = InProcessCoordinator(connection, probe_rate=DEFAULT_PROBE_RATE)
        self.chance = random.Random(seed)
        self.engine: Engine = open_engine(open_game(SPEC), hash_mb=4)
        self.referee = Referee(connection)
        self.hosts = self._register(hosts)
        self.answers = self.lies = self.lazy_answers = 0
        #: The leases whose hosts were not trusted when they answered.
        self.of_strangers: list[int] = []
        self.trusted_from_lease: int | None = None
        self.trusted_after = 0
        #: Honest hosts that are not trusted yet.
        self.not_trusted = 0
        self.campaigns: list[Campaign] = []
        self.truths: list[int] = []

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
            hosts.append(Host(host.id, host.user, kind, rate, random.Random(self.chance.random())))
        return hosts

    # -- a campaign -----------------------------------------------------------------------

    def solve_one(self) -> None:
        game = self.engine.game
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
        self.answers += len(jobs)
        self.of_strangers += [job.lease for job in jobs if not job.host.trusted]

    def _answer(self, job: Job) -> tuple[str, int, int, int, bytes | None]:
        if job.host.kind == "lazy":
            self.lazy_answers += 1
            rules = self.engine.game.score_range
            return "exhausted", rules.lo, rules.hi, job.node_budget, None
        self.engine.clear()
        answer = self.engine.solve(
            job.position, Window.question(job.threshold), node_budget=job.node_budget,
            known=job.known,
        )
        rules = self.engine.game.score_range
        told = answer.bounds.answers(job.threshold)
        if job.host.lies(job.key, job.threshold):
            self.lies += 1
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
        if self.trusted_from_lease is not None:
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
            self.trusted_from_lease, self.trusted_after = row and row[0], self.answers

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
                "of_strangers": self.of_strangers,
                "honest": [host.id for host in self.hosts if host.kind == "honest"],
                # They searched nothing: who answers after them is the first.
                "lazy": [host.id for host in self.hosts if host.kind == "lazy"],
            },
        ).fetchall()
        nodes = dict(rows)
        first = nodes.pop("first answers", math.nan)
        return {purpose: spent / first for purpose, spent in nodes.items()}


def simulate(folder: Path, hosts: int, answers: int, seed: int) -> Report:
    started = time.monotonic()
    with running(EmbeddedPostgres(folder)) as url:
        ensure_schema(url)
        with connect_once(url) as connection:
            connection.execute("SET synchronous_commit = off")  # nothing crashes here
            simulation = Simulation(connection, hosts, seed)
            # What safety costs once hosts are trusted needs answers from then on.
            while simulation.answers < max(
                answers, simulation.trusted_after + answers // ANSWERS_PART_TRUSTED
            ):
                simulation.solve_one()
                extra = sum(simulation.extra_work(0).values())
                print(f"{simulation.answers:7} answers, {simulation.lies} lies, {extra:.1%} extra,"
                      f" {simulation.not_trusted} honest hosts not trusted yet", flush=True)
            trees = [simulation.wrong_bounds(campaign) for campaign in simulation.campaigns]
            actions = dict(connection.execute(
                "SELECT action, count(*) FROM audit GROUP BY action"
            ).fetchall())
            violations = check_database(connection)
            for violation in violations[:20]:
                print(violation)
            kinds = [host.kind for host in simulation.hosts]
            since = simulation.trusted_from_lease
            trusted = simulation.extra_work(since) if since else {}
            return Report(
                hosts=hosts,
                liars={kind: kinds.count(kind) for kind in ("colluding", *SHARES)},
                answers=simulation.answers,
                lies=simulation.lies,
                campaigns=len(trees),
                tree_nodes=sum(nodes for nodes, _, _ in trees),
                wrong_bounds=sum(wrong for _, wrong, _ in trees),
                wrong_values=sum(wrong for _, _, wrong in trees),
                violations=len(violations),
                convictions=actions.get("convict", 0),
                distrusted=actions.get("distrust", 0),
                retractions=actions.get("retract", 0),
                corruption=cheapest_corruption(
                    connection, simulation.campaigns, simulation.engine,
                    records.count_users(connection).trusted,
                ),
                extra_work=sum(simulation.extra_work(0).values()),
                extra_work_for=simulation.extra_work(0),
                extra_work_trusted=sum(trusted.values()) if trusted else math.nan,
                extra_work_trusted_for=trusted,
                trusted_after_answers=simulation.trusted_after,
                seconds=time.monotonic() - started,
            )  # fmt: skip


def show(report: Report) -> None:
    print(f"{report.answers:,} answers of {report.hosts} hosts ({report.liars}), {report.lies:,}"
          f" of them lies; {report.campaigns} campaigns, {report.tree_nodes:,} nodes")
    print(f"{'':52} {'measured':>10} {'must':>7} {'goal':>7}")
    rows = [
        ("wrong bounds in the trees at the end", f"{report.wrong_bounds}", "0", ""),
        ("wrong values of campaigns", f"{report.wrong_values}", "0", ""),
        ("violations found by db check", f"{report.violations}", "0", ""),
        ("extra work once hosts are trusted", f"{report.extra_work_trusted:.1%}", "5 %", "3 %"),
        ("extra work from the first answer on", f"{report.extra_work:.1%}", "20 %", ""),
        ("answers until all honest hosts are trusted", f"{report.trusted_after_answers:,}",
         f"{HALF_OF_FORMER * report.hosts // 200:,}", ""),
    ]
    for name, measured, must, goal in rows:
        print(f"{name:52} {measured:>10} {must:>7} {goal:>7}")
    for purpose, share in sorted(report.extra_work_for.items()):
        print(f"{'  from the first answer on, ' + purpose:52} {share:>10.1%}")
    for purpose, share in sorted(report.extra_work_trusted_for.items()):
        print(f"{'  once trusted, ' + purpose:52} {share:>10.1%}")
    print(f"{report.convictions} convictions, {report.distrusted} hosts distrusted for `exhausted`,"
          f" {report.retractions} retractions; {report.seconds:.0f} s")
    for line in report.corruption.lines():
        print(line)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--hosts", type=int, default=200)
    parser.add_argument("--answers", type=int, default=40_000, help="the least number of them")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    logging.getLogger("zermelo").setLevel(logging.ERROR)
    folder = Path(tempfile.mkdtemp(prefix="zermelo-bench-"))
    folder.chmod(0o755)
    try:
        report = simulate(folder, options.hosts, options.answers, options.seed)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    if options.json:
        print(json.dumps(asdict(report)))
    else:
        show(report)


if __name__ == "__main__":
    main()
