"""How much longer campaigns take beside hosts that take work and never answer.

Real PostgreSQL and the services' own code in virtual time (virtual/hoarders.py). A fifth of all
hosts hoard: they ask for work all the time, report progress, and return nothing. Several positions
are solved twice each, by the honest hosts alone and by the same beside hoarders, with the same seed
of all that is drawn by chance. One campaign says little: which questions are asked first depends
on which answers come first, so that hoarders now and then even help. What counts is the mean of
the ratios, told with the interval in which it lies with 95 %. A ratio of times is one of nodes,
which is mostly chance, by one of paces (nodes that the honest search in a second), which is not:
both are told, too.

    python bench/hoarders.py [--campaigns 16] [--hosts 20] [--share 0.2] [--mature] [--json]
"""

from __future__ import annotations

import argparse
import json
import logging
import math
import os
import statistics
import tempfile
from collections.abc import Callable, Sequence
from itertools import count
from pathlib import Path
from typing import NamedTuple

from psycopg.conninfo import make_conninfo
from virtual.fleet import Puzzle
from virtual.hoarders import Outcome, late_position, solve_beside_hoarders
from virtual.oracle import Oracle

from zermelo.games import open_game
from zermelo.server.database import connect_once, ensure_schema
from zermelo.server.embedded import EmbeddedPostgres, running
from zermelo.server.planning import record

#: What a campaign may take beside hoarders, by what it takes without them.
MOST = 1.3
#: The 97.5 % quantile of Student's distribution, by its degrees of freedom; 1.96 beyond.
STUDENT = (
    math.inf, 12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26, 2.23, 2.20, 2.18, 2.16, 2.14,
    2.13, 2.12, 2.11, 2.10, 2.09, 2.09, 2.08, 2.07, 2.07, 2.06, 2.06, 2.06, 2.05, 2.05, 2.05, 2.04,
)  # fmt: skip


class Ratio(NamedTuple):
    """A mean of ratios, and where it lies with 95 %."""

    mean: float
    lowest: float
    highest: float

    def __str__(self) -> str:
        return f"{self.mean:.2f} ({self.lowest:.2f} to {self.highest:.2f})"


def mean_ratio(ratios: Sequence[float]) -> Ratio:
    """The geometric mean: twice as long and half as long come to nothing."""
    logs = [math.log(ratio) for ratio in ratios]
    freedom = len(logs) - 1
    mean = statistics.mean(logs)
    spread = statistics.stdev(logs) / math.sqrt(len(logs)) if freedom else math.inf
    around = (STUDENT[freedom] if freedom < len(STUDENT) else 1.96) * spread
    return Ratio(math.exp(mean), math.exp(mean - around), math.exp(mean + around))


class Stage:
    """One PostgreSQL for all campaigns; each has a database of its own."""

    def __init__(self, url: str, oracle: Oracle, options: argparse.Namespace) -> None:
        self._url, self._oracle, self._options = url, oracle, options

    def solve(self, seed: int, honest: int, hoarders: int) -> Outcome:
        options, name = self._options, f"hoarders_{seed}_{honest}_{hoarders}"
        with connect_once(self._url) as connection:
            connection.execute(f"CREATE DATABASE {name}".encode())
        url = make_conninfo(self._url, dbname=name)
        ensure_schema(url)
        position = late_position(self._oracle.game, options.plies_left, seed)
        with connect_once(url) as connection:
            connection.execute("SET synchronous_commit = off")
            outcome = solve_beside_hoarders(
                connection, self._oracle, Puzzle(position, "score", None), honest=honest,
                hoarders=hoarders, speed=options.speed, target_seconds=options.target_seconds,
                mature=options.mature, seed=seed,
            )  # fmt: skip
        with connect_once(self._url) as connection:
            connection.execute(f"DROP DATABASE {name}".encode())
        return outcome


def compare(stage: Stage, options: argparse.Namespace) -> list[dict[str, Outcome]]:
    """Every position with each company."""
    hoarders = round(options.share * options.hosts)
    honest = options.hosts - hoarders
    companies = {"alone": (honest, 0), "beside hoarders": (honest, hoarders)}
    if options.all_honest:
        companies["all honest"] = (options.hosts, 0)
    campaigns = []
    for seed in count(options.seed):
        if len(campaigns) == options.campaigns:
            break
        runs = {who: stage.solve(seed, *company) for who, company in companies.items()}
        if not runs["alone"].workunits:  # random moves can lead where the rules tell the score
            continue
        campaigns.append(runs)
        if not options.json:
            told = ", ".join(f"{who} {run.seconds:,.0f} s, {run.nodes:,} nodes in"
                             f" {run.workunits:,} workunits" for who, run in runs.items())
            print(f"position {seed}: {told}; at most {runs['beside hoarders'].most_held} leases"
                  f" hoarded, value {runs['alone'].bounds}", flush=True)
    return campaigns


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("spec", nargs="?", default="reversi:6x6")
    parser.add_argument("--campaigns", type=int, default=16, help="positions to solve")
    parser.add_argument("--plies-left", type=int, default=12, help="of the positions")
    parser.add_argument("--seed", type=int, default=1, help="of the moves to the first of them")
    parser.add_argument("--hosts", type=int, default=20)
    parser.add_argument("--share", type=float, default=0.2, help="of the hosts that hoard")
    parser.add_argument("--speed", type=float, default=4.0, help="nodes a second of a host")
    parser.add_argument("--target-seconds", type=float, default=60.0)
    parser.add_argument("--mature", action="store_true",
                        help="the honest are trusted from the beginning")
    parser.add_argument("--all-honest", action="store_true",
                        help="compare with as many honest hosts, too")
    parser.add_argument("--memory", type=Path, default=Path("bench/out/hoarders.sqlite"))
    parser.add_argument("--cores", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    logging.getLogger("zermelo").setLevel(logging.ERROR)
    record.SNAPSHOT_SECONDS = record.QUIET_SNAPSHOT_SECONDS = math.inf
    oracle = Oracle(open_game(options.spec), options.memory, options.cores)
    with tempfile.TemporaryDirectory(prefix="zermelo-hoarders-") as folder:
        Path(folder).chmod(0o711)
        with running(EmbeddedPostgres(Path(folder))) as url:
            campaigns = compare(Stage(url, oracle, options), options)
    against = [who for who in campaigns[0] if who != "beside hoarders"]
    ratios = {who: compared(campaigns, who) for who in against}
    if options.json:
        print(json.dumps({
            "campaigns": [{who: run._asdict() for who, run in runs.items()} for runs in campaigns],
            "ratios": {who: {what: ratio._asdict() for what, ratio in told.items()}
                       for who, told in ratios.items()},
        }))  # fmt: skip
        return
    for who, told in ratios.items():
        print(f"beside hoarders, by the honest {who.removesuffix(' honest')},"
              f" in {len(campaigns)} campaigns (time: must {MOST})")
        for what, ratio in told.items():
            print(f"  {what:6} {ratio}")


def compared(campaigns: list[dict[str, Outcome]], who: str) -> dict[str, Ratio]:
    """Time, nodes and pace beside hoarders, by those of the others."""
    measures: dict[str, Callable[[Outcome], float]] = {
        "time": lambda run: run.seconds, "nodes": lambda run: run.nodes,
        "pace": lambda run: run.pace,
    }  # fmt: skip
    return {
        what: mean_ratio([
            measure(runs["beside hoarders"]) / measure(runs[who]) for runs in campaigns
        ])
        for what, measure in measures.items()
    }  # fmt: skip


if __name__ == "__main__":
    main()
