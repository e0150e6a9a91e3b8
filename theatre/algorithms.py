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
from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum

from zermelo.games import Move
from zermelo.theatre.evaluation import Evaluation, evaluation
from zermelo.theatre.events import Event, Kind
from zermelo.theatre.performance import Performance
from zermelo.theatre.tree import GameTree


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
    #: How many plies to look ahead; None: as far as the tree goes.
    horizon: int | None = None

    def with_algorithm(self, algorithm: str) -> Direction:
        """The same for another algorithm."""
        return replace(self, algorithm=algorithm)


def perform(tree: GameTree, direction: Direction, start: int = 0) -> Performance:
    """Play an algorithm from its first event to its last, on the tree below a node."""
    search = _Search(tree, direction, start)
    value = ALGORITHMS[direction.algorithm](search)
    by_mover = direction.algorithm not in ("minimax", "alphabeta")
    return Performance(
        tree, direction.algorithm, by_mover, tuple(search.events),
        search.for_mover(start, value) if by_mover else value, (search.alpha, search.beta), start,
    )  # fmt: skip


@dataclass(slots=True)
class _Known:
    """What the table has of a position, from the view of the side to move."""

    lo: int
    hi: int


class _Search:
    def __init__(self, tree: GameTree, direction: Direction, start: int) -> None:
        self.tree, self.direction, self.start = tree, direction, start
        #: What happened so far.
        self.events: list[Event] = []
        self.tell = self.events.append
        #: The last ply to look at.
        self._last = (
            tree.depth if direction.horizon is None else tree[start].ply + direction.horizon
        )
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

    def is_leaf(self, number: int) -> bool:
        node = self.tree[number]
        return not node.children or node.ply >= self._last

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

    def cut(self, number: int, by: int, left: list[int], value: int) -> None:
        """Note and tell a cut: `left` are the children that need not be looked at."""
        node = self.tree[by]
        self._killers[node.ply - 1] = node.move
        self._cuts[node.move] += 1 << min(30, self.tree.depth - node.ply)
        self.tell(Event(Kind.CUT, number, value, child=by, cut=tuple(left)))

    def _true_worth(self, number: int) -> int:
        if number not in self._worth:
            node = self.tree[number]
            below = [] if self.is_leaf(number) else node.children
            values = [self._true_worth(child) for child in below]
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
        node = self.tree[number]
        all_is_seen = self.tree.horizon is None and self.direction.horizon is None
        left = 0 if all_is_seen else self._last - node.ply
        one_sided = self.direction.evaluation is not Evaluation.SCORE and node.is_max
        return self.tree.identity(number), left, one_sided


def _minimax(search: _Search, number: int) -> int:
    node = search.tree[number]
    search.tell(Event(Kind.ENTER, number))
    stored = search.known(number, search.alpha, search.beta)
    if stored is not None:
        value = search.for_mover(number, stored)
        search.tell(Event(Kind.HIT, number, value))
    elif search.is_leaf(number):
        value = search.leaf(number)
    else:
        best: int | None = None
        for child in search.children(number):
            found = _minimax(search, child)
            if best is None or (found > best if node.is_max else found < best):
                best = found
                search.tell(Event(Kind.BEST, number, best, child=child))
        value = search.leaf(number) if best is None else best
    search.store(number, search.alpha, search.beta, search.for_mover(number, value))
    search.tell(Event(Kind.VALUE, number, value))
    return value


def _alphabeta(search: _Search, number: int, alpha: int, beta: int) -> int:
    """With a window from the view of MAX; MAX raises alpha, MIN lowers beta."""
    node = search.tree[number]
    asked = (alpha, beta) if node.is_max else (-beta, -alpha)
    search.tell(Event(Kind.ENTER, number, None, alpha, beta))
    stored = search.known(number, *asked)
    if stored is not None:
        value = search.for_mover(number, stored)
        search.tell(Event(Kind.HIT, number, value, alpha, beta))
    elif search.is_leaf(number):
        value = search.leaf(number)
    else:
        value = search.alpha if node.is_max else search.beta
        left = search.children(number)
        while left:
            child = left.pop(0)
            found = _alphabeta(search, child, alpha, beta)
            if found > value if node.is_max else found < value:
                value = found
                search.tell(Event(Kind.BEST, number, value, alpha, beta, child))
            if node.is_max:
                alpha = max(alpha, value)
            else:
                beta = min(beta, value)
            if alpha >= beta and left:
                search.cut(number, child, left, value)
                break
    search.store(number, *asked, search.for_mover(number, value))
    search.tell(Event(Kind.VALUE, number, value, alpha, beta))
    return value


def _negamax(
    search: _Search, number: int, alpha: int, beta: int, *, scout: bool = False
) -> int:
    """With a window from the view of the side to move. With `scout` the first move is searched
    with the whole window, and the others are first asked whether they are better at all."""
    asked = alpha
    search.tell(Event(Kind.ENTER, number, None, alpha, beta))
    stored = search.known(number, alpha, beta)
    if stored is not None:
        value = stored
        search.tell(Event(Kind.HIT, number, value, alpha, beta))
    elif search.is_leaf(number):
        value = search.for_mover(number, search.leaf(number))
    else:
        value = search.alpha
        left = search.children(number)
        first = left[0]
        while left:
            child = left.pop(0)
            if scout and child != first and alpha + 1 < beta:
                found = -_negamax(search, child, -alpha - 1, -alpha, scout=True)
                if alpha < found < beta:  # better than thought: how good?
                    found = -_negamax(search, child, -beta, -found, scout=True)
            else:
                found = -_negamax(search, child, -beta, -alpha, scout=scout)
            if found > value:
                value = found
                search.tell(Event(Kind.BEST, number, value, alpha, beta, child))
            alpha = max(alpha, value)
            if alpha >= beta and left:
                search.cut(number, child, left, value)
                break
    search.store(number, asked, beta, value)
    search.tell(Event(Kind.VALUE, number, value, alpha, beta))
    return value


def _mtdf(search: _Search) -> int:
    """Null windows only: each pass answers whether the value is at least a threshold."""
    lo, hi = search.alpha + 1, search.beta - 1
    value = 0
    while lo < hi:
        threshold = max(value, lo + 1)
        search.tell(Event(Kind.PASS, search.start, None, threshold - 1, threshold))
        value = _negamax(search, search.start, threshold - 1, threshold)
        if value >= threshold:
            lo = value
        else:
            hi = value
    return lo


#: Each with the whole window, from where the search starts.
ALGORITHMS: dict[str, Callable[[_Search], int]] = {
    "minimax": lambda search: _minimax(search, search.start),
    "alphabeta": lambda search: _alphabeta(search, search.start, search.alpha, search.beta),
    "negamax": lambda search: _negamax(search, search.start, search.alpha, search.beta),
    "negascout": lambda search: _negamax(
        search, search.start, search.alpha, search.beta, scout=True
    ),
    "mtdf": _mtdf,
}
