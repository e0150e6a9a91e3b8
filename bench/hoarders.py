"""How much longer a campaign takes beside hosts that take work and never answer.

Real PostgreSQL and the services' own code in virtual time (virtual/hoarders.py). A fifth of all
hosts hoard: they ask for work all the time, report progress, and return nothing. Compared are the
honest hosts alone, the same beside hoarders, and as many honest hosts as both together.

    python bench/hoarders.py [--hosts 20] [--share 0.2] [--speed 4] [--mature] [--json]
"""

from __future__ import annotations

import argparse
import json
import logging
import math
import os
import tempfile
from pathlib import Path

from virtual.fleet import Puzzle
from virtual.hoarders import Outcome, late_position, solve_beside_hoarders
from virtual.oracle import Oracle

from zermelo.games import open_game
from zermelo.server.database import connect_once, ensure_schema
from zermelo.server.embedded import EmbeddedPostgres, running
from zermelo.server.planning import record

#: What a campaign may take beside hoarders, by what it takes without them.
MOST = 1.3


def run(
    oracle: Oracle, puzzle: Puzzle, honest: int, hoarders: int, options: argparse.Namespace
) -> Outcome:
    with tempfile.TemporaryDirectory(prefix="zermelo-hoarders-") as folder:
        Path(folder).chmod(0o711)
        with running(EmbeddedPostgres(Path(folder))) as url:
            ensure_schema(url)
            with connect_once(url) as connection:
                connection.execute("SET synchronous_commit = off")
                return solve_beside_hoarders(
                    connection, oracle, puzzle, honest=honest, hoarders=hoarders,
                    speed=options.speed, target_seconds=options.target_seconds,
                    mature=options.mature,
                )  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("spec", nargs="?", default="reversi:6x6")
    parser.add_argument("--plies-left", type=int, default=12, help="of the position to solve")
    parser.add_argument("--seed", type=int, default=1, help="of the moves that lead to it")
    parser.add_argument("--hosts", type=int, default=20)
    parser.add_argument("--share", type=float, default=0.2, help="of the hosts that hoard")
    parser.add_argument("--speed", type=float, default=4.0, help="nodes a second of a host")
    parser.add_argument("--target-seconds", type=float, default=60.0)
    parser.add_argument("--mature", action="store_true",
                        help="the honest are trusted from the beginning")
    parser.add_argument("--memory", type=Path, default=Path("bench/out/hoarders.sqlite"))
    parser.add_argument("--cores", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    logging.getLogger("zermelo").setLevel(logging.ERROR)
    game = open_game(options.spec)
    oracle = Oracle(game, options.memory, options.cores)
    puzzle = Puzzle(late_position(game, options.plies_left, options.seed), "score", None)
    record.SNAPSHOT_SECONDS = record.QUIET_SNAPSHOT_SECONDS = math.inf
    hoarders = round(options.share * options.hosts)
    honest = options.hosts - hoarders
    runs: dict[str, Outcome] = {}
    for who, number, idle in (
        ("the honest alone", honest, 0),
        ("beside hoarders", honest, hoarders),
        ("all honest", options.hosts, 0),
    ):
        runs[who] = run(oracle, puzzle, number, idle, options)
        if not options.json:
            told = runs[who]
            print(f"{who:18} {number:4} + {idle:<4} {told.seconds:>9,.0f} s {told.nodes:>12,} nodes"
                  f" {told.workunits:>7,} workunits, value {told.bounds}, at most"
                  f" {told.most_held} leases held, {told.expired} expired", flush=True)
    seconds = {who: told.seconds for who, told in runs.items()}
    ratios = {
        "by the honest alone": seconds["beside hoarders"] / seconds["the honest alone"],
        "by as many honest hosts": seconds["beside hoarders"] / seconds["all honest"],
    }
    if options.json:
        print(json.dumps({"runs": {who: told._asdict() for who, told in runs.items()}, **ratios}))
    else:
        for what, ratio in ratios.items():
            print(f"{what:26} {ratio:6.2f} times as long (must {MOST})")


if __name__ == "__main__":
    main()
