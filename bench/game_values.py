"""Published values of games as data, and Connect Four extrapolated from boards that are solved."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from statistics import NormalDist, linear_regression
from threading import Event, Thread
from typing import Any, cast

from zermelo.cli.engine.moves import distinct_moves
from zermelo.engine import Engine, SearchReport, open_engine
from zermelo.engine.definition import DefinitionEngine
from zermelo.games import open_game

#: Nim values of Grundy's game.
GRUNDY = (0, 0, 0, 1, 0, 2, 1, 0, 2, 1, 0, 2, 1, 3, 2, 1, 3, 2, 4, 3, 0)
#: For the first player. Connect-n is Tromp's, for the outcome; all others are exact scores but
#: where the sign tells who wins.
PUBLISHED = {
    "connect-four:4x4": 0, "connect-four:4x5": 0, "connect-four:4x6": -1, "connect-four:4x7": 0,
    "connect-four:4x8": -1, "connect-four:5x4": 0, "connect-four:5x5": 0, "connect-four:5x6": 0,
    "connect-four:5x7": 0, "connect-four:5x8": 1, "connect-four:6x4": 0, "connect-four:6x5": 0,
    "connect-four:6x6": -1,
    "mnk:3x3": 0, "mnk:3x3,misere=yes": 0, "mnk:4x4,k=4": 0, "mnk:4x4,k=3": 1, "mnk:5x5,k=3": 1,
    "hex:3x3": 1, "hex:4x4": 1, "hex:5x5": 1, "hex:6x6": 1, "hex:7x7": 1,
    **{f"clobber:2x{n}": 1 if n % 3 else -1 for n in range(2, 13)},
    **{f"cram:2x{n}": 1 if n % 2 else -1 for n in range(2, 9)},
    "cram:3x3": -1, "cram:3x4": 1, "cram:3x5": 1, "cram:3x6": 1, "cram:3x7": 1, "cram:3x8": 1,
    "konane:4x4": -1, "konane:5x5": 1, "konane:6x6": -1,
    "domineering:2x2": 1, "domineering:4x4": 1, "domineering:5x5": -1, "domineering:6x6": 1,
    "breakthrough:5x5": -1,
    "dots-and-boxes:1x1": -1, "dots-and-boxes:2x2": 2, "dots-and-boxes:4x4": 0,
    "kalah:2x2": -2, "kalah:2x2,over=mover": -2, "kalah:4x3": 6, "kalah:4x3,over=mover": 6,
    "kalah:6x2": 6, "kalah:6x2,over=mover": 6,
    "fox-and-hounds:4x4": -1, "fox-and-hounds:6x6": 1, "l-game:": 0, "frogs:3x3": 1,
    **{f"grundy:{n}": 1 if nim_value else -1 for n, nim_value in enumerate(GRUNDY) if n > 2},
    "nim:3-4-5": 1, "nim:1-2-3": -1, "greedy-nim:4-4-3,k=2": -1, "subtraction:12,k=3": -1,
}  # fmt: skip
#: With the first player joining left and right, as in our definition; the list is published for one
#: who joins top and bottom.
LOSING_FIRST_MOVES = {
    "hex:6x6": {"a1", "a2", "a3", "a4", "a5", "b1", "e6", "f2", "f3", "f4", "f5", "f6"},
}
NIM_VALUES = {
    **{f"cram:3x{n}": nim_value for n, nim_value in enumerate((0, 1, 1, 4, 1, 3), 3)},
    **{f"cram:2x{n}": n % 2 for n in range(2, 9)},
    **{f"grundy:{n}": nim_value for n, nim_value in enumerate(GRUNDY) if n},
}
#: Boards by which Connect Four is extrapolated, the smallest first; the last three take more than a
#: minute and a table of 4 GB. Without them the estimate is a third.
SMALLER_BOARDS = (
    "4x4", "4x5", "5x4", "4x6", "6x4", "5x5", "4x7", "5x6", "6x5", "4x8", "5x7", "6x6",
)
CHANCE = 0.8


#: In the first round a first move gets an eighth of an equal share of the time, in each further
#: round eight times as much.
FIRST_ROUND = 8
#: How often the processor time of a search is looked at, in seconds.
LOOK_EVERY = 0.2


@dataclass(frozen=True, slots=True)
class Solved:
    spec: str
    report: SearchReport
    seconds: float
    processor_seconds: float


def solve(
    spec: str, *, hash_mb: int, threads: int, algorithm: str = "mtdf",
    most_seconds: float = math.inf,
) -> Solved:
    """What a search of at most so much processor time finds."""
    game = open_game(spec)
    engine = open_engine(game, hash_mb=hash_mb, threads=threads)
    return _searched(spec, engine, game.initial(), algorithm, most_seconds)


def _searched(
    name: str, engine: Engine, position: Any, algorithm: str, most_seconds: float
) -> Solved:
    ended, started, used = Event(), time.perf_counter(), time.process_time()

    def stop_in_time() -> None:
        while not ended.wait(LOOK_EVERY):
            if time.process_time() - used > most_seconds:
                engine.abort()

    watcher = Thread(target=stop_in_time)
    watcher.start()
    try:
        report = engine.solve(position, algorithm=algorithm)
    finally:
        ended.set()
        watcher.join()
    return Solved(name, report, time.perf_counter() - started, time.process_time() - used)


def print_values(
    prefix: str, hash_mb: int, threads: int, algorithm: str, most_seconds: float
) -> int:
    """Solve what is published and print the table; the number of values that differ."""
    wrong = 0
    for spec, published in PUBLISHED.items():
        if not spec.startswith(prefix):
            continue
        solved = solve(spec, hash_mb=hash_mb, threads=threads, algorithm=algorithm,
                       most_seconds=most_seconds)
        bounds = solved.report.bounds
        differs = not bounds.lo <= published <= bounds.hi
        wrong += differs
        found = f"{bounds.lo:+d}" if bounds.exact else f"{bounds.lo:+d} to {bounds.hi:+d}"
        print(f"{spec:26} {published:+d} published, {found:>8} found,"
              f" {solved.report.nodes:14,} nodes {solved.seconds:9.2f} s,"
              f" {solved.processor_seconds:9.2f} s of processor time"
              f"{'  DIFFERS' if differs else '' if bounds.exact else '  not finished'}", flush=True)
    for spec, published in NIM_VALUES.items():
        if spec.startswith(prefix):
            found_value = nim_value(spec)
            wrong += found_value != published
            print(f"nim value of {spec}: {published} published, {found_value} found"
                  f"{'  DIFFERS' if found_value != published else ''}", flush=True)
    return wrong


def print_first_moves(prefix: str, hash_mb: int, threads: int, most_seconds: float) -> int:
    """Solve what follows each first move, up to symmetry; how many of them are told otherwise.

    In rounds, so that a hard move does not keep the time from all others; the table remembers.
    """
    wrong = 0
    for spec, losing in LOSING_FIRST_MOVES.items():
        if not spec.startswith(prefix):
            continue
        game = open_game(spec)
        engine = open_engine(game, hash_mb=hash_mb, threads=threads)
        waiting = list(distinct_moves(game, game.initial()).values())
        left, share = most_seconds, most_seconds / len(waiting) / FIRST_ROUND
        while waiting and left:
            unsettled = []
            for moves in waiting:
                after = game.play(game.initial(), moves[0])
                solved = _searched(spec, engine, after, "mtdf", min(left, share))
                left = max(0.0, left - solved.processor_seconds)
                if not solved.report.bounds.exact:
                    unsettled.append(moves)
                    continue
                loses = solved.report.bounds.lo > 0
                names = sorted(game.move_name(move) for move in moves)
                differs = any((name in losing) != loses for name in names)
                wrong += differs
                print(f"{spec} {' '.join(names):8} {'loses' if loses else 'wins':6}"
                      f" {solved.report.nodes:14,} nodes"
                      f" {solved.processor_seconds:9.2f} s of processor time"
                      f"{'  DIFFERS' if differs else ''}", flush=True)
            waiting, share = unsettled, share * FIRST_ROUND
        for moves in waiting:
            print(f"{spec} {' '.join(sorted(map(game.move_name, moves)))} not finished")
        print(f"{spec}: {most_seconds - left:.0f} s of processor time in all")
    return wrong


def nim_value(spec: str) -> int:
    """The least number that is no nim value of a position after a move: Sprague and Grundy."""
    game = open_game(spec)
    core = cast(DefinitionEngine, open_engine(game, hash_mb=1)).core
    known: dict[bytes, int] = {}

    def value(key: bytes) -> int:
        key = core.canonical(key)
        if key not in known:
            children = core.children(key)
            below = set() if isinstance(children, int) else {value(at) for _, at in children}
            known[key] = next(n for n in range(len(below) + 1) if n not in below)
        return known[key]

    return value(game.encode(game.initial()))


def print_estimate(hash_mb: int, threads: int) -> None:
    """How long Connect Four 6x7 would take, by the growth of smaller boards."""
    cells, logs, nodes, seconds = [], [], 0, 0.0
    for size in SMALLER_BOARDS:
        solved = solve(f"connect-four:{size}", hash_mb=hash_mb, threads=threads)
        rows, cols = map(int, size.split("x"))
        cells.append(rows * cols)
        logs.append(math.log(solved.report.nodes))
        nodes, seconds = nodes + solved.report.nodes, seconds + solved.seconds
        print(f"connect-four:{size}  {solved.report.nodes:12,} nodes {solved.seconds:8.2f} s",
              flush=True)
    slope, intercept = linear_regression(cells, logs)
    spread = math.sqrt(
        sum((log - intercept - slope * at) ** 2 for at, log in zip(cells, logs, strict=True))
        / (len(cells) - 2)
    )
    middle = sum(cells) / len(cells)
    # The error of the line itself grows with the distance from the boards that were solved.
    reach = math.sqrt(1 + 1 / len(cells) + (42 - middle) ** 2
                      / sum((at - middle) ** 2 for at in cells))
    factor = math.exp(NormalDist().inv_cdf((1 + CHANCE) / 2) * spread * reach)
    expected = math.exp(intercept + slope * 42)
    hours = expected / (nodes / seconds) / 3600
    print(f"connect-four:6x7  about {expected:.1e} nodes (factor {factor:.0f} either way,"
          f" {CHANCE:.0%}), {hours:.1f} h at {nodes / seconds:,.0f} nodes/s"
          f" ({hours / factor:.1f} to {hours * factor:.1f} h), if its table holds what"
          " smaller boards keep in theirs")
