"""Speed-up of a simulated fleet: the real server side in virtual time.

Choice, split, validation, back-up and withdrawal are the services' own code on a real
PostgreSQL; only the clocks and the clients are simulated. A client's answer and its
cost come from the real engine, started with an empty table, and are remembered on
disk, so that a second run takes minutes instead of hours.

    python bench/fleet.py [reversi:6x6] [--speed 1300] [--clients 1,16,256,1024]
"""

from __future__ import annotations

import argparse
import heapq
import json
import math
import random
import sqlite3
import tempfile
import time
import uuid
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from zermelo.engine import Answer, Engine, Status, Window, open_engine
from zermelo.games import Game, open_game
from zermelo.proto.known import KnownBounds, pack
from zermelo.server.assimilator import assimilate
from zermelo.server.campaigns import Campaign, campaign_summary, create_campaign
from zermelo.server.coordinator.matching import Slot, lease_parameters, leases_of_block
from zermelo.server.database import Connection, connect_once, ensure_schema
from zermelo.server.embedded import EmbeddedPostgres, running
from zermelo.server.planning.campaign_plan import CampaignPlan, Demand
from zermelo.server.validator import validate
from zermelo.sql import query

#: Nodes a simulated client searches a second unless told otherwise. Slow on purpose: what
#: counts for a fleet is how long the tree keeps it busy. At this speed 6x6 takes one client
#: as long as 6x7, about 75 times as many nodes by the cost model, takes one at 100,000.
SPEED = 1_300.0
LATENCY = 0.1  # seconds from a result to the next workunit
TICK = 0.05  # how often the services look, in virtual seconds
HEARTBEAT = 5.0
TARGET_SECONDS = 60.0
HASH_MB = 8
SAVE_EVERY = 500  # answers
FINGERPRINT_LINES = 5
FINGERPRINT_PLIES = 14


@dataclass(frozen=True, slots=True)
class Reply:
    """What a client sends back."""

    answer: str
    lo: int
    hi: int
    nodes: int
    proved: bytes | None


def fingerprint(engine: Engine) -> int:
    """Tells versions of an engine apart, by what a few late positions cost: costs that were
    remembered are good for one version only."""
    game, nodes = engine.game, 0
    for line in range(FINGERPRINT_LINES):
        chance, position = random.Random(line), game.initial()
        while game.plies_left(position) > FINGERPRINT_PLIES and not game.is_final(position):
            position = game.play(position, chance.choice(list(game.moves(position))))
        engine.clear()
        nodes = 31 * nodes + engine.solve(position).nodes
    return nodes


class Oracle:
    """The engine's answers, remembered on disk."""

    def __init__(self, game: Game[Any], engine: Engine, file: Path) -> None:
        self.game, self.engine = game, engine
        self._unsaved = 0
        file.parent.mkdir(parents=True, exist_ok=True)
        self._disk = sqlite3.connect(file)
        self._disk.execute(
            "CREATE TABLE IF NOT EXISTS answers (spec, engine, key, threshold, answer, lo, hi,"
            " nodes, proved)"
        )
        self._engine_mark = fingerprint(engine)
        self._solved: dict[tuple[bytes, int], Reply] = {}
        self._exhausted: dict[tuple[bytes, int], Reply] = {}
        for key, threshold, *reply in self._disk.execute(
            "SELECT key, threshold, answer, lo, hi, nodes, proved FROM answers"
            " WHERE spec = ? AND engine = ?",
            (game.spec, self._engine_mark),
        ):
            self._remember(key, threshold, Reply(*reply))

    def ask(self, key: bytes, threshold: int, budget: int) -> Reply:
        solved = self._solved.get((key, threshold))
        if solved and solved.nodes <= budget:
            return solved
        known = self._exhausted.get((key, threshold))
        if known and budget <= known.nodes <= 1.5 * budget:
            return Reply("exhausted", known.lo, known.hi, budget, known.proved)
        self.engine.clear()
        found = self.engine.solve(
            self.game.decode(key), Window.question(threshold), node_limit=budget
        )
        reply = self._reply(found, threshold, budget)
        self._remember(key, threshold, reply)
        self._disk.execute(
            "INSERT INTO answers VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (self.game.spec, self._engine_mark, key, threshold, reply.answer, reply.lo, reply.hi,
             reply.nodes, reply.proved),
        )
        self._unsaved += 1
        if self._unsaved >= SAVE_EVERY:
            self.save()
        return reply

    def save(self) -> None:
        self._disk.commit()
        self._unsaved = 0

    def _remember(self, key: bytes, threshold: int, reply: Reply) -> None:
        memory = self._exhausted if reply.answer == "exhausted" else self._solved
        memory[key, threshold] = reply

    def _reply(self, found: Answer, threshold: int, budget: int) -> Reply:
        bounds = found.bounds
        if found.status is Status.SOLVED:
            verdict = "yes" if bounds.lo >= threshold else "no"
            return Reply(verdict, bounds.lo, bounds.hi, max(1, found.nodes), None)
        below = []
        for item in found.proved:
            canonical = self.game.canonical(item.position)
            key = self.game.encode(canonical)
            below.append(KnownBounds(key, b"", item.bounds.lo, item.bounds.hi))
        return Reply("exhausted", bounds.lo, bounds.hi, budget, pack(below) if below else None)


@dataclass(slots=True)
class Job:
    lease: int
    client: int
    started: float
    reply: Reply
    dropped: bool = False


@dataclass
class Fleet:
    """N clients, the services, and a clock that jumps to the next event."""

    connection: Connection
    campaign: Campaign
    oracle: Oracle
    clients: int
    speed: float = SPEED
    now: float = 0.0
    busy_seconds: float = 0.0
    planning_seconds: float = 0.0
    jobs: dict[int, Job] = field(default_factory=dict)
    idle: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.plan = CampaignPlan(self.connection, self.campaign, self.oracle.engine)
        self.events: list[tuple[float, int, str]] = []
        self.idle = [self._register() for _ in range(self.clients)]

    def run(self) -> None:
        self._serve([])
        while not self.plan.finished:
            if not self.events:
                raise RuntimeError("nobody works, but the campaign is not finished")
            self.now = self.events[0][0] + TICK
            self._serve(self._due())

    def _register(self) -> int:
        user = self.connection.execute(query("ensure_user"), {"name": "fleet"}).fetchone()
        assert user  # noqa: S101
        row = self.connection.execute(
            query("register_host"),
            {"instance": uuid.uuid4(), "user": user[0], "name": "", "version": "", "slots": 1,
             "speed": self.speed},
        ).fetchone()
        assert row  # noqa: S101
        return int(row[0])

    def _due(self) -> list[Job]:
        """What ended until now: jobs done, and jobs that a heartbeat told to drop."""
        done = []
        while self.events and self.events[0][0] <= self.now:
            at, lease, event = heapq.heappop(self.events)
            job = self.jobs.get(lease)
            if job is None or (event == "drop") != job.dropped:
                continue
            del self.jobs[lease]
            self.idle.append(job.client)
            self.busy_seconds += at - job.started
            if event == "drop":
                self._cancel(job, at)
            else:
                done.append(job)
        return done

    def _serve(self, done: list[Job]) -> None:
        if done:
            self._submit(done)
            while validate(self.connection):
                pass
            while assimilate(self.connection, self.campaign):
                pass
        started = time.perf_counter()
        demand = Demand(self.clients, self.speed, self.now)
        while self.plan.step(demand) and not self.plan.finished:
            pass
        self.planning_seconds += time.perf_counter() - started
        self._spread_withdrawals()
        if not self.plan.finished:
            self._lease()

    def _lease(self) -> None:
        if not self.idle:
            return
        (block,) = self.connection.execute(query("reserve_leases")).fetchone() or (0,)
        rows = self.connection.execute(
            query("lease_workunits"),
            lease_parameters(
                [Slot(at, host, 0, self.speed) for at, host in enumerate(self.idle, 1)],
                leases_of_block(block)[0],
            ) | {"default_speed": self.speed, "lease_seconds": 3600},
        ).fetchall()
        hosts = list(self.idle)
        for request, lease, _, _, _, key, _, threshold, budget, _ in rows:
            host = hosts[request - 1]
            self.idle.remove(host)
            reply = self.oracle.ask(bytes(key), threshold, budget)
            started = self.now + LATENCY
            self.jobs[lease] = Job(lease, host, started, reply)
            heapq.heappush(self.events, (started + reply.nodes / self.speed, lease, "done"))

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
            beats = max(1, math.ceil((self.now - job.started) / HEARTBEAT))
            at = job.started + beats * HEARTBEAT
            if at < job.started + job.reply.nodes / self.speed:
                job.dropped = True
                heapq.heappush(self.events, (at, lease, "drop"))

    def _cancel(self, job: Job, at: float) -> None:
        self.connection.execute(
            "UPDATE leases SET state = 'cancelled', ended_at = now(), nodes = %s WHERE id = %s",
            (round((at - job.started) * self.speed), job.lease),
        )

    def _submit(self, jobs: list[Job]) -> None:
        self.connection.execute(
            query("submit_results"),
            {
                "hosts": [job.client for job in jobs],
                "leases": [job.lease for job in jobs],
                "answers": [job.reply.answer for job in jobs],
                "los": [job.reply.lo for job in jobs],
                "his": [job.reply.hi for job in jobs],
                "nodes": [job.reply.nodes for job in jobs],
                "seconds": [job.reply.nodes / self.speed for job in jobs],
                "proved": [job.reply.proved for job in jobs],
            },
        )


def simulate(
    connection: Connection, oracle: Oracle, position: str | None, goal: str, clients: int,
    speed: float,
) -> dict[str, Any]:  # fmt: skip
    campaign = create_campaign(
        connection, oracle.game.spec, position=position, name=f"{goal} with {clients} clients",
        goal=goal, target_seconds=TARGET_SECONDS,
    )
    fleet = Fleet(connection, campaign, oracle, clients, speed)
    started = time.perf_counter()
    fleet.run()
    oracle.save()
    summary = campaign_summary(connection, campaign.name)
    # Whoever still works when the answer is known works for nothing.
    unfinished = sum(max(0.0, fleet.now - job.started) for job in fleet.jobs.values())
    busy = fleet.busy_seconds + unfinished
    return {
        "clients": clients,
        "bounds": summary.bounds,
        "seconds": fleet.now,
        "idle_share": 1 - busy / (fleet.now * clients),
        "unneeded_share": (summary.wasted_nodes + unfinished * speed) / (busy * speed),
        "split_share": summary.split_nodes / summary.nodes,
        "nodes": round(busy * speed),
        "workunits": summary.workunits,
        "splits": summary.splits,
        "withdrawn": summary.withdrawn,
        "tree_nodes": summary.tree_nodes,
        "real_seconds": time.perf_counter() - started,
        "planning_seconds": fleet.planning_seconds,
    }


def report(runs: list[dict[str, Any]]) -> None:
    base = runs[0]
    print(
        f"{'clients':>8} {'speed-up':>9} {'seconds':>10} {'nodes':>15} {'idle':>7}"
        f" {'unneeded':>9} {'split':>7} {'workunits':>10} {'splits':>7} {'real s':>7}"
        f" {'plan s':>7}"
    )
    for run in runs:
        speed_up = base["seconds"] * base["clients"] / run["seconds"]
        print(
            f"{run['clients']:>8} {speed_up:>9.1f} {run['seconds']:>10.1f} {run['nodes']:>15,}"
            f" {run['idle_share']:>7.1%} {run['unneeded_share']:>9.1%} {run['split_share']:>7.1%}"
            f" {run['workunits']:>10,} {run['splits']:>7,} {run['real_seconds']:>7.0f}"
            f" {run['planning_seconds']:>7.0f}", flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("spec", nargs="?", default="reversi:6x6")
    parser.add_argument("--position", help="a position instead of the initial one")
    parser.add_argument("--goal", choices=["score", "outcome"], default="outcome")
    parser.add_argument("--clients", default="1,16,256,1024",
                        help="sizes; the first is the base")
    parser.add_argument("--speed", type=float, default=SPEED, help="nodes a second of a client")
    parser.add_argument("--memory", type=Path, default=Path("bench/out/fleet.sqlite"))
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    game = open_game(options.spec)
    oracle = Oracle(game, open_engine(game, hash_mb=HASH_MB), options.memory)
    runs: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory(prefix="zermelo-fleet-") as folder:
        Path(folder).chmod(0o711)
        with running(EmbeddedPostgres(Path(folder))) as url:
            ensure_schema(url)
            with connect_once(url) as connection:
                connection.execute("SET synchronous_commit = off")
                for clients in map(int, options.clients.split(",")):
                    runs.append(simulate(connection, oracle, options.position, options.goal,
                                         clients, options.speed))  # fmt: skip
                    if not options.json:
                        report(runs)
    if options.json:
        print(json.dumps(runs))


if __name__ == "__main__":
    main()
