"""A move that secures a bound, from an engine that is only asked yes/no questions."""

from __future__ import annotations

from typing import Any

from zermelo.engine.interface import Engine, Window
from zermelo.games import Move


def securing_move(
    engine: Engine, position: Any, bound: int, *, node_budget: int | None = None
) -> Move | None:
    """A move after which the score is proved to be at least `bound`; None if none is found."""
    game = engine.game
    after = {move: game.play(position, move) for move in game.moves(position)}
    for move, child in after.items():
        if game.is_final(child) and -game.score(child) >= bound:
            return move
    # An answer need not name a move, and one that does may mean another question.
    favourite = engine.solve(position, Window.question(bound), node_budget=node_budget).move
    for move in sorted(after, key=lambda move: move != favourite):
        if not game.is_final(after[move]):
            question = Window.question(1 - bound)
            report = engine.solve(after[move], question, node_budget=node_budget)
            if report.bounds.answers(1 - bound) is False:
                return move
    return None
