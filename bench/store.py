"""What a larger store of work costs: nodes searched, work that ended in a store, idle time.

Real PostgreSQL and the services' own code in virtual time (virtual/storing.py). Every client has an
account of its own, answers are compared, and every run solves the same game in a new database.

    python bench/store.py [--stores 0.03,10,30] [--clients 16] [--mature] [--json]
"""

from __future__ import annotations

import argparse
import json
import logging
import math
import os
from pathlib import Path

from fresh import fresh_database
from virtual.fleet import Puzzle
from virtual.oracle import Oracle
from virtual.storing import Outcome, solve_with_store

from zermelo.games import open_game
from zermelo.server.database import connect_once
from zermelo.server.planning import record


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("spec", nargs="?", default="reversi:6x6")
    parser.add_argument("--goal", choices=["score", "outcome"], default="outcome")
    parser.add_argument("--stores", default="0.03,10,30", help="seconds, one run for each")
    parser.add_argument("--clients", type=int, default=16)
    parser.add_argument("--speed", type=float, default=5000.0, help="nodes a second of a client")
    parser.add_argument("--target-seconds", type=float, default=10.0)
    parser.add_argument("--mature", action="store_true", help="all are trusted from the beginning")
    parser.add_argument("--seed", type=int, default=1, help="of all that is drawn by chance")
    parser.add_argument("--memory", type=Path, default=Path("bench/out/fleet.sqlite"))
    parser.add_argument("--cores", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    logging.getLogger("zermelo").setLevel(logging.ERROR)
    record.SNAPSHOT_SECONDS = record.QUIET_SNAPSHOT_SECONDS = math.inf
    options.memory.parent.mkdir(parents=True, exist_ok=True)
    oracle = Oracle(open_game(options.spec), options.memory, options.cores)
    runs: dict[float, Outcome] = {}
    for store in map(float, options.stores.split(",")):
        with fresh_database("store") as fresh, connect_once(fresh.url) as connection:
            runs[store] = solve_with_store(
                connection, oracle, Puzzle(None, options.goal, None), clients=options.clients,
                speed=options.speed, target_seconds=options.target_seconds, store_seconds=store,
                mature=options.mature, seed=options.seed,
            )  # fmt: skip
        if not options.json:
            print(f"store of {store:g} s: {told(runs[store])}", flush=True)
    if options.json:
        print(json.dumps({store: run._asdict() for store, run in runs.items()}))


def told(run: Outcome) -> str:
    return (
        f"{run.seconds:,.0f} s, {run.nodes / 1e6:,.1f} M nodes, {run.unneeded_share:.1%} of them"
        f" unneeded; idle {run.idle_share:.1%}; {run.workunits:,} workunits, {run.leases:,} leases,"
        f" {run.ended_in_store:,} of them ended in a store, {run.expired:,} expired;"
        f" value {run.bounds}"
    )


if __name__ == "__main__":
    main()
