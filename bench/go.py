"""The numbers of Go: values, nodes and times, as a table or as JSON.

    python bench/go.py                 the small boards and the late 7x7 positions
    python bench/go.py --long          also 4x4 against all positions, and 5x5
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from zermelo.cext.go_retrograde import Retrograde
from zermelo.engine import Window
from zermelo.engine.go import GoEngine
from zermelo.games import open_game

LATE = Path(__file__).parent.parent / "tests" / "go" / "late7x7.json"
SMALL = [f"{rows}x{cols}" for rows in range(1, 4) for cols in range(rows, 5)]
RULES = ["ko=psk", "ko=basic"]
Row = dict[str, Any]


def solve(spec: str, expected: int | None, *, hash_mb: int = 256, **options: bool) -> Row:
    game = open_game(spec)
    engine = GoEngine(game, hash_mb=hash_mb, **options)  # type: ignore[arg-type]
    answer = engine.solve(game.initial())
    return {
        "what": spec,
        "value": answer.bounds.lo if answer.bounds.exact else None,
        "expected": expected,
        "nodes": answer.nodes,
        "seconds": round(answer.seconds, 3),
    }


def draws_by_all_positions(rows: int, cols: int) -> int:
    """The value under basic ko where cycles draw, by retrograde analysis."""
    oracle = Retrograde(rows, cols)
    black, white = oracle.floor(0, 0, True), oracle.floor(0, 0, False)
    return black if black > 0 else -white


def small_boards() -> Iterator[Row]:
    """Every board up to 3x4. basic: all positions; psk: a search that shares nothing."""
    for size in SMALL:
        rows, cols = map(int, size.split("x"))
        for rule in RULES:
            if rule == "ko=basic":
                expected: int | None = draws_by_all_positions(rows, cols)
            elif rows * cols < 12:
                expected = solve(f"go:{size}", None, share=False)["value"]
            else:
                expected = 4  # --long lets the full-history search confirm it
            yield solve(f"go:{size},{rule}", expected)


def late_positions() -> Iterator[Row]:
    for item in json.loads(LATE.read_text()):
        game = open_game(f"go:{item['spec']}")
        answer = GoEngine(game).solve(game.parse(item["position"]))  # type: ignore[arg-type]
        yield {
            "what": f"{item['spec']}, {item['undecided']} points undecided",
            "value": answer.bounds.lo if answer.bounds.exact else None,
            "expected": item["value"],
            "nodes": answer.nodes,
            "seconds": round(answer.seconds, 3),
        }


def long_runs(hash_mb: int) -> Iterator[Row]:
    started = time.perf_counter()
    value = draws_by_all_positions(4, 4)
    yield {
        "what": "4x4 basic, all 24318165 positions",
        "value": value,
        "expected": 1,
        "nodes": None,
        "seconds": round(time.perf_counter() - started, 1),
    }
    yield solve("go:3x4", 4, hash_mb=hash_mb, share=False)
    game = open_game("go:5x5")
    engine = GoEngine(game, hash_mb=hash_mb)  # type: ignore[arg-type]
    answer = engine.solve(game.initial(), Window.question(25))
    yield {
        "what": "go:5x5, at least 25?",
        "value": answer.bounds.lo,
        "expected": 25,
        "nodes": answer.nodes,
        "seconds": round(answer.seconds, 1),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--json", action="store_true", help="one JSON list, for programs")
    parser.add_argument("--long", action="store_true", help="also the runs that take minutes")
    parser.add_argument("--hash-mb", type=int, default=4096, help="table of the long runs")
    arguments = parser.parse_args()
    middle = (solve(spec, value) for spec, value in (("go:4x4", 2), ("go:4x4,ko=basic", 1)))
    runs = [small_boards(), middle, late_positions()]
    if arguments.long:
        runs.append(long_runs(arguments.hash_mb))
    rows: list[Row] = []
    for row in (row for run in runs for row in run):
        rows.append(row)
        if not arguments.json:
            mark = "" if row["expected"] in (None, row["value"]) else "  WRONG"
            print(
                f"{row['what']:40} {row['value']!s:>5} {row['nodes'] or 0:>13,}"
                f" {row['seconds']:>9.3f} s{mark}",
                flush=True,
            )
    if arguments.json:
        print(json.dumps(rows, indent=1))
    wrong = [row for row in rows if row["expected"] not in (None, row["value"])]
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
