"""How safe the tree is from lying hosts, what that costs, and what the cheapest lie costs.

Real PostgreSQL, the real generator, validator, referee and assimilator, the real engine; only the
network is left out: hosts take their leases from, and hand in their results to, a coordinator in
the same process. 200 hosts solve late positions of reversi 8x8, one campaign after
the other; 5 % of them lie at random, 2 % always, 1 % are pairs of one user who agree on
what to lie about, 5 % are lazy (`exhausted` to everything) and 2 % are turncoats (honest until they
are trusted, then they lie). At the end every bound of every tree is compared with the truth.

Then the cheapest corruption is computed from the same rules and trees (virtual/corruption.py).

    python bench/trust.py [--hosts 200] [--answers 40000] [--seed 1] [--json]
        [--folder FOLDER --seconds SECONDS]
"""

from __future__ import annotations

import argparse
import json
import logging
import math
import shutil
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from virtual.corruption import Corruption, cheapest_corruption
from virtual.liars import SHARES, Simulation

from zermelo.server.check import check_database
from zermelo.server.database import connect_once, ensure_schema
from zermelo.server.embedded import EmbeddedPostgres, running
from zermelo.server.trust import records

#: At least one answer in this number comes after all honest hosts are trusted.
ANSWERS_PART_TRUSTED = 5
#: Half of the answers that 200 hosts needed before trust was confirmed work.
HALF_OF_FORMER = 13_500


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


def simulate(
    folder: Path, hosts: int, answers: int, seed: int, seconds: float = math.inf
) -> Report | None:
    """None where it was ended by `seconds` after a campaign: another call goes on."""
    started = time.monotonic()
    with running(EmbeddedPostgres(folder)) as url:
        ensure_schema(url)
        with connect_once(url) as connection:
            connection.execute("SET synchronous_commit = off")  # nothing crashes here
            simulation = Simulation(connection, folder, hosts, seed)
            progress = simulation.progress
            # What safety costs once hosts are trusted needs answers from then on.
            while progress.answers < max(
                answers, progress.trusted_after + answers // ANSWERS_PART_TRUSTED
            ):
                if time.monotonic() - started > seconds:
                    return None
                simulation.solve_one()
                extra = sum(simulation.extra_work(0).values())
                print(f"{progress.answers:7} answers, {progress.lies} lies, {extra:.1%} extra,"
                      f" {simulation.not_trusted} honest hosts not trusted yet;"
                      f" {time.monotonic() - started:.0f} s", flush=True)
            return report(simulation)


def report(simulation: Simulation) -> Report:
    """What came of it, with every bound compared with the truth."""
    connection, progress = simulation.connection, simulation.progress
    trees = [simulation.wrong_bounds(campaign) for campaign in simulation.campaigns]
    actions = dict(connection.execute(
        "SELECT action, count(*) FROM audit GROUP BY action"
    ).fetchall())  # fmt: skip
    violations = check_database(connection)
    for violation in violations[:20]:
        print(violation)
    kinds = [host.kind for host in simulation.hosts]
    extra = simulation.extra_work(0)
    since = progress.trusted_from_lease
    trusted = simulation.extra_work(since) if since else {}
    return Report(
        hosts=len(simulation.hosts),
        liars={kind: kinds.count(kind) for kind in ("colluding", *SHARES)},
        answers=progress.answers,
        lies=progress.lies,
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
        extra_work=sum(extra.values()),
        extra_work_for=extra,
        extra_work_trusted=sum(trusted.values()) if trusted else math.nan,
        extra_work_trusted_for=trusted,
        trusted_after_answers=progress.trusted_after,
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
          f" {report.retractions} retractions")
    for line in report.corruption.lines():
        print(line)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--hosts", type=int, default=200)
    parser.add_argument("--answers", type=int, default=40_000, help="the least number of them")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--folder", type=Path, help="keep everything there, and go on with it")
    parser.add_argument("--seconds", type=float, default=math.inf,
                        help="begin no campaign later than this; makes sense with --folder")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    logging.getLogger("zermelo").setLevel(logging.ERROR)
    folder = options.folder or Path(tempfile.mkdtemp(prefix="zermelo-bench-"))
    folder.mkdir(exist_ok=True)
    folder.chmod(0o755)
    try:
        found = simulate(folder, options.hosts, options.answers, options.seed, options.seconds)
    finally:
        if options.folder is None:
            shutil.rmtree(folder, ignore_errors=True)
    if found is None:
        print("ended by --seconds: the same command goes on")
    elif options.json:
        print(json.dumps(asdict(found)))
    else:
        show(found)


if __name__ == "__main__":
    main()
