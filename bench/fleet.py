"""Speed-up of a simulated fleet: the real server side in virtual time.

Choice, split, validation, back-up and withdrawal are the services' own code on a real
PostgreSQL; only the clock and the clients are simulated. A client's answer and its
cost come from the real engine, started with an empty table, and are remembered on
disk: the first run has the engine search all of it, a second run takes minutes. The
processor time of the services passes in the virtual clock, as if all of them and their
connection to PostgreSQL shared one processor.

A run may take half an hour: each is written to a file as soon as it ends, and one that stands there
already, of the same question by the same engine, is not made again. Remove the file after a change
of the services.

    python bench/fleet.py                     whether reversi 6x7 is at least a draw
    python bench/fleet.py reversi:6x6 --goal outcome --speed 400
    python bench/fleet.py --timeline 30       and where each run's time went, in 30 stretches
"""

from __future__ import annotations

import argparse
import gc
import json
import math
import os
from pathlib import Path
from typing import Any

from fresh import fresh_database
from virtual.fleet import Puzzle, simulate
from virtual.oracle import Oracle
from virtual.timeline import State, table

from zermelo.games import Bounds, open_game
from zermelo.server.database import connect_once
from zermelo.server.generator import GARBAGE_THRESHOLDS
from zermelo.server.planning import record
from zermelo.sql import query

#: Nodes a simulated client searches a second unless told otherwise. Slow on purpose: what
#: counts for a fleet is how long the tree keeps it busy. At this speed one client would be
#: busy with the default for 27 hours.
SPEED = 40_000.0


def report(runs: list[dict[str, Any]], stretches: int) -> None:
    base = runs[0]
    print(
        f"{'clients':>8} {'speed-up':>9} {'seconds':>10} {'nodes':>15} {'idle':>7}"
        f" {'unneeded':>9} {'split':>7} {'workunits':>10} {'splits':>7} {'new':>7} {'real s':>7}"
        f" {'services: plan':>15} {'tree':>6} {'valid':>6} {'lease':>6}"
    )
    for run in runs:
        services = [
            run["service_seconds"].get(service, 0.0)
            for service in ("generator", "assimilator", "validator", "coordinator")
        ]
        speed_up = base["seconds"] * base["clients"] / run["seconds"]
        print(
            f"{run['clients']:>8} {speed_up:>9.1f} {run['seconds']:>10.1f} {run['nodes']:>15,}"
            f" {run['idle_share']:>7.1%} {run['unneeded_share']:>9.1%} {run['split_share']:>7.1%}"
            f" {run['workunits']:>10,} {run['splits']:>7,} {run['new_answers']:>7,}"
            f" {run['real_seconds']:>7.0f} {services[0]:>15.1f}"
            + "".join(f" {seconds:>6.1f}" for seconds in services[1:]), flush=True,
        )  # fmt: skip
    if stretches:
        for run in runs:
            print(f"\n{run['clients']} clients:")
            states = [State(*state) for state in run.get("timeline", [])]
            for line in table(states, run["clients"], stretches):
                print(line, flush=True)


def ended_runs(file: Path, what: dict[str, Any]) -> dict[int, dict[str, Any]]:
    """The runs of the same question that have ended, by the number of clients."""
    lines = file.read_text().splitlines() if file.exists() else []
    runs: list[dict[str, Any]] = [json.loads(line) for line in lines]
    return {run["clients"]: run for run in runs if what.items() <= run.items()}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("spec", nargs="?", default="reversi:6x7")
    parser.add_argument("--position", help="a position instead of the initial one")
    parser.add_argument("--at-least", type=int, default=0, metavar="SCORE",
                        help="ask whether the score is at least this (default: 0)")
    parser.add_argument("--goal", choices=["score", "outcome"],
                        help="solve for this instead of asking a single question")
    parser.add_argument("--clients", default="1,16,256,1024",
                        help="sizes; the first is the base")
    parser.add_argument("--speed", type=float, default=SPEED, help="nodes a second of a client")
    parser.add_argument("--memory", type=Path, default=Path("bench/out/fleet.sqlite"))
    parser.add_argument("--runs", type=Path, default=Path("bench/out/fleet.jsonl"),
                        help="the file of the runs that have ended")
    parser.add_argument("--cores", type=int, default=os.cpu_count() or 1,
                        help="cores to find answers on that are not remembered")
    parser.add_argument("--timeline", type=int, default=0, metavar="STRETCHES",
                        help="tell where the time of each run went, in this many stretches")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    game = open_game(options.spec)
    claim = None if options.goal else Bounds(options.at_least, game.max_score)
    puzzle = Puzzle(options.position, options.goal or "score", claim)
    oracle = Oracle(game, options.memory, options.cores)
    # The record of progress is for people; a virtual second is too short to write it each time.
    record.SNAPSHOT_SECONDS = record.QUIET_SNAPSHOT_SECONDS = math.inf
    gc.freeze()  # as a generator does
    gc.set_threshold(*GARBAGE_THRESHOLDS)
    what = {"spec": options.spec, "puzzle": str(puzzle), "speed": options.speed,
            "engine": oracle.version}
    ended = ended_runs(options.runs, what)
    runs: list[dict[str, Any]] = []
    with fresh_database("fleet") as fresh, connect_once(fresh.url) as connection:
        connection.execute(query("commit_lazily"))
        connection.execute(query("plan_by_index"))
        for clients in map(int, options.clients.split(",")):
            run = ended.get(clients)
            if run is None:
                run = what | simulate(connection, oracle, puzzle, clients, options.speed)
                with options.runs.open("a") as file:
                    print(json.dumps(run), file=file)
            runs.append(run)
            if not options.json:
                report(runs, options.timeline)
    if options.json:
        print(json.dumps(runs))


if __name__ == "__main__":
    main()
