"""Games as data in numbers: random games, nodes, compiling, and reversi both ways.

    python bench/games.py [--seconds 2]
    python bench/games.py values [--only NAME] [--algorithm pns]     # every published value
    python bench/games.py moves [--only NAME]        # the first moves that lose Hex 6x6
    python bench/games.py counts [--only NAME]       # every published number of positions
    python bench/games.py estimate                   # what Connect Four 6x7 would take

Times are processor times of one core. Published playouts a second, on other machines:
Connect Four 6x7 RG 1,297 k, RBG 915 k, Ludii 56 k; Breakthrough 8x8 82 k, 51 k, 3.4 k;
reversi 8x8 28 k, 20 k, 1.5 k.
"""

from __future__ import annotations

import argparse
import sys
import time
from typing import cast

from game_counts import print_counts
from game_values import print_estimate, print_first_moves, print_values

from zermelo.engine import Engine, open_engine
from zermelo.engine.definition import DefinitionEngine
from zermelo.games import open_game
from zermelo.games.definition.definition import read_definition
from zermelo.games.definition.library import library_definition

BATCH = 500


def reversi(size: str) -> str:
    """The spec of reversi as a definition; its plain name means the compiled rules."""
    return f"reversi@{library_definition('reversi').digest}:{size}"


def playouts(spec: str, seconds: float) -> float:
    game = open_game(spec)
    engine = cast(DefinitionEngine, open_engine(game, hash_mb=1))
    key, games, started = game.encode(game.initial()), 0, time.process_time()
    while time.process_time() - started < seconds:
        engine.core.playouts(key, BATCH, games + 1)
        games += BATCH
    return games / (time.process_time() - started)


def nodes(spec: str, seconds: float) -> float:
    game = open_game(spec)
    engine = open_engine(game, hash_mb=64)
    searched, budget, started = 0, 20_000, time.process_time()
    while time.process_time() - started < seconds:
        engine.clear()
        searched += engine.solve(game.initial(), node_budget=budget).nodes
        budget *= 2
    return searched / (time.process_time() - started)


def compiling(name: str) -> float:
    text = library_definition(name).text
    started = time.process_time()
    definition = read_definition(text, name)
    definition.compile(definition.params.defaults())
    return time.process_time() - started


def solved(engine: Engine) -> tuple[int, float]:
    started = time.process_time()
    report = engine.solve(engine.game.initial())
    return report.nodes, time.process_time() - started


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", nargs="?", default="speed",
                        choices=["speed", "values", "moves", "counts", "estimate"])
    parser.add_argument("--seconds", type=float, default=2.0, help="for each measurement")
    parser.add_argument("--only", default="", help="values and counts whose spec begins so")
    parser.add_argument("--algorithm", default="mtdf")
    parser.add_argument("--most-seconds", type=float, default=1200.0,
                        help="of processor time for each value: ten minutes of two cores")
    parser.add_argument("--hash-mb", type=int, default=1024)
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    if options.what == "values":
        return min(1, print_values(
            options.only, options.hash_mb, options.threads, options.algorithm,
            options.most_seconds,
        ))
    if options.what == "moves":
        return min(1, print_first_moves(
            options.only, options.hash_mb, options.threads, options.most_seconds
        ))
    if options.what == "counts":
        return min(1, print_counts(options.only))
    if options.what == "estimate":
        print_estimate(options.hash_mb, 1)
        return 0
    measure(options.seconds)
    return 0


def measure(seconds: float) -> None:
    for spec in ("connect-four:6x7", "breakthrough:8x8", reversi("8x8")):
        print(f"{spec.partition('@')[0]:28} {playouts(spec, seconds):12,.0f} random games/s")
    for spec in ("connect-four:6x7", "breakthrough:6x6"):
        print(f"{spec:28} {nodes(spec, seconds):12,.0f} nodes/s")
    for name in ("connect-four", "breakthrough", "alquerque", "kalah"):
        print(f"{name:28} {1e3 * compiling(name):12,.0f} ms to compile")
    native = solved(open_engine(open_game("reversi:4x5"), hash_mb=64))
    defined = solved(open_engine(open_game(reversi("4x5")), hash_mb=64))
    print(f"{'reversi 4x5, definition':28} {defined[0] / native[0]:12.1f} times the nodes,"
          f" {defined[1] / native[1]:.1f} times the time of the compiled rules")


if __name__ == "__main__":
    sys.exit(main())
