"""What a larger store of work costs: nodes searched, work that ended in a store, idle time.

Real PostgreSQL and the services' own code in virtual time (virtual/storing.py). Every client has an
account of its own and answers are compared. Several late positions are solved once with each store,
by the same seed of all that is drawn by chance; told are the sums over all positions. One campaign
says little: which questions are asked first depends on which answers come first.

    python bench/store.py [--stores 0.03,10,30] [--campaigns 8] [--clients 16] [--young] [--json]
"""

from __future__ import annotations

import argparse
import json
import logging
import math
import os
from itertools import count
from pathlib import Path

from fresh import fresh_database
from virtual.fleet import Puzzle
from virtual.hoarders import late_position
from virtual.oracle import Oracle
from virtual.storing import Outcome, solve_with_store

from zermelo.games import open_game
from zermelo.server.database import connect_once
from zermelo.server.planning import record


def solve(oracle: Oracle, options: argparse.Namespace, seed: int, store: float) -> Outcome:
    position = late_position(oracle.game, options.plies_left, seed)
    with fresh_database("store") as fresh, connect_once(fresh.url) as connection:
        connection.execute("SET synchronous_commit = off")
        return solve_with_store(
            connection, oracle, Puzzle(position, "score", None), clients=options.clients,
            speed=options.speed, target_seconds=options.target_seconds, store_seconds=store,
            mature=not options.young, seed=seed,
        )  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("spec", nargs="?", default="reversi:6x6")
    parser.add_argument("--stores", default="0.03,10,30", help="seconds, one run for each")
    parser.add_argument("--campaigns", type=int, default=8, help="positions to solve")
    parser.add_argument("--plies-left", type=int, default=14, help="of the positions")
    parser.add_argument("--seed", type=int, default=1, help="of the moves to the first of them")
    parser.add_argument("--clients", type=int, default=16)
    parser.add_argument("--speed", type=float, default=10.0, help="nodes a second of a client")
    parser.add_argument("--target-seconds", type=float, default=10.0)
    parser.add_argument("--young", action="store_true", help="nobody is trusted at the beginning")
    parser.add_argument("--memory", type=Path, default=Path("bench/out/fleet.sqlite"))
    parser.add_argument("--cores", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    logging.getLogger("zermelo").setLevel(logging.ERROR)
    record.SNAPSHOT_SECONDS = record.QUIET_SNAPSHOT_SECONDS = math.inf
    options.memory.parent.mkdir(parents=True, exist_ok=True)
    oracle = Oracle(open_game(options.spec), options.memory, options.cores)
    stores = [float(text) for text in options.stores.split(",")]
    runs: dict[float, list[Outcome]] = {store: [] for store in stores}
    for seed in count(options.seed):
        if len(runs[stores[0]]) == options.campaigns:
            break
        for store in stores:
            outcome = solve(oracle, options, seed, store)
            if not outcome.workunits:  # random moves can lead where the rules tell the score
                break
            runs[store].append(outcome)
            if not options.json:
                print(f"position {seed}, store of {store:g} s: {told([outcome])}", flush=True)
    if options.json:
        print(json.dumps({
            store: [run._asdict() for run in outcomes] for store, outcomes in runs.items()
        }))  # fmt: skip
        return
    for store, outcomes in runs.items():
        print(f"store of {store:g} s, {len(outcomes)} positions: {told(outcomes)}")


def told(runs: list[Outcome]) -> str:
    """The sums of some runs; shares are those of all nodes and of all seconds."""
    seconds, nodes = sum(run.seconds for run in runs), sum(run.nodes for run in runs)
    unneeded = sum(run.unneeded_share * run.nodes for run in runs) / nodes
    idle = sum(run.idle_share * run.seconds for run in runs) / seconds
    return (
        f"{seconds:,.0f} s, {nodes:,} nodes, {unneeded:.1%} of them unneeded; idle {idle:.1%};"
        f" {sum(run.leases for run in runs):,} leases,"
        f" {sum(run.ended_in_store for run in runs):,} of them ended in a store,"
        f" {sum(run.expired for run in runs):,} expired"
    )


if __name__ == "__main__":
    main()
