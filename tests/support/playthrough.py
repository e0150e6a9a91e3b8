"""Recorded games: everything a game says about the positions of one line of play.

A record changes only when the rules or the encoding change, which breaks every stored
proof, so that such a change shows in review. To record a game anew:

    python tests/support/playthrough.py SPEC SEED > tests/data/games/NAME/playthrough-....txt
"""

from __future__ import annotations

import random
import sys

from zermelo.games import open_game


def record(spec: str, moves: list[str]) -> str:
    """The record of a game with these moves, to its end."""
    game = open_game(spec)
    position = game.initial()
    lines = [
        f"spec: {game.spec}",
        f"short: {game.short_spec}",
        f"scores: {game.score_range.lo} to {game.score_range.hi}",
    ]
    for name in [*moves, None]:
        legal = game.moves(position)
        lines += [
            "",
            *game.draw(position).splitlines(),
            f"position: {game.format(position)}",
            f"key: {game.encode(position).hex()}",
            f"history: {game.history(position).hex() or 'none'}",
            f"canonical: {game.encode(game.canonical(position)).hex()}",
            f"symmetric: {len({game.encode(image) for image in game.symmetries(position)})}",
            f"moves: {' '.join(map(game.move_name, legal)) or 'none'}",
            f"numbers: {' '.join(map(str, legal)) or 'none'}",
        ]
        if name is None:
            lines.append(f"score: {game.score(position)}" if not legal else "score: none")
        else:
            lines.append(f"move: {name}")
            position = game.play(position, game.find_move(position, name))
    return "\n".join(lines) + "\n"


def read(text: str) -> tuple[str, list[str]]:
    """The spec and the moves of a record."""
    pairs = [line.partition(": ") for line in text.splitlines()]
    spec = next(value for name, _, value in pairs if name == "spec")
    return spec, [value for name, _, value in pairs if name == "move"]


def random_game(spec: str, seed: int) -> list[str]:
    game, rng, moves = open_game(spec), random.Random(seed), []
    position = game.initial()
    while legal := game.moves(position):
        move = rng.choice(legal)
        moves.append(game.move_name(move))
        position = game.play(position, move)
    return moves


if __name__ == "__main__":
    sys.stdout.write(record(sys.argv[1], random_game(sys.argv[1], int(sys.argv[2]))))
