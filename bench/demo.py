"""The demo beside the engine alone: how often as long it takes, and where its time goes.

Runs `zermelo solve reversi:6x6 --demo` and `zermelo engine solve` with as many threads as the demo
has workers, in turns. The demo's own database tells afterwards when its workers were busy. Both are
run once on a small board before, so that Python has kept their modules compiled, as `make demo`
leaves them.

    python bench/demo.py [--rounds 3] [--workers 2] [--json]
    python bench/demo.py --virtual      node counts alone, in virtual time (virtual/demo.py)
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Any

from fresh import fresh_database
from options import bench_parser
from virtual.demo import Counts, count

from zermelo.games import open_game
from zermelo.server.database import connect_once
from zermelo.server.embedded import EmbeddedPostgres, running

SPEC = "reversi:6x6"
#: Nodes a second of a worker, and how late the services are, in virtual time.
SPEED = 10e6
TICKS = (0.01, 0.02, 0.03, 0.04)
ZERMELO = Path(sys.executable).with_name("zermelo")
#: Without what would have Python compile every module anew in every process; make drops it, too.
ENVIRONMENT = {
    name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"
}
#: When the campaign began, was first leased and last answered, and ended; the
#: processor time of all searches whose result was handed in.
TIMELINE = """
    SELECT extract(epoch FROM created_at)::float8, extract(epoch FROM first)::float8,
           extract(epoch FROM last)::float8, extract(epoch FROM finished_at)::float8, searched
    FROM campaigns, (SELECT min(leased_at) AS first FROM leases) AS leased, (
        SELECT max(received_at) AS last, sum(seconds) AS searched FROM results
    ) AS heard
"""


@dataclass(frozen=True)
class Round:
    """Seconds of the demo, of its parts, and of the engine alone."""

    demo: float
    engine: float
    demo_nodes: int
    engine_nodes: int
    until_campaign: float
    until_first_lease: float
    #: From the first lease to the last result, and the share of it in which a worker did not
    #: compute for a result: it had no work, or no processor, or its work was withdrawn.
    working: float
    unused_share: float
    until_finished: float
    ending: float

    @property
    def ratio(self) -> float:
        return self.demo / self.engine


def warm_up(folders: Path) -> None:
    run("solve", "reversi:4x4", "--demo", "--data-dir", str(folders / "small"))
    run("engine", "solve", "reversi:4x4")


def measure(workers: int, folder: Path) -> Round:
    began = time.time()
    demo = run("solve", SPEC, "--demo", "--workers", str(workers), "--data-dir", str(folder))
    ended = time.time()
    with running(EmbeddedPostgres(folder / "demo")) as url, connect_once(url) as connection:
        row = connection.execute(TIMELINE).fetchone()
    assert row  # noqa: S101
    created, first, last, finished, searched = row
    engine_began = time.time()
    alone = run("engine", "solve", SPEC, "--threads", str(workers))
    return Round(
        demo=ended - began,
        engine=time.time() - engine_began,
        demo_nodes=demo["nodes"],
        engine_nodes=alone["nodes"],
        until_campaign=created - began,
        until_first_lease=first - created,
        working=last - first,
        unused_share=1 - searched / (workers * (last - first)),
        until_finished=finished - last,
        ending=ended - finished,
    )


def counted(workers: int) -> list[Counts]:
    with fresh_database("demo") as fresh, connect_once(fresh.url) as connection:
        game, memory = open_game(SPEC), fresh.folder / "answers.sqlite"
        return [count(connection, game, memory, workers, SPEED, tick) for tick in TICKS]


def run(*command: str) -> dict[str, Any]:
    done = subprocess.run(
        [ZERMELO, *command, "--json"], check=True, stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL, env=ENVIRONMENT,
    )  # fmt: skip
    told: dict[str, Any] = json.loads(done.stdout)
    return told


def show(rounds: list[Round]) -> None:
    for name in Round.__dataclass_fields__:
        cells = "".join(f"{getattr(round_, name):>16,.2f}" for round_ in rounds)
        print(f"{name.replace('_', ' '):20}{cells}")
    ratios = [round_.ratio for round_ in rounds]
    print(f"{'demo ÷ engine':20}" + "".join(f"{ratio:>16.2f}" for ratio in ratios))
    print(f"median {median(ratios):.2f} (must 1.7, goal 1.4)")


def main() -> None:
    parser = bench_parser(__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--virtual", action="store_true")
    options = parser.parse_args()
    if options.virtual:
        found = counted(options.workers)
        if options.json:
            print(json.dumps([counts._asdict() for counts in found]))
            return
        for counts in found:
            print(f"services {counts.tick:.2f} s late: {counts.nodes:,} nodes,"
                  f" {counts.workunits} workunits, tests {counts.tests}, {counts.seconds:.1f} s,"
                  f" {counts.idle_share:.0%} idle")  # fmt: skip
        print(f"median {median(counts.nodes for counts in found):,.0f} nodes")
        return
    # Removed after all rounds: where thousands of files were deleted lately, some file systems take
    # ten times as long to make others.
    with tempfile.TemporaryDirectory(prefix="zermelo-demo-") as name:
        folders = Path(name)
        folders.chmod(0o711)
        warm_up(folders)
        rounds = [measure(options.workers, folders / str(i)) for i in range(options.rounds)]
    if options.json:
        print(json.dumps([asdict(round_) | {"ratio": round_.ratio} for round_ in rounds]))
    else:
        show(rounds)


if __name__ == "__main__":
    main()
