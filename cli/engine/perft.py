"""`zermelo engine perft`: counting lines of play, or distinct positions."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import click

from zermelo.cli.game_files import open_local_game
from zermelo.cli.options import json_option, option
from zermelo.cli.output import print_json, print_table, short_time
from zermelo.cli.plain_errors import CommandError
from zermelo.cli.watch import Ticker
from zermelo.engine import Engine, open_engine
from zermelo.engine.capabilities import CountsLines
from zermelo.games import KEY_BYTES, Game, Key

DEEPEST = 60
#: How deep a compiled count goes at a time, so that Ctrl-C is heard between two.
COMPILED_PLIES = 7
BATCH_BYTES = 4096 * KEY_BYTES


@click.command()
@click.argument("spec")
@click.argument("depth", type=click.IntRange(0, DEEPEST))
@option("--unique", is_flag=True,
        help="Count distinct positions up to symmetry; a forced pass is then no move.")
@json_option
def perft(spec: str, depth: int, unique: bool, as_json: bool) -> None:
    """Count the lines of play of DEPTH moves from the start of the game SPEC.

    A pass counts as a move, and a game that ends earlier as one line.
    """
    game = open_local_game(spec)
    if unique and game.path_dependent:
        raise CommandError(
            f"--unique: what follows a {game.name} position depends on how it was reached"
        )
    engine = open_engine(game, hash_mb=1)
    counts: list[int] = []
    times: list[float] = []
    with Ticker() as ticker:
        levels = (count_distinct if unique else _lines)(engine, depth, ticker)
        started = time.perf_counter()
        for count in levels:
            counts.append(count)
            times.append(time.perf_counter() - started)
            started = time.perf_counter()
    if as_json:
        print_json({
            "game": game.spec,
            "depth": depth,
            "unique": unique,
            "count": counts[-1],
            "counts": counts,
            "seconds": round(sum(times), 6),
        })
        return
    print_table(
        f"{game.short_spec}, {'distinct positions up to symmetry' if unique else 'lines of play'}",
        ["moves", "count", "ratio", "time"],
        [[str(n), f"{count:,}", f"{count / counts[n - 1]:.2f}" if n and counts[n - 1] else "",
          short_time(times[n])] for n, count in enumerate(counts)],
        words=0,
    )


# -- lines of play ----------------------------------------------------------------------


def _lines(engine: Engine, depth: int, ticker: Ticker) -> Iterator[int]:
    for plies in range(depth + 1):
        ticker.subject = f"depth {plies}"
        yield count_lines(engine, engine.game.initial(), plies, ticker)


def count_lines(engine: Engine, position: Any, plies: int, ticker: Ticker) -> int:
    if plies == 0:
        return 1
    if isinstance(engine, CountsLines) and plies <= COMPILED_PLIES:
        return engine.count_lines(position, plies)
    game = engine.game
    moves = game.moves(position)
    if not moves:
        return 1
    ticker.show("counting")
    return sum(
        count_lines(engine, game.play(position, move), plies - 1, ticker) for move in moves
    )


# -- distinct positions -------------------------------------------------------------------


def count_distinct(engine: Engine, depth: int, ticker: Ticker) -> Iterator[int]:
    game = engine.game
    level = {game.encode(game.canonical(game.initial()))}
    yield len(level)
    for move in range(1, depth + 1):
        ticker.subject = f"after {move} moves"
        following: set[Key] = set()
        for key in _children(engine, b"".join(level)):
            following.add(key)
            if len(following) % BATCH_BYTES == 0:
                ticker.show(f"{len(following):,} positions so far")
        level = following
        yield len(level)


def _children(engine: Engine, keys: bytes) -> Iterator[Key]:
    """Keys of the positions one move later, looking through forced passes."""
    for start in range(0, len(keys), BATCH_BYTES):
        batch = keys[start : start + BATCH_BYTES]
        for at, children in enumerate(engine.expand(batch).by_parent()):
            parent = batch[at * KEY_BYTES : (at + 1) * KEY_BYTES]
            if len(children) == 1 and _must_pass(engine.game, parent):
                yield from _children(engine, children[0])
            else:
                yield from children


def _must_pass(game: Game[Any], key: Key) -> bool:
    moves = game.moves(game.decode(key))
    return [game.move_name(move) for move in moves] == ["pass"]
