"""How the cost of each part grows with the tree: reversi 8x8 grown 9, 10 and 11 moves deep.

For every size a new database: expansion, the back-up of a batch of answers, `query position`,
the start of planning (for a new campaign, and beside the workunits of a fleet), `db check` and
vacuum. 11 moves (23 M nodes) take 20 minutes, 8 GB of memory and 11 GB of disk. On a machine that
does other things as well, the processor time of the program and of its connection tells more than
the clock.

    python bench/scale.py --moves 8,9,10
    python bench/scale.py --moves 8,9,10 --processor-time
    python bench/scale.py --moves 11 --folder /large/disk
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

from fresh import fresh_database
from psycopg import Rollback
from virtual.services import ServiceTime

from zermelo.engine import Engine, open_engine
from zermelo.research.tree_queries import TreeQueries
from zermelo.server.campaigns import Campaign, create_campaign
from zermelo.server.check import check_database
from zermelo.server.database import Connection, connect_once
from zermelo.server.growth import grow
from zermelo.server.planning.campaign_plan import CampaignPlan, Demand
from zermelo.server.tree.backup import Evidence, add_evidence
from zermelo.server.tree.tree import Tree
from zermelo.sql import query

#: Answers that are backed up together, how many such batches, and how many positions are looked
#: up.
BATCH, BATCHES, LOOKUPS = 500, 20, 500
#: The fleet that planning starts for.
CLIENTS, SPEED = 64, 1e6
#: So that the connection's own process does all that is counted.
ONE_PROCESS = (
    "ALTER ROLE CURRENT_USER SET max_parallel_workers_per_gather = 0",
    "ALTER ROLE CURRENT_USER SET max_parallel_maintenance_workers = 0",
)
ROWS = (
    ("expand", "s"), ("bytes a node", ""), ("back-up of 500: median", "ms"),
    ("back-up of 500: most", "ms"), ("query position: median", "ms"),
    ("query position: p99", "ms"), ("planning starts", "s"),
    ("planning starts again", "s"), ("db check", "s"), ("vacuum", "s"),
)  # fmt: skip


class Measures:
    def __init__(
        self, connection: Connection, campaign: Campaign, engine: Engine,
        clock: Callable[[], float],
    ) -> None:  # fmt: skip
        self.connection, self.campaign, self.engine = connection, campaign, engine
        self._clock = clock
        self.found: dict[str, float] = {}
        self._random = random.Random(1)

    def all(self, moves: int) -> dict[str, float]:
        with self._timed("expand"):
            nodes = grow(self.connection, self.campaign, self.engine, moves)
        self._note("nodes", nodes)
        row = self.connection.execute("SELECT pg_total_relation_size('nodes')").fetchone()
        self._note("bytes a node", (row[0] if row else 0) / nodes)
        with self._timed("vacuum"):
            self.connection.execute("VACUUM (ANALYZE, FREEZE) nodes")
        self.connection.execute(query("plan_by_index"))
        self._back_up()
        self._look_up()
        self._plan("planning starts")
        self._plan("planning starts again")
        self.connection.execute("RESET ALL")
        with self._timed("db check"):
            if found := check_database(self.connection):
                raise SystemExit(f"{len(found)} violations, such as: {found[0]}")
        return self.found

    def _back_up(self) -> None:
        """Batches of answers about random nodes of the frontier; nothing of it stays."""
        times = []
        for _ in range(BATCHES):
            evidence = [Evidence(id_, number, -64, 0)
                        for number, id_ in enumerate(self._frontier(BATCH))]
            with self.connection.transaction():
                started = self._clock()
                add_evidence(self.connection, self.campaign.id, evidence)
                times.append(1000 * (self._clock() - started))
                raise Rollback
        self._note("back-up of 500: median", median(times))
        self._note("back-up of 500: most", max(times))

    def _look_up(self) -> None:
        queries = TreeQueries(self.connection, self.campaign)
        tree = Tree(self.connection, self.campaign.id, self.campaign.game)
        positions = [
            self.campaign.game.format(tree.position(node))
            for node in tree.load(self._frontier(LOOKUPS))
        ]
        times = []
        for position in positions:
            started = self._clock()
            if queries.position(position).node is None:
                raise SystemExit(f"{position} is not in the tree")
            times.append(1000 * (self._clock() - started))
        self._note("query position: median", median(times))
        self._note("query position: p99", sorted(times)[int(0.99 * len(times))])

    def _plan(self, name: str) -> None:
        """A generator that starts, until its first questions are asked."""
        plan = CampaignPlan(self.connection, self.campaign, self.engine)
        with self._timed(name):
            plan.step(Demand(CLIENTS, SPEED, 0.0))

    def _frontier(self, count: int) -> list[int]:
        """Random nodes of the frontier, by where random ids lie."""
        found: dict[int, None] = {}
        while len(found) < count:
            row = self.connection.execute(
                "SELECT id FROM nodes WHERE id >= %s AND children IS NULL ORDER BY id LIMIT 1",
                (self._random.getrandbits(63),),
            ).fetchone()
            if row:
                found[row[0]] = None
        return list(found)

    @contextmanager
    def _timed(self, name: str) -> Iterator[None]:
        started = self._clock()
        yield
        self._note(name, self._clock() - started)

    def _note(self, name: str, number: float) -> None:
        """Keep a number; told at once, because the next one may take minutes."""
        self.found[name] = number
        print(f"  {name}: {number:,.2f}", file=sys.stderr, flush=True)


def measure(
    spec: str, moves: int, folder: Path | None, *, processor_time: bool
) -> dict[str, float]:
    with fresh_database("scale", folder) as fresh:
        if processor_time:
            with connect_once(fresh.url) as connection:
                for setting in ONE_PROCESS:
                    connection.execute(setting)
        with connect_once(fresh.url) as connection:
            connection.execute(query("commit_lazily"))
            campaign = create_campaign(connection, spec, replication="none")
            clock = ServiceTime(connection).read if processor_time else time.perf_counter
            return Measures(connection, campaign, open_engine(campaign.game), clock).all(moves)


def report(runs: list[dict[str, float]], echo: Callable[[str], Any] = print) -> None:
    echo(f"{'nodes':24}" + "".join(f"{run['nodes']:>14,.0f}" for run in runs))
    for name, unit in ROWS:
        cells = "".join(f"{run[name]:>11,.2f} {unit:2}" for run in runs)
        echo(f"{name:24}{cells}")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("spec", nargs="?", default="reversi:8x8")
    parser.add_argument("--moves", default="9,10", help="depths to grow the tree to")
    parser.add_argument("--folder", type=Path, help="where the databases are for the time being")
    parser.add_argument("--processor-time", action="store_true",
                        help="count that instead of seconds by the clock")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    runs: list[dict[str, float]] = []
    for moves in map(int, options.moves.split(",")):
        runs.append(measure(
            options.spec, moves, options.folder, processor_time=options.processor_time
        ))  # fmt: skip
        if not options.json:
            report(runs)
    if options.json:
        print(json.dumps(runs))


if __name__ == "__main__":
    main()
