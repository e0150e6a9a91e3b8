"""Certificates and questions: size, time to verify, time to ask.

* solve: a distributed solve of reversi 6x6, its certificate, and the verification of that
  with every leaf, compared with the time that the engines of the solve took;
* structure: the check of a certificate with a million positions, leaves left out;
* query: `position` on the tree of reversi 8x8 grown to 10 moves (3.5 million nodes), and the
  count of that tree by ply;
* go: distributed solves of Go 4x4 under two ko rules, and the verification of every leaf.

    python bench/proof.py [solve] [structure] [query] [go] [--json]
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import zermelo
from zermelo.checker import Entry, Header, Leaf, verify, write_certificate
from zermelo.engine import open_engine
from zermelo.games import open_game
from zermelo.proof.export import Exported, export_proof
from zermelo.proof.moves import MoveFinder, Place
from zermelo.server.campaigns import Summary, campaign_summary, create_campaign, find_campaign
from zermelo.server.database import connect_once, ensure_schema
from zermelo.server.embedded import EmbeddedPostgres, embedded_database, running
from zermelo.server.growth import grow

COMMAND = [sys.executable, "-c", "from zermelo.cli import main; main()"]
SOLVED, CORES = "reversi:6x6", 2
LARGE = "reversi:8x8"
GO = ("go:4x4", "go:4x4,ko=basic")
POSITIONS = 1_000_000
GROWN_MOVES = 10
QUESTIONS = 2000
#: Certificates to the frontier (None), and to this depth in plies.
DEPTHS = (None, 14)
#: The bound of the made-up certificate.
POINTS = 10


def _solve(folder: Path, spec: str) -> None:
    subprocess.run(
        [*COMMAND, "solve", spec, "--workers", str(CORES), "--data-dir", str(folder), "--json"],
        check=True, stdout=subprocess.DEVNULL,
    )


def solve(folder: Path) -> dict[str, Any]:
    _solve(folder, SOLVED)
    with embedded_database(folder) as url, connect_once(url) as connection:
        summary = campaign_summary(connection, SOLVED)
        numbers = {"engine_seconds": summary.engine_seconds, "solve_nodes": summary.nodes}
        for depth in DEPTHS:
            file = folder / f"proof-{depth}"
            exported = export_proof(
                connection, find_campaign(connection, SOLVED), file, to_depth=depth
            )
            name = "frontier" if depth is None else f"depth {depth}"
            measured = _verify(file, exported, summary)
            numbers |= {f"{name}: {what}": value for what, value in measured.items()}
    return numbers


def _verify(file: Path, exported: Exported, summary: Summary) -> dict[str, Any]:
    cpu = _cpu_seconds()
    report = verify(file, threads=CORES)
    cpu = _cpu_seconds() - cpu
    return {
        "file_bytes": exported.size,
        "positions": exported.entries,
        "leaves": report.leaves_checked,
        "verify_nodes": report.nodes,
        "verify_seconds": report.structure_seconds + report.leaf_seconds,
        "verify_cpu_seconds": cpu,
        # Both on the same cores: processor time of the one by engine time of the other.
        "verify_by_solve": cpu / summary.engine_seconds,
    }


def go(folder: Path) -> dict[str, Any]:
    numbers = {}
    for spec in GO:
        _solve(folder, spec)
        with embedded_database(folder) as url, connect_once(url) as connection:
            summary = campaign_summary(connection, spec)
            file = folder / "proof"
            exported = export_proof(connection, find_campaign(connection, spec), file)
        measured = {"value": exported.header.lo, **_verify(file, exported, summary)}
        numbers |= {f"{spec}: {what}": value for what, value in measured.items()}
    return numbers


def structure(folder: Path) -> dict[str, Any]:
    """A certificate of a made-up bound: every reply of one side, one move of the other.

    Its leaves are claims that nobody proved, which is what the structure check leaves out.
    """
    game = open_game(LARGE)
    finder = MoveFinder(game)
    root = game.canonical(game.initial())
    entries: dict[tuple[Place, bool], Entry] = {}
    level: list[tuple[Place, bool]] = [((game.encode(root), b""), False)]
    while level:
        following: dict[tuple[Place, bool], None] = {}
        for place, at_least in level:
            steps = [] if len(entries) > POSITIONS else finder.steps(place)
            bound = -POINTS if at_least else POINTS
            leaf = not steps or any(step.score is not None for step in steps)
            entries[place, at_least] = Entry(
                *place, at_least, bound, steps[0].move if at_least and not leaf else None,
                Leaf(1000, 1, 1) if leaf else None,
            )
            for step in [] if leaf else steps[:1] if at_least else steps:
                if (step.after, not at_least) not in entries:
                    following[step.after, not at_least] = None
        level = [statement for statement in following if statement not in entries]
    file = folder / "large"
    header = Header(game.spec, "score", "made up", game.format(game.initial()),
                    -game.max_score, POINTS, 0, 0, zermelo.__version__, "now")
    size = write_certificate(file, header, list(entries.values()))
    report = verify(file, sample=0)
    return {
        "positions": report.entries,
        "file_bytes": size,
        "bytes_per_position": size / report.entries,
        "structure_seconds": report.structure_seconds,
    }


def query(folder: Path) -> dict[str, Any]:
    game = open_game(LARGE)
    with running(EmbeddedPostgres(folder)) as url:
        ensure_schema(url)
        with connect_once(url) as connection:
            campaign = create_campaign(connection, LARGE, replication="none")
            nodes = grow(connection, campaign, open_engine(game), GROWN_MOVES)
            connection.execute("ANALYZE nodes")
        choose = random.Random(1)
        times = []
        with zermelo.open(url) as database:
            questions = database.campaign(LARGE)
            for _ in range(QUESTIONS):
                position = game.initial()
                for _ in range(choose.randrange(GROWN_MOVES + 3)):
                    position = game.play(position, choose.choice(game.moves(position)))
                text = game.format(position)
                started = time.perf_counter()
                questions.position(text)
                times.append(1000 * (time.perf_counter() - started))
            started = time.perf_counter()
            levels = questions.levels()
            tree_seconds = time.perf_counter() - started
        started = time.perf_counter()
        subprocess.run([*COMMAND, "query", "position", LARGE, "--database", url, "--json"],
                       check=True, stdout=subprocess.DEVNULL)
        command = 1000 * (time.perf_counter() - started)
    times.sort()
    return {
        "nodes": nodes,
        "questions": len(times),
        "position_p50_ms": statistics.median(times),
        "position_p99_ms": times[99 * len(times) // 100],
        "command_ms": command,
        "tree_nodes_counted": sum(level.nodes for level in levels),
        "tree_seconds": tree_seconds,
    }


PARTS: dict[str, Callable[[Path], dict[str, Any]]] = {
    "solve": solve, "structure": structure, "query": query, "go": go,
}


def _cpu_seconds() -> float:
    spent = os.times()
    return spent.user + spent.system


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="part", help=f"{', '.join(PARTS)}; all")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    unknown = set(options.parts) - set(PARTS)
    if unknown:
        parser.error(f"unknown part {' '.join(sorted(unknown))}; known: {' '.join(PARTS)}")
    numbers: dict[str, dict[str, Any]] = {}
    for part in options.parts or PARTS:
        with tempfile.TemporaryDirectory(prefix="zermelo-proof-") as name:
            folder = Path(name)
            folder.chmod(0o711)
            numbers[part] = PARTS[part](folder)
        if not options.json:
            print(part)
            for name, value in numbers[part].items():
                print(f"  {name:30} {value:,.4g}" if isinstance(value, float)
                      else f"  {name:30} {value:,}")
    if options.json:
        print(json.dumps(numbers))


if __name__ == "__main__":
    main()
