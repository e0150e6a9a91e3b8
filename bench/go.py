"""The numbers of Go: values, nodes and times, as a table or as JSON.

    python bench/go.py                 the small boards and the late 7x7 positions
    python bench/go.py --long          also 4x4 against all positions, 4x5 and 5x5
    python bench/go.py --techniques    also 3x4 and 4x4 without each technique
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

from zermelo.cext.go_retrograde import Retrograde
from zermelo.cext.go_search import OPTIONS
from zermelo.engine import SearchReport, Window
from zermelo.engine.go import GoEngine, best_reply
from zermelo.games import open_game
from zermelo.games.go import Go

LATE = Path(__file__).parent.parent / "tests" / "go" / "late7x7.json"
SMALL = [f"{rows}x{cols}" for rows in range(1, 4) for cols in range(rows, 5)]
GAMES = 200
PLAYED_NODES = 20_000_000  # for a move; most are known
Row = dict[str, Any]


def open_go(spec: str) -> Go:
    return cast(Go, open_game(spec))


def row(what: str, answer: SearchReport, expected: int | None) -> Row:
    return {
        "what": what,
        "value": answer.bounds.lo if answer.bounds.exact else None,
        "bounds": [answer.bounds.lo, answer.bounds.hi],
        "expected": expected,
        "nodes": answer.nodes,
        "seconds": round(answer.seconds, 3),
    }


def solve(spec: str, expected: int | None, *, hash_mb: int = 256, **options: bool) -> Row:
    game = open_go(spec)
    return row(spec, GoEngine(game, hash_mb=hash_mb, **options).solve(game.initial()), expected)


def draws_by_all_positions(rows: int, cols: int) -> int:
    """The value under basic ko where cycles draw, by retrograde analysis."""
    oracle = Retrograde(rows, cols)
    black, white = oracle.floor(0, 0, True), oracle.floor(0, 0, False)
    return black if black > 0 else -white


def with_full_history(spec: str, hash_mb: int = 256) -> Row:
    """Both bounds proved again from the start, no proof being used but under its history.

    A first search only tells what to try first.
    """
    game = open_go(spec)
    engine = GoEngine(game, hash_mb=hash_mb)
    value = engine.solve(game.initial()).bounds.lo
    engine.switch(share=False)
    return row(f"{spec}, full history", engine.solve(game.initial()), value)


def small_boards() -> Iterator[Row]:
    """Every board up to 3x4. basic: all positions; psk: a search that shares nothing."""
    for size in SMALL:
        rows, cols = map(int, size.split("x"))
        yield solve(f"go:{size},ko=basic", draws_by_all_positions(rows, cols))
        reference = with_full_history(f"go:{size}", hash_mb=1024 if rows * cols == 12 else 64)
        yield reference
        yield solve(f"go:{size}", reference["value"])


def late_positions() -> Iterator[Row]:
    for item in json.loads(LATE.read_text()):
        game = open_go(f"go:{item['spec']}")
        answer = GoEngine(game).solve(game.parse(item["position"]))
        yield row(f"{item['spec']}, {item['undecided']} points undecided", answer, item["value"])


def techniques() -> Iterator[Row]:
    """What each technique brings."""
    for spec in ("go:3x4", "go:4x4"):
        for off in OPTIONS:
            if off != "share":
                yield solve(spec, None, **{off: False}) | {"what": f"{spec} without {off}"}


def long_runs(hash_mb: int, node_budget: int | None) -> Iterator[Row]:
    started = time.perf_counter()
    value = draws_by_all_positions(4, 4)
    yield {
        "what": "4x4 basic, all 24318165 positions",
        "value": value,
        "expected": 1,
        "nodes": None,
        "seconds": round(time.perf_counter() - started, 1),
    }
    for spec, value in (("go:4x5", 20), ("go:5x5", 25)):
        game = open_go(spec)
        engine = GoEngine(game, hash_mb=hash_mb)
        answer = engine.solve(game.initial(), Window.question(value), node_budget=node_budget)
        yield row(f"{spec}, at least {value}?", answer, value)
        if answer.bounds.lo == value:
            yield played_out(engine, game, value)


def played_out(engine: GoEngine, game: Go, value: int) -> Row:
    """The first player's moves by the engine, the other's at random, over the reference rules:
    the least score of all games."""
    rng, started, least, nodes = random.Random(1), time.perf_counter(), value, 0
    for _ in range(GAMES):
        position = game.initial()
        while not game.is_final(position):
            if position.black_to_move:
                answer = engine.solve(position, Window.question(value), node_budget=PLAYED_NODES)
                nodes += answer.nodes
                move = best_reply(engine, position, answer)
            else:
                move = rng.choice(game.moves(position))
            position = game.play(position, move)
        score = game.score(position)
        least = min(least, score if position.black_to_move else -score)
    return {
        "what": f"{game.short_spec}, least of {GAMES} games against chance",
        "value": least,
        "expected": value,
        "nodes": nodes,
        "seconds": round(time.perf_counter() - started, 1),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--json", action="store_true", help="one JSON list, for programs")
    parser.add_argument("--long", action="store_true", help="also the runs that take minutes")
    parser.add_argument("--techniques", action="store_true", help="also without each technique")
    parser.add_argument("--node-budget", type=int, help="nodes after which a long run is given up")
    parser.add_argument("--hash-mb", type=int, default=4096, help="table of the long runs")
    arguments = parser.parse_args()
    specs = (("go:4x4", 2), ("go:4x4,ko=ssk", 2), ("go:4x4,ko=basic", 1))
    middle = (solve(spec, value) for spec, value in specs)
    runs = [small_boards(), middle, late_positions()]
    if arguments.long:
        runs.append(long_runs(arguments.hash_mb, arguments.node_budget))
    if arguments.techniques:
        runs.append(techniques())
    rows: list[Row] = []
    for found in (found for run in runs for found in run):
        rows.append(found)
        if not arguments.json:
            mark = "" if found["expected"] in (None, found["value"]) else "  WRONG"
            print(
                f"{found['what']:40} {found['value']!s:>5} {found['nodes'] or 0:>13,}"
                f" {found['seconds']:>9.3f} s{mark}",
                flush=True,
            )
    if arguments.json:
        print(json.dumps(rows, indent=1))
    wrong = [found for found in rows if found["expected"] not in (None, found["value"])]
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
