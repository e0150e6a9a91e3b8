"""Players of reversi 8x8 beside those of the founding documents.

    python bench/play.py [--games 10000] [--openings 100] [--json]

Positional against random play, depth 6 against depth 3 with and without the matrix, the console's
player of depth 4 against ours, and the replies of the worked example. Everything is compiled: ten
thousand games take seconds. Openings are random, each played with both sides.
"""

from __future__ import annotations

import argparse
import json
import random
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass

from zermelo.engine.reversi import ReversiEngine
from zermelo.engine.reversi_depth import EVALUATIONS, ReversiDepth, TrainedDepth
from zermelo.games import Move
from zermelo.games.reversi import Reversi, ReversiPosition

GAME = Reversi(8, 8)
CORE = ReversiEngine(GAME, hash_mb=1).core
#: Rounds of the games against random play, as there.
ROUNDS = 10
#: Random plies before players that choose alike play each other.
RANDOM_PLIES = 6
SEED = 1
Chooser = Callable[[int, int, list[Move]], Move]


@dataclass(frozen=True, slots=True)
class Row:
    what: str
    #: As the founding document tells it; empty if it tells nothing.
    there: str
    here: str
    seconds: float = 0.0


# -- games on bare boards ----------------------------------------------------------------------


def chance(seed: int) -> Chooser:
    choose = random.Random(seed)
    return lambda own, opponent, squares: choose.choice(squares)


def by_depth(plies: int, evaluation: str) -> Chooser:
    search = (
        TrainedDepth(GAME) if evaluation == "trained"
        else ReversiDepth(GAME, EVALUATIONS[evaluation])
    )  # fmt: skip

    def choose(own: int, opponent: int, squares: list[Move]) -> Move:
        return search.choose(ReversiPosition(own, opponent), plies, moves=squares).move

    return choose


def play(first: Chooser, second: Chooser, own: int, opponent: int) -> int:
    """The discs that `first`, who is to move, wins by."""
    players, turn, passed = (first, second), 0, False
    while True:
        after = {square: boards for square, *boards in CORE.moves(own, opponent)}
        if not after and passed:
            difference = own.bit_count() - opponent.bit_count()
            return -difference if turn else difference
        passed, turn, mover = not after, 1 - turn, players[turn]
        own, opponent = after[mover(own, opponent, sorted(after))] if after else (opponent, own)


def openings(count: int) -> Iterator[ReversiPosition]:
    choose = random.Random(SEED)
    for _ in range(count):
        at = GAME.initial()
        for _ in range(RANDOM_PLIES):
            at = GAME.play(at, choose.choice(GAME.moves(at)))
        yield at


def match(one: Chooser, other: Chooser, pairs: int) -> list[int]:
    """What `one` wins by, in games from random openings, with both sides of each."""
    scores = []
    for at in openings(pairs):
        scores.append(play(one, other, at.own, at.opponent))
        scores.append(-play(other, one, at.own, at.opponent))
    return scores


def told(scores: list[int]) -> str:
    wins, draws = sum(score > 0 for score in scores), sum(score == 0 for score in scores)
    share = 100 * (wins + draws / 2) / len(scores)
    return (f"{share:.1f} % of {len(scores):,} ({wins:,} won, {draws:,} drawn),"
            f" {sum(scores) / len(scores):+.1f} discs")  # fmt: skip


# -- rows ----------------------------------------------------------------------------------------


def positional(games: int) -> Iterator[Row]:
    start = GAME.initial()
    for plies, evaluation, there in ((1, "matrix", "85 % of 10,000, ten times"), (1, "discs", "")):
        began, player, shares, scores = time.perf_counter(), by_depth(plies, evaluation), [], []
        for number in range(ROUNDS):
            rival = chance(SEED + number)
            part = [
                play(player, rival, start.own, start.opponent) if at % 2 == 0
                else -play(rival, player, start.own, start.opponent)
                for at in range(games // ROUNDS)
            ]  # fmt: skip
            shares.append(100 * sum(score > 0 for score in part) / len(part))
            scores += part
        yield Row(
            f"depth {plies}, {evaluation}, against random", there,
            f"{told(scores)}; parts {min(shares):.1f} to {max(shares):.1f} % won",
            time.perf_counter() - began,
        )  # fmt: skip


def depths(pairs: int) -> Iterator[Row]:
    start = GAME.initial()
    for evaluation in ("discs", "matrix"):
        began = time.perf_counter()
        deep, shallow = by_depth(6, evaluation), by_depth(3, evaluation)
        one = play(deep, shallow, start.own, start.opponent)
        other = -play(shallow, deep, start.own, start.opponent)
        yield Row(
            f"depth 6 against depth 3, {evaluation}", "depth 6 won the one game",
            f"from the start {one:+d} and {other:+d}; {told(match(deep, shallow, pairs))}",
            time.perf_counter() - began,
        )  # fmt: skip


def console(pairs: int) -> Iterator[Row]:
    rival = by_depth(4, "edges-corners")
    for evaluation in ("matrix", "mobility", "features", "trained"):
        began = time.perf_counter()
        scores = match(by_depth(4, evaluation), rival, pairs)
        yield Row(
            f"ours of depth 4, {evaluation}, against the console's (discs + 2 edges + 10 corners)",
            "", told(scores), time.perf_counter() - began,
        )  # fmt: skip


def worked_example() -> Iterator[Row]:
    """Depth 1, columns scanned first, the first best kept."""
    for evaluation, there in (("discs", "e6 d6, c5 f4"), ("matrix", "e6 d6, c5 b4")):
        search = ReversiDepth(GAME, EVALUATIONS[evaluation], columns_first=True)
        at, line = GAME.initial(), []
        for name in ("e6", "c5"):
            at = GAME.play(at, GAME.find_move(at, name))
            reply = search.choose(at, 1).move
            line.append(f"{name} {GAME.move_name(reply)}")
            at = GAME.play(at, reply)
        yield Row(f"worked example, {evaluation}", there, ", ".join(line))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--games", type=int, default=10_000, help="against random play")
    parser.add_argument("--openings", type=int, default=100, help="of every other match")
    parser.add_argument("--json", action="store_true", help="print one JSON object a row")
    options = parser.parse_args()
    for rows in (worked_example(), positional(options.games), depths(options.openings),
                 console(options.openings)):  # fmt: skip
        for row in rows:
            if options.json:
                print(json.dumps(asdict(row)), flush=True)
            else:
                print(f"{row.what}\n    there: {row.there or '-'}\n    here:  {row.here}"
                      f" ({row.seconds:.1f} s)", flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
