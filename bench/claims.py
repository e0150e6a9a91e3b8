"""How far the reversi engine is from the published claims about 8x8.

Below claims about positions with 50 empties (a CSV with the columns obf, count, score, alpha,
beta, as published), positions with fewer empties are solved as a proof asks them: by one null
window. The side that the claim favours plays the move the engine guesses best, the other side
one that looks nearly as good as its best. From the nodes follows the growth per empty square, and
from it the cost of a claim.
"""

from __future__ import annotations

import csv
import json
import math
import random
import statistics
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import click

from zermelo.cli.output import print_table, short_count, short_time
from zermelo.engine import Status, Window
from zermelo.engine.reversi import ReversiEngine
from zermelo.games import open_game

SPEC = "reversi:8x8,scoring=wof"
CLAIM_EMPTIES = 50
#: How many discs a good defence may look worse than the best.
GOOD_DISCS = 3
YEAR_SECONDS = 365.25 * 24 * 3600
#: Empties, and how many positions with them.
USUAL = ("30:40", "33:20", "36:8")


@dataclass(frozen=True, slots=True)
class Claim:
    """Whether the score of a position is at least a threshold, and the answer."""

    position: Any
    threshold: int
    reached: bool


@dataclass(frozen=True, slots=True)
class Solved:
    empties: int
    position: str
    threshold: int
    nodes: int
    seconds: float
    #: False when the node budget ended the search: nodes and seconds are then lower bounds.
    answered: bool


@dataclass(frozen=True, slots=True)
class Growth:
    """ln(nodes) by empties, a line through all positions, and what it says about a claim."""

    per_empty: float  # the factor in nodes
    claim_nodes: float  # the geometric mean, extrapolated
    claim_factor: float  # the factor of one standard error of that
    claims_per_core_year: float


def read_claims(path: Path) -> list[Claim]:
    """Those claims that say something about one threshold: the score is above or below it."""
    game = open_game(SPEC)
    claims = []
    with path.open(newline="") as file:
        for row in csv.DictReader(file):
            position = game.parse(row["obf"].rstrip(";"))
            score, alpha, beta = (int(row[name]) for name in ("score", "alpha", "beta"))
            if score >= beta:
                claims.append(Claim(position, beta, reached=True))
            elif score <= alpha:
                claims.append(Claim(position, alpha + 1, reached=False))
    return claims


def below(engine: ReversiEngine, claim: Claim, empties: int, rng: random.Random) -> Claim | None:
    """A question that a proof of the claim meets; None if the game ends before."""
    game = engine.game
    position, threshold, reached = claim.position, claim.threshold, claim.reached
    while game.plies_left(position) > empties:
        if game.is_final(position):
            return None
        after = [game.play(position, move) for move in game.moves(position)]
        # The side that the answer favours needs one good move. Of the other side all moves are
        # met, but nearly all the cost of a proof lies behind the good ones.
        guesses = [engine.guess(child) for child in after]
        worst = min(guesses) + (0 if reached else GOOD_DISCS)
        position = rng.choice([
            child for child, guess in zip(after, guesses, strict=True) if guess <= worst
        ])
        threshold, reached = 1 - threshold, not reached
    return None if game.is_final(position) else Claim(position, threshold, reached)


def measure(
    engine: ReversiEngine, claims: list[Claim], amounts: dict[int, int], node_budget: int | None,
    seed: int,
) -> Iterator[Solved]:
    rng = random.Random(seed)
    for empties, amount in amounts.items():
        found = 0
        while found < amount:
            question = below(engine, rng.choice(claims), empties, rng)
            if question is None:
                continue
            found += 1
            engine.clear()
            answer = engine.solve(
                question.position, Window.question(question.threshold), node_budget=node_budget
            )
            yield Solved(
                empties, engine.game.format(question.position), question.threshold, answer.nodes,
                answer.seconds, answer.status is Status.SOLVED,
            )


def growth_of(solved: list[Solved]) -> Growth | None:
    """The line of least squares; None without two numbers of empties."""
    empties = [float(one.empties) for one in solved]
    logs = [math.log(one.nodes) for one in solved]
    if len(set(empties)) < 2 or len(solved) < 3:
        return None
    slope, offset = statistics.linear_regression(empties, logs)
    mean = statistics.fmean(empties)
    spread = sum((x - mean) ** 2 for x in empties)
    residue = sum((y - offset - slope * x) ** 2 for x, y in zip(empties, logs, strict=True))
    variance = residue / (len(solved) - 2)
    error = math.sqrt(variance * (1 / len(solved) + (CLAIM_EMPTIES - mean) ** 2 / spread))
    claim_nodes = math.exp(offset + slope * CLAIM_EMPTIES)
    speed = sum(one.nodes for one in solved) / sum(one.seconds for one in solved)
    return Growth(math.exp(slope), claim_nodes, math.exp(error), YEAR_SECONDS * speed / claim_nodes)


def _print(solved: list[Solved], growth: Growth | None) -> None:
    rows = []
    for empties in dict.fromkeys(one.empties for one in solved):
        group = [one for one in solved if one.empties == empties]
        nodes, seconds = (sum(getattr(one, name) for one in group) for name in ("nodes", "seconds"))
        rows.append([
            str(empties), str(len(group)), str(sum(not one.answered for one in group)),
            short_count(nodes / len(group)),
            short_count(statistics.median(one.nodes for one in group)),
            short_time(seconds / len(group)), short_count(nodes / seconds),
        ])
    print_table("Null windows below the published 8x8 claims, 1 thread", [
        "empties", "positions", "unanswered", "mean nodes", "median", "mean time", "nodes/s",
    ], rows)
    if growth:
        click.echo(
            f"growth per empty square x {growth.per_empty:.2f}; a claim of {CLAIM_EMPTIES} empties"
            f" {growth.claim_nodes:.1e} nodes (within a factor of {growth.claim_factor:.1f}):"
            f" {growth.claims_per_core_year:.1e} claims a core-year"
        )


def _amounts(texts: tuple[str, ...]) -> dict[int, int]:
    try:
        return {int(empties): int(amount) for empties, amount in (t.split(":") for t in texts)}
    except ValueError:
        raise click.BadParameter(
            f"{' '.join(texts)}: give EMPTIES:POSITIONS, such as 30:40"
        ) from None


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("claims", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--positions", "texts", multiple=True, default=USUAL, show_default=True,
              metavar="EMPTIES:POSITIONS", help="How many positions with how many empties.")
@click.option("--node-budget", type=click.IntRange(min=1), help="Nodes until one is given up.")
@click.option("--hash-mb", type=click.IntRange(min=1), default=1024, show_default=True)
@click.option("--seed", type=int, default=8, show_default=True)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object, for programs.")
def main(
    claims: Path, texts: tuple[str, ...], node_budget: int | None, hash_mb: int, seed: int,
    as_json: bool,
) -> None:
    """Solve positions below CLAIMS, and tell what a claim costs."""
    engine = ReversiEngine(open_game(SPEC), hash_mb=hash_mb)
    solved = []
    for one in measure(engine, read_claims(claims), _amounts(texts), node_budget, seed):
        solved.append(one)
        click.echo(f"{one.empties} empties: {short_count(one.nodes)} nodes", err=True)
    growth = growth_of(solved)
    if as_json:
        click.echo(json.dumps({
            "positions": [asdict(one) for one in solved],
            "growth": asdict(growth) if growth else None,
        }))
    else:
        _print(solved, growth)


if __name__ == "__main__":
    main()
