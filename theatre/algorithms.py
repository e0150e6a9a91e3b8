"""Five search algorithms that tell what they do.

Minimax and alpha-beta see every value from the view of MAX and have two cases, MAX and MIN.
Negamax, NegaScout and MTD(f) see each value from the view of the side to move and change the
sign between plies. Apart from minimax, all are fail-soft, with the contract

result <= alpha:          the value is at most the result
alpha < result < beta:    the value is the result
result >= beta:           the value is at least the result
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Generator
from dataclasses import dataclass
from enum import StrEnum

from zermelo.games import Move
from zermelo.theatre.evaluation import Evaluation, evaluation
from zermelo.theatre.events import Event, Kind
from zermelo.theatre.performance import Performance
from zermelo.theatre.tree import GameTree

#: A search that yields what happens and returns the value it found.
Telling = Generator[Event, None, int]


class Order(StrEnum):
    """In which order the moves of a position are looked at."""

    GIVEN = "given"
    REVERSED = "reversed"
    RANDOM = "random"
    #: By what the moves are really worth: the least that alpha-beta can visit, and nearly the most.
    BEST_FIRST = "best-first"
    WORST_FIRST = "worst-first"


@dataclass(frozen=True, slots=True)
class Direction:
    """How an algorithm is to be played."""

    algorithm: str = "alphabeta"
    table: bool = False
    #: Look first at the move that made the latest cut on the same ply.
    killer: bool = False
    #: ... and then at those that made most cuts anywhere, the larger the tree below the more.
    history: bool = False
    order: Order = Order.GIVEN
    evaluation: Evaluation = Evaluation.SCORE
    seed: int = 1


def perform(tree: GameTree, direction: Direction) -> Performance:
    """Play an algorithm from its first event to its last."""
    search = _Search(tree, direction)
    events = []
    performing = ALGORITHMS[direction.algorithm](search)
    while True:
        try:
            events.append(next(performing))
        except StopIteration as ended:
            value = ended.value
            break
    mover = direction.algorithm not in ("minimax", "alphabeta")
    return Performance(
        tree, direction.algorithm, mover, tuple(events), value, (search.alpha, search.beta)
    )


@dataclass(slots=True)
class _Known:
    """What the table has of a position, from the view of the side to move."""

    lo: int
    hi: int


class _Search:
    def __init__(self, tree: GameTree, direction: Direction) -> None:
        self.tree, self.direction = tree, direction
        self._evaluate, self.lowest, self.highest = evaluation(tree, direction.evaluation)
        # The view of the side to move: negated on every other ply.
        bound = max(-self.lowest, self.highest) + 1
        self.alpha, self.beta = -bound, bound
        self._table: dict[tuple[bytes, int, bool], _Known] = {}
        self._killers: dict[int, Move | None] = {}
        self._cuts: Counter[Move | None] = Counter()
        self._chance = random.Random(direction.seed)  # noqa: S311 - an order of moves
        self._worth: dict[int, int] = {}

    # -- leaves and children ----------------------------------------------------------------

    def leaf(self, number: int) -> int:
        """The value of a leaf for MAX."""
        return self._evaluate(number)

    def for_mover(self, number: int, value: int) -> int:
        """A value for MAX from the view of the side to move, or the other way round."""
        return value if self.tree[number].is_max else -value

    def children(self, number: int) -> list[int]:
        node, order = self.tree[number], self.direction.order
        children = list(node.children)
        if order is Order.REVERSED:
            children.reverse()
        elif order is Order.RANDOM:
            self._chance.shuffle(children)
        elif order is not Order.GIVEN:
            best_is_large = node.is_max == (order is Order.BEST_FIRST)
            children.sort(key=self._true_worth, reverse=best_is_large)
        if self.direction.history:
            children.sort(key=lambda child: -self._cuts[self.tree[child].move])
        if self.direction.killer and node.ply in self._killers:
            killer = self._killers[node.ply]
            children.sort(key=lambda child: self.tree[child].move != killer)
        return children

    def cut(self, number: int, by: int, left: list[int], value: int) -> Event:
        """Note a cut: `left` are the children that need not be looked at."""
        node = self.tree[by]
        self._killers[node.ply - 1] = node.move
        self._cuts[node.move] += 1 << min(30, self.tree.depth - node.ply)
        return Event(Kind.CUT, number, value, child=by, cut=tuple(left))

    def _true_worth(self, number: int) -> int:
        if number not in self._worth:
            node = self.tree[number]
            values = [self._true_worth(child) for child in node.children]
            best = max if node.is_max else min
            self._worth[number] = best(values) if values else self.leaf(number)
        return self._worth[number]

    # -- the table, from the view of the side to move -----------------------------------------

    def known(self, number: int, alpha: int, beta: int) -> int | None:
        """What the table says if that suffices for this window."""
        known = self._table.get(self._key(number)) if self.direction.table else None
        if known is None:
            return None
        if known.lo >= beta or known.lo == known.hi:
            return known.lo
        return known.hi if known.hi <= alpha else None

    def store(self, number: int, alpha: int, beta: int, value: int) -> None:
        """Remember what a search with this window found out."""
        if not self.direction.table:
            return
        known = self._table.setdefault(self._key(number), _Known(self.alpha, self.beta))
        if value > alpha:
            known.lo = max(known.lo, value)
        if value < beta:
            known.hi = min(known.hi, value)

    def _key(self, number: int) -> tuple[bytes, int, bool]:
        """Positions with equal keys have equal values: below a horizon the plies left count, and
        where MAX is judged by other numbers than MIN the side to move."""
        node, horizon = self.tree[number], self.tree.horizon
        left = 0 if horizon is None else horizon - node.ply
        one_sided = self.direction.evaluation is not Evaluation.SCORE and node.is_max
        return self.tree.identity(number), left, one_sided


def _minimax(search: _Search, number: int = 0) -> Telling:
    node = search.tree[number]
    yield Event(Kind.ENTER, number)
    stored = search.known(number, search.alpha, search.beta)
    if stored is not None:
        value = search.for_mover(number, stored)
        yield Event(Kind.HIT, number, value)
    elif not node.children:
        value = search.leaf(number)
    else:
        best: int | None = None
        for child in search.children(number):
            found = yield from _minimax(search, child)
            if best is None or (found > best if node.is_max else found < best):
                best = found
                yield Event(Kind.BEST, number, best, child=child)
        value = search.leaf(number) if best is None else best
    search.store(number, search.alpha, search.beta, search.for_mover(number, value))
    yield Event(Kind.VALUE, number, value)
    return value


def _alphabeta(
    search: _Search, number: int = 0, alpha: int | None = None, beta: int | None = None
) -> Telling:
    """With a window from the view of MAX; MAX raises alpha, MIN lowers beta."""
    node = search.tree[number]
    alpha = search.alpha if alpha is None else alpha
    beta = search.beta if beta is None else beta
    asked = (alpha, beta) if node.is_max else (-beta, -alpha)
    yield Event(Kind.ENTER, number, None, alpha, beta)
    stored = search.known(number, *asked)
    if stored is not None:
        value = search.for_mover(number, stored)
        yield Event(Kind.HIT, number, value, alpha, beta)
    elif not node.children:
        value = search.leaf(number)
    else:
        value = search.alpha if node.is_max else search.beta
        left = search.children(number)
        while left:
            child = left.pop(0)
            found = yield from _alphabeta(search, child, alpha, beta)
            if found > value if node.is_max else found < value:
                value = found
                yield Event(Kind.BEST, number, value, alpha, beta, child)
            if node.is_max:
                alpha = max(alpha, value)
            else:
                beta = min(beta, value)
            if alpha >= beta and left:
                yield search.cut(number, child, left, value)
                break
    search.store(number, *asked, search.for_mover(number, value))
    yield Event(Kind.VALUE, number, value, alpha, beta)
    return value


def _negamax(
    search: _Search, number: int = 0, alpha: int | None = None, beta: int | None = None,
    *, scout: bool = False,
) -> Telling:  # fmt: skip
    """With a window from the view of the side to move. With `scout` the first move is searched
    with the whole window, and the others are first asked whether they are better at all."""
    alpha = search.alpha if alpha is None else alpha
    beta = search.beta if beta is None else beta
    asked = alpha
    yield Event(Kind.ENTER, number, None, alpha, beta)
    stored = search.known(number, alpha, beta)
    if stored is not None:
        value = stored
        yield Event(Kind.HIT, number, value, alpha, beta)
    elif not search.tree[number].children:
        value = search.for_mover(number, search.leaf(number))
    else:
        value = search.alpha
        left = search.children(number)
        first = left[0]
        while left:
            child = left.pop(0)
            if scout and child != first and alpha + 1 < beta:
                found = -(yield from _negamax(search, child, -alpha - 1, -alpha, scout=True))
                if alpha < found < beta:  # better than thought: how good?
                    found = -(yield from _negamax(search, child, -beta, -found, scout=True))
            else:
                found = -(yield from _negamax(search, child, -beta, -alpha, scout=scout))
            if found > value:
                value = found
                yield Event(Kind.BEST, number, value, alpha, beta, child)
            alpha = max(alpha, value)
            if alpha >= beta and left:
                yield search.cut(number, child, left, value)
                break
    search.store(number, asked, beta, value)
    yield Event(Kind.VALUE, number, value, alpha, beta)
    return value


def _negascout(search: _Search) -> Telling:
    return (yield from _negamax(search, scout=True))


def _mtdf(search: _Search) -> Telling:
    """Null windows only: each pass answers whether the value is at least a threshold."""
    lo, hi = search.alpha + 1, search.beta - 1
    value = 0
    while lo < hi:
        threshold = max(value, lo + 1)
        yield Event(Kind.PASS, 0, None, threshold - 1, threshold)
        value = yield from _negamax(search, 0, threshold - 1, threshold)
        if value >= threshold:
            lo = value
        else:
            hi = value
    return lo


ALGORITHMS: dict[str, Callable[[_Search], Telling]] = {
    "minimax": _minimax,
    "alphabeta": _alphabeta,
    "negamax": _negamax,
    "negascout": _negascout,
    "mtdf": _mtdf,
}
