"""Positions, and their values by plain minimax over the reference rules.

Nothing here is fast or clever: it is what the engines are measured against. The rules
are walked once for each board (`Tree`), so that thousands of positions with few empties
come at the price of their common game tree, and both scorings at the price of one.
"""

from __future__ import annotations

import random
from functools import cache

from zermelo.games import Bounds, Game, open_game
from zermelo.games.reversi import Reversi, ReversiPosition

Position = ReversiPosition

SIZES = [(rows, cols) for rows in range(4, 9) for cols in range(4, 9)]
BOARDS = [f"reversi:{rows}x{cols}" for rows, cols in SIZES]


@cache
def reversi(spec: str) -> Reversi:
    game = open_game(spec)
    assert isinstance(game, Reversi)
    return game


def scoring(spec: str, rule: str) -> Reversi:
    return reversi(f"{spec},scoring={rule}")


class Tree:
    """All positions that can follow some positions, with the values of both scorings."""

    def __init__(self, game: Game[Position], roots: list[Position]) -> None:
        self.game = game
        self.roots = roots
        self.children: dict[Position, list[Position]] = {}
        self._values: dict[Game[Position], dict[Position, int]] = {}
        for root in roots:
            self._explore(root)
        self.positions = list(self.children)

    def _explore(self, position: Position) -> None:
        if position not in self.children:
            moves = self.game.moves(position)
            self.children[position] = [self.game.play(position, move) for move in moves]
            for child in self.children[position]:
                self._explore(child)

    def value(self, game: Game[Position], position: Position) -> int:
        """The value of a position under the scoring rule of `game`."""
        known = self._values.setdefault(game, {})
        if position not in known:
            scores = [-self.value(game, child) for child in self.children[position]]
            known[position] = max(scores) if scores else game.score(position)
        return known[position]


def random_play(game: Reversi, rng: random.Random, empties: int) -> Position:
    """A position of a random game with this many empties and a move to make."""
    while True:
        position = game.initial()
        while moves := game.moves(position):
            if game.plies_left(position) <= empties:
                return position
            position = game.play(position, rng.choice(moves))


def random_discs(game: Reversi, rng: random.Random, empties: int | None = None) -> Position:
    """Discs strewn at random: hardly ever reachable, but a position all the same."""
    squares = list(game.squares)
    rng.shuffle(squares)
    if empties is None:
        empties = rng.randint(0, len(squares) - 4)
    share = rng.choice((0.1, 0.3, 0.5, 0.5, 0.7, 0.9))
    own = opponent = 0
    for square in squares[empties:]:
        if rng.random() < share:
            own |= 1 << square
        else:
            opponent |= 1 << square
    return ReversiPosition(own, opponent)


@cache
def whole_tree() -> Tree:
    """Every position of 4x4, from the start."""
    game = reversi("reversi:4x4")
    return Tree(game, [game.initial()])


@cache
def late_tree(spec: str) -> Tree:
    """The last plies of some games, played and strewn, on one board."""
    game, rng = reversi(spec), random.Random(spec)
    played = [random_play(game, rng, 6) for _ in range(2)]
    strewn = [random_discs(game, rng, empties) for empties in (0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 6)]
    return Tree(game, [*played, *strewn])


def sample(tree: Tree, rng: random.Random, count: int) -> list[Position]:
    """Positions of a tree, the early ones as likely as the much more numerous late ones."""
    by_empties: dict[int, list[Position]] = {}
    for position in tree.positions:
        by_empties.setdefault(tree.game.plies_left(position), []).append(position)
    return [rng.choice(by_empties[rng.choice(list(by_empties))]) for _ in range(count)]


def play_out(game: Game[Position], position: Position, line: tuple[int, ...]) -> int:
    """The score at the end of a line that must lead to the end, for the side at its start."""
    sign = 1
    for move in line:
        position, sign = game.play(position, move), -sign
    assert game.is_final(position), f"the line ends too early: {game.format(position)}"
    return sign * game.score(position)


def random_window(game: Game[Position], rng: random.Random) -> tuple[int, int]:
    low = rng.randint(-game.max_score - 2, game.max_score + 1)
    return low, low + rng.choice((1, 1, 2, 3, 8, 40))


def settled(bounds: Bounds, alpha: int, beta: int) -> bool:
    return bounds.exact or bounds.lo >= beta or bounds.hi <= alpha
