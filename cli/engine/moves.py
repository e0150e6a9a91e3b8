"""`zermelo engine moves`: the value after each move, up to symmetry."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from functools import partial
from typing import Any

import click

from zermelo.cli.engine.report import news, outcome, value_in_words
from zermelo.cli.game_files import open_local_game
from zermelo.cli.options import json_option, node_budget_option, option
from zermelo.cli.output import print_json, print_table, short_time
from zermelo.cli.plain_errors import INTERRUPTED, CommandError
from zermelo.cli.suite import find_position
from zermelo.cli.watch import Ticker, watch
from zermelo.engine import Engine, SearchReport, Status, open_engine
from zermelo.games import Bounds, Game, Move

EXHAUSTED = 3  # exit code: the node budget was reached for some move
MOST_THREADS = 256


@dataclass(frozen=True, slots=True)
class Reply:
    """Moves that lead to the same position up to symmetry, and what it is worth."""

    moves: list[Move]
    #: For the side that makes the move.
    bounds: Bounds
    status: Status
    nodes: int
    seconds: float


@click.command()
@click.argument("spec")
@option("--position", metavar="TEXT", help="A position instead of the initial one.")
@option("--threads", type=click.IntRange(1, MOST_THREADS), default=1,
        help="Threads that search together.")
@option("--hash-mb", type=click.IntRange(min=1), default=64,
        help="Size of the transposition table.")
@node_budget_option(type=click.IntRange(1, 2**63 - 1),
                    help="Give a move up after about this number of nodes.")
@json_option
def moves(
    spec: str, position: str | None, threads: int, hash_mb: int, node_budget: int | None,
    as_json: bool,
) -> None:
    """Print the value after each first move of the game SPEC, up to symmetry.

    Values are for the side that moves; the best come first.

    Exit codes: 0 all solved, 2 wrong input, 3 node budget reached, 130 interrupted.
    """
    game = open_local_game(spec)
    start = game.initial() if position is None else find_position(game, position)
    if game.is_final(start):
        raise CommandError("the game is over in that position; choose another")
    engine = open_engine(game, threads=threads, hash_mb=hash_mb)
    replies: list[Reply] = []
    interrupted = False
    with Ticker() as ticker:
        classes = list(distinct_moves(game, start).values())
        for number, same in enumerate(classes, 1):
            ticker.subject = f"{number}/{len(classes)} {game.move_name(same[0])}"
            reply, interrupted = _solve(engine, start, same, node_budget, ticker)
            replies.append(reply)
            if interrupted:
                break
    replies.sort(key=lambda reply: (-reply.bounds.lo, -reply.bounds.hi, reply.moves))
    if as_json:
        print_json({
            "game": game.spec, "position": game.format(start),
            "moves": [_as_json(game, reply) for reply in replies],
        })
    else:
        print_table(
            f"{game.short_spec}, {game.side_to_move(start)} to move",
            ["move", "value", "nodes", "time", "the same by symmetry"],
            [[game.move_name(reply.moves[0]), value_in_words(game, reply.bounds),
              f"{reply.nodes:,}", short_time(reply.seconds),
              " ".join(game.line_names(reply.moves[1:]))] for reply in replies],
            words=1,
        )
    if interrupted:
        sys.exit(INTERRUPTED)
    sys.exit(EXHAUSTED if any(reply.status is not Status.SOLVED for reply in replies) else 0)


def distinct_moves(game: Game[Any], position: Any) -> dict[tuple[bytes, bytes], list[Move]]:
    """The legal moves by the position they lead to, symmetric ones being the same."""
    found: dict[tuple[bytes, bytes], list[Move]] = {}
    for move in game.moves(position):
        after = game.canonical(game.play(position, move))
        found.setdefault((game.encode(after), game.history(after)), []).append(move)
    return found


def _solve(
    engine: Engine, position: Any, same: list[Move], node_budget: int | None, ticker: Ticker
) -> tuple[Reply, bool]:
    game = engine.game
    after = game.play(position, same[0])
    if game.is_final(after):
        score = -game.score(after)
        return Reply(same, Bounds(score, score), Status.SOLVED, 1, 0.0), False
    search = partial(engine.solve, after, node_budget=node_budget)
    report: SearchReport
    report, interrupted = watch(
        engine, search, lambda seconds: ticker.show(news(engine, seconds))
    )
    return Reply(
        same, -report.bounds, report.status, report.nodes, report.seconds
    ), interrupted


def _as_json(game: Game[Any], reply: Reply) -> dict[str, Any]:
    bounds = reply.bounds
    return {
        "move": game.move_name(reply.moves[0]),
        "symmetric": game.line_names(reply.moves[1:]),
        "status": reply.status.value,
        "value": bounds.lo if bounds.exact else None,
        "bounds": [bounds.lo, bounds.hi],
        "outcome": outcome(bounds),
        "nodes": reply.nodes,
        "seconds": round(reply.seconds, 6),
    }
