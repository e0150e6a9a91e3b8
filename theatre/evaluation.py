"""Values of leaves, all from the view of MAX, who moves at the root."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum

from zermelo.theatre.tree import GameTree, TheatreError

Evaluate = Callable[[int], int]

#: Values of the evaluation by heaps: a lost leaf, a horizon of either kind, a won leaf.
LOST, UNCLEAR, PROMISING, WON = 0, 1, 2, 3


class Evaluation(StrEnum):
    #: The game's own score at its end, its own guess at the horizon.
    SCORE = "score"
    #: For games with heaps: 2 at the horizon where the two largest are equal and the third is
    #: smaller, else 1; 3 for a won leaf, 0 for a lost one.
    HEAPS = "heaps"


def evaluation(tree: GameTree, kind: Evaluation) -> tuple[Evaluate, int, int]:
    """The value of a leaf by its number, and the smallest and the largest that can occur."""
    game = tree.game

    def score(number: int) -> int:
        node = tree[number]
        measure = game.score if tree.is_end(number) else game.evaluate
        return measure(node.position) if node.is_max else -measure(node.position)

    def by_heaps(number: int) -> int:
        if tree.is_end(number):
            return WON if score(number) > 0 else LOST
        heaps = [*sorted(_heaps(tree, number), reverse=True), 0, 0]
        return PROMISING if heaps[0] == heaps[1] > heaps[2] else UNCLEAR

    if kind is Evaluation.SCORE:
        return score, -game.max_score, game.max_score
    _heaps(tree, 0)
    return by_heaps, LOST, WON


def _heaps(tree: GameTree, number: int) -> list[int]:
    """The sizes of the heaps, from the position's text, which begins with them."""
    words = tree.label(number).split()[0] if tree.label(number) else ""
    if not all(size.isdigit() for size in words.split("-")):
        raise TheatreError(f"{tree.game.short_spec} has no heaps; evaluate it by its score")
    return [int(size) for size in words.split("-")]
