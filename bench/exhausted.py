"""How often an honest search gives up what another honest one answers within the same budget.

Hosts differ in the size of their tables and in what these remember. Two plies below late positions
of reversi 8x8, the same questions are searched with a cold table, with one that remembers the
questions before, and with a small one. `server/trust/records.py` tolerates a multiple of the
largest share that this prints.

    python bench/exhausted.py [--seconds 60] [--empties 15] [--seed 5]
"""

from __future__ import annotations

import argparse
import random
import time
from collections import Counter
from typing import Any

from zermelo.engine import Engine, Status, Window, open_engine
from zermelo.games import open_game

SPEC = "reversi:8x8"
BUDGETS = (3_000, 10_000, 30_000)
#: Thresholds, relative to the score that the engine guesses.
DISTANCES = (-4, 0, 2, 4)
QUESTIONS_PER_POSITION = 12


def late_position(game: Any, empties: int, chance: random.Random) -> Any:
    position = game.initial()
    while game.plies_left(position) > empties and (moves := game.moves(position)):
        position = game.play(position, chance.choice(moves))
    return position


def answers(engine: Engine, position: Any, threshold: int, node_budget: int) -> bool:
    report = engine.solve(position, Window.question(threshold), node_budget=node_budget)
    return report.status is Status.SOLVED


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--empties", type=int, default=15)
    parser.add_argument("--seed", type=int, default=5)
    options = parser.parse_args()
    chance = random.Random(options.seed)
    game = open_game(SPEC)
    tables = {"cold": 16, "warm": 16, "small": 1}
    engines = {name: open_engine(game, hash_mb=size) for name, size in tables.items()}
    exhausted: Counter[tuple[str, str]] = Counter()
    refuted: Counter[tuple[str, str]] = Counter()
    end = time.monotonic() + options.seconds
    while time.monotonic() < end:
        above = late_position(game, options.empties, chance)
        positions = [
            game.play(reply, move)
            for reply in (game.play(above, first) for first in game.moves(above))
            for move in game.moves(reply)
        ]
        chance.shuffle(positions)
        for position in positions[:QUESTIONS_PER_POSITION]:
            if not game.moves(position):
                continue
            guess = engines["cold"].guess(position) + chance.choice(DISTANCES)
            threshold = max(game.score_range.lo + 1, min(game.score_range.hi, guess))
            node_budget = chance.choice(BUDGETS)
            for name in ("cold", "small"):
                engines[name].clear()
            found = {
                name: answers(engine, position, threshold, node_budget)
                for name, engine in engines.items()
            }
            for one in found:
                for other in found:
                    if one != other and not found[one]:
                        exhausted[one, other] += 1
                        refuted[one, other] += found[other]
    for pair, count in sorted(exhausted.items()):
        print(f"exhausted with a {pair[0]} table, answered with a {pair[1]} one:"
              f" {refuted[pair]} of {count} ({refuted[pair] / count:.1%})")


if __name__ == "__main__":
    main()
