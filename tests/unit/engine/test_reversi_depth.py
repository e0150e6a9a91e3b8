"""Reversi to a fixed depth: the compiled search against plain minimax over plain features."""

from __future__ import annotations

import random

import pytest

from tests.support.effort import REPEATED, some
from zermelo.engine.reversi_depth import (
    EVALUATIONS,
    FEATURES,
    MATRIX,
    Choice,
    ReversiDepth,
    TrainedDepth,
)
from zermelo.games import GameError, open_game
from zermelo.games.reversi import PASS, STRIDE, Reversi, ReversiPosition

FINAL = 1_000_000
SIZES = ("4x4", "5x6", "8x5", "8x8")


def reversi(size: str) -> Reversi:
    game = open_game(f"reversi:{size}")
    assert isinstance(game, Reversi)
    return game


def some_positions(game: Reversi, count: int, seed: int) -> list[ReversiPosition]:
    """Positions of random games, at random moments."""
    chance = random.Random(seed)
    found = []
    while len(found) < count:
        position = game.initial()
        for _ in range(chance.randrange(game.max_score)):
            moves = game.moves(position)
            if not moves:
                break
            position = game.play(position, chance.choice(moves))
        if game.moves(position):
            found.append(position)
    return found


def plain_features(game: Reversi, own: int, opponent: int) -> dict[str, int]:
    """Every feature as its name says, square by square."""
    def squares(board: int) -> set[tuple[int, int]]:
        return {divmod(square, STRIDE) for square in game.squares if board >> square & 1}

    mine, theirs = squares(own), squares(opponent)
    everywhere = {divmod(square, STRIDE) for square in game.squares}
    last_row, last_col = game.rows - 1, game.cols - 1
    corners = {(r, c) for r in (0, last_row) for c in (0, last_col)}
    edges = {(r, c) for r, c in everywhere if r in (0, last_row) or c in (0, last_col)}
    empty = everywhere - mine - theirs

    def near(square: tuple[int, int]) -> set[tuple[int, int]]:
        r, c = square
        return {(r + i, c + j) for i in (-1, 0, 1) for j in (-1, 0, 1)} & everywhere - {square}

    weak = {square for corner in corners & empty for square in near(corner)} - corners

    def between(us: set[tuple[int, int]], them: set[tuple[int, int]]) -> int:
        ways = [(0, 1), (1, 0), (1, 1), (1, -1)]
        return sum(
            any((r + i, c + j) in them and (r - i, c - j) in them for i, j in ways) for r, c in us
        )

    def moves(us: int, them: int) -> int:
        found = game.moves(ReversiPosition(us, them))
        return 0 if found == [PASS] else len(found)

    def worth(us: set[tuple[int, int]]) -> int:
        return sum(
            MATRIX[min(r, last_row - r, 3)][min(c, last_col - c, 3)] for r, c in us
        )

    def count(among: set[tuple[int, int]]) -> int:
        return len(mine & among) - len(theirs & among)

    frontier = {square for square in mine | theirs if near(square) & empty}
    return {
        "discs": len(mine) - len(theirs), "mobility": moves(own, opponent) - moves(opponent, own),
        "corners": count(corners), "c-squares": count(weak & edges),
        "x-squares": count(weak - edges), "frontier": count(frontier),
        "sandwiched": between(mine, theirs) - between(theirs, mine),
        "wiped-out": bool(mine) - bool(theirs), "positional": worth(mine) - worth(theirs),
        "edges": count(edges),
    }  # fmt: skip


def plain_search(
    game: Reversi, weights: dict[str, int], position: ReversiPosition, plies: int
) -> int:
    moves = game.moves(position)
    if not moves:
        return FINAL * game.score(position)
    if not plies:
        features = plain_features(game, position.own, position.opponent)
        return sum(weight * features[name] for name, weight in weights.items())
    return max(-plain_search(game, weights, game.play(position, move), plies - 1) for move in moves)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", [name for name in FEATURES if name != "stable"])
def test_features_are_what_they_are_called(size: str, name: str) -> None:
    game = reversi(size)
    search = ReversiDepth(game, {name: 3})
    for position in some_positions(game, 20, seed=7):
        wanted = 3 * plain_features(game, position.own, position.opponent)[name]
        assert search.evaluate(position) == wanted, game.format(position)


def test_stable_discs_are_never_turned() -> None:
    """A full edge is stable; whatever is counted stays for all of many random games."""
    game = reversi("8x8")
    search = ReversiDepth(game, {"stable": 1})
    edge = game.parse("XXXXXXXX/OOOOOOOO/" + "--------/" * 5 + "-------- X")
    assert search.evaluate(edge) == 8
    assert search.evaluate(game.initial()) == 0


@pytest.mark.slow
@pytest.mark.examples
@pytest.mark.parametrize(
    ("size", "plies"),
    [
        pytest.param(size, plies, marks=REPEATED if (size, plies) == ("8x8", 4) else ())
        for size in SIZES for plies in (1, 2, 3, 4)
    ],
)  # fmt: skip
def test_a_depth_is_so_many_plies(size: str, plies: int) -> None:
    game = reversi(size)
    weights = {"discs": 1, "mobility": 5, "corners": 20, "positional": 1}
    search = ReversiDepth(game, weights)
    for position in some_positions(game, 5 if plies < 3 else some(1, 5), seed=plies):
        values = {
            move: -plain_search(game, weights, game.play(position, move), plies - 1)
            for move in game.moves(position)
        }
        best = max(values.values())
        first = next(move for move, value in values.items() if value == best)
        found = search.choose(position, plies)
        assert (found.move, found.value) == (first, best)


def test_the_worked_example() -> None:
    """Depth 1, columns scanned first: after e6 the reply is d6 with either evaluation, after c5
    f4 by discs and b4 by the matrix. The person moves first from the other start."""
    game = reversi("8x8")
    position = game.parse(
        "--------/--------/--------/---OX---/---XO---/--------/--------/-------- X"
    )
    replies = {}
    for name in ("discs", "matrix"):
        search = ReversiDepth(game, EVALUATIONS[name], columns_first=True)
        at, told = position, []
        for move in ("e6", "c5"):
            if move not in map(game.move_name, game.moves(at)):
                break
            at = game.play(at, game.find_move(at, move))
            reply = search.choose(at, 1).move
            told.append(game.move_name(reply))
            at = game.play(at, reply)
        replies[name] = told
    assert replies == {"discs": ["d6", "f4"], "matrix": ["d6", "b4"]}


def test_a_forced_pass_is_chosen() -> None:
    game = reversi("4x4")
    passing = next(p for p in some_positions(game, 400, seed=3) if game.moves(p) == [PASS])
    assert ReversiDepth(game, EVALUATIONS["discs"]).choose(passing, 3).move == PASS


def test_a_budget_is_kept_and_told() -> None:
    game = reversi("8x8")
    search = ReversiDepth(game, EVALUATIONS["mobility"])
    position = some_positions(game, 1, seed=11)[0]
    whole = search.choose(position, 6)
    assert whole.value is not None
    cut = search.choose(position, 6, node_budget=whole.nodes // 2)
    assert cut.value is None
    assert cut.nodes <= whole.nodes // 2 + len(game.moves(position)) + 1
    assert cut.move in game.moves(position)


def test_mistakes_are_named() -> None:
    game = reversi("4x4")
    with pytest.raises(GameError, match="unknown feature 'luck'; known: discs"):
        ReversiDepth(game, {"luck": 1})
    with pytest.raises(GameError, match="at most 1000"):
        ReversiDepth(game, {"discs": 1001})
    with pytest.raises(GameError, match="1 to 16 plies"):
        ReversiDepth(game, {"discs": 1}).choose(game.initial(), 0)
    assert isinstance(ReversiDepth(game, {"discs": 1}).choose(game.initial(), 16), Choice)


def test_the_trained_evaluation_is_looked_for_as_deep_as_told() -> None:
    game = reversi("6x6")
    search = TrainedDepth(game)
    core = search._core

    def value(position: ReversiPosition, plies: int) -> int:
        """Plain minimax over what the evaluation says at the end of the look ahead."""
        moves = game.moves(position)
        if not moves or (not plies and moves != [PASS]):
            return int(core.look(position.own, position.opponent, 0, -9999, 9999, 9999)[0])
        return max(-value(game.play(position, move), max(0, plies - 1)) for move in moves)

    for position in some_positions(game, 12, 9):
        for plies in (1, 2, 3):
            best = value(position, plies)
            found = search.choose(position, plies)
            assert found.value == best
            assert -value(game.play(position, found.move), plies - 1) == best
    cut_short = search.choose(game.initial(), 6, node_budget=10)
    assert cut_short.value is None
    assert cut_short.move in game.moves(game.initial())
    with pytest.raises(GameError, match="no trained weights"):
        TrainedDepth(reversi("4x4"))
