"""Reversi for play: a fixed number of plies ahead with a textbook evaluation or the trained one.

A depth of N is N plies with nothing added; a forced pass is one of them. Values are sums of
features, not scores; only a finished game counts by its score, and more than any feature.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from zermelo.cext.reversi_depth import DepthSearch
from zermelo.engine.reversi import ReversiEngine
from zermelo.engine.weights import weight_file
from zermelo.games import GameError, Move
from zermelo.games.reversi import PASS, STRIDE, Reversi, ReversiPosition

DEEPEST = 16
DEFAULT_NODE_BUDGET = 200_000_000
LARGEST_WEIGHT = 1000
#: Beyond every trained evaluation: 128 discs.
_WIDEST = 128 * 64

#: What can be weighed, each the difference of both sides, in the order of the compiled search.
FEATURES: Final = (
    "discs", "mobility", "corners", "c-squares", "x-squares", "frontier", "stable", "sandwiched",
    "wiped-out", "positional", "edges",
)  # fmt: skip

#: Worth of squares by their distance from the nearest edges, both mirrored: the matrix of the
#: founding document. Larger distances count as three.
MATRIX: Final = ((100, -20, 10, 5), (-20, -50, -2, -2), (10, -2, -1, -1), (5, -2, -1, -1))

#: Evaluations by name: discs alone, discs times the matrix, discs with edges and corners,
#: mobility, and all features with weights that make a sensible player.
EVALUATIONS: Final[Mapping[str, Mapping[str, int]]] = {
    "discs": {"discs": 1},
    "matrix": {"positional": 1},
    "edges-corners": {"discs": 1, "edges": 2, "corners": 10},
    "mobility": {"mobility": 1},
    "features": {
        "discs": 1, "mobility": 10, "corners": 50, "c-squares": -15, "x-squares": -30,
        "frontier": -4, "stable": 20, "sandwiched": -3, "wiped-out": 1000, "positional": 1,
        "edges": 6,
    },
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Choice:
    """What a search to a fixed depth found."""

    move: Move
    #: None where the budget was not enough to compare all moves.
    value: int | None
    nodes: int


class ReversiDepth:
    def __init__(
        self, game: Reversi, weights: Mapping[str, int], *, columns_first: bool = False
    ) -> None:
        """Of equally good moves the first is chosen, row by row or, `columns_first`, column by
        column. `GameError` for unknown features or weights beyond `LARGEST_WEIGHT`."""
        for name, weight in weights.items():
            if name not in FEATURES:
                raise GameError(f"unknown feature {name!r}; known: {', '.join(FEATURES)}")
            if abs(weight) > LARGEST_WEIGHT:
                raise GameError(f"{name}: a weight is at most {LARGEST_WEIGHT}, this is {weight}")
        self.game, self._columns_first = game, columns_first
        table = [0] * STRIDE * STRIDE
        for square in game.squares:
            table[square] = _square_worth(game, square)
        self._search = DepthSearch(
            game.rows, game.cols, [weights.get(name, 0) for name in FEATURES], table
        )

    def evaluate(self, position: ReversiPosition) -> int:
        """What a position looks worth to the side to move."""
        return self._search.evaluate(position.own, position.opponent)

    def choose(
        self, position: ReversiPosition, plies: int, node_budget: int = DEFAULT_NODE_BUDGET,
        moves: Sequence[Move] | None = None,
    ) -> Choice:  # fmt: skip
        """The first of the best moves, looking this many plies ahead. Who knows the legal moves
        can tell them."""
        moves = _checked(self.game, position, plies, moves)
        squares = [] if moves == [PASS] else list(moves)
        if self._columns_first:
            squares.sort(key=lambda square: (square % STRIDE, square))
        square, value, nodes = self._search.choose(
            position.own, position.opponent, plies, squares, node_budget
        )
        return Choice(PASS if square < 0 else square, value, nodes)


class TrainedDepth:
    """The same with the trained evaluation of the engine, in 1/64 of a disc."""

    def __init__(self, game: Reversi) -> None:
        """`GameError` for boards without trained weights."""
        if not weight_file(game).exists():
            raise GameError(f"there are no trained weights for {game.short_spec}")
        self.game = game
        self._core = ReversiEngine(game, hash_mb=1).core

    def choose(
        self, position: ReversiPosition, plies: int, node_budget: int = DEFAULT_NODE_BUDGET,
        moves: Sequence[Move] | None = None,
    ) -> Choice:  # fmt: skip
        """The first of the best moves, row by row, looking this many plies ahead."""
        moves = _checked(self.game, position, plies, moves)
        chosen, best, spent = moves[0], -_WIDEST, 0
        for move in moves:
            after = self.game.play(position, move)
            # A move that is only as good as the best so far is no better.
            value, nodes = self._core.look(
                after.own, after.opponent, plies - 1, -_WIDEST, -best, node_budget - spent
            )
            spent += nodes
            if spent > node_budget:
                return Choice(chosen, None, spent)
            if -value > best:
                chosen, best = move, -value
        return Choice(chosen, best, spent)


def _checked(
    game: Reversi, position: ReversiPosition, plies: int, moves: Sequence[Move] | None
) -> Sequence[Move]:
    """The legal moves; `GameError` for a depth that cannot be, or where the game is over."""
    if not 1 <= plies <= DEEPEST:
        raise GameError(f"a depth is 1 to {DEEPEST} plies, not {plies}")
    found = game.moves(position) if moves is None else moves
    if not found:
        raise GameError("the game is over")
    return found


def _square_worth(game: Reversi, square: int) -> int:
    row, col = divmod(square, STRIDE)
    down = min(row, game.rows - 1 - row, len(MATRIX) - 1)
    right = min(col, game.cols - 1 - col, len(MATRIX) - 1)
    return MATRIX[down][right]
