"""Games that the kernel searches in ways of their own, against plain minimax over the reference
rules: games of lines, of filling, and Hex; and games that look like one of these but are not."""

from __future__ import annotations

import random
from math import isqrt
from typing import Any

import pytest

from tests.support.definitions import play_text
from tests.support.effort import REPEATED
from tests.support.minimax import minimax
from zermelo.engine import Known, Window, open_engine
from zermelo.engine.definition import DefinitionEngine
from zermelo.engine.definition_program import Program
from zermelo.games import Bounds, open_game
from zermelo.games.definition.game import DefinedGame
from zermelo.games.definition.library import library_definition

#: Rows down and columns right of the neighbours of a hexagon.
NEIGHBOURS = ((-1, 0), (1, 0), (0, -1), (0, 1), (-1, 1), (1, -1))
KINDS = ("steady", "filling", "joining")
SEEDS = [*range(4), *(pytest.param(seed, marks=REPEATED) for seed in range(4, 40))]


def kind_of(game: DefinedGame) -> str:
    parts = Program(game.compiled).parts
    return " ".join(kind for kind in KINDS if parts[kind])


def late(game: DefinedGame, rng: random.Random, empty: int) -> Any:
    """A position of a random game with two to so many moves, or one that has just ended."""
    position = game.initial()
    while (moves := game.moves(position)) and not 2 <= len(moves) <= empty:
        position = game.play(position, rng.choice(moves))
    return position


def agrees(game: DefinedGame, position: Any) -> None:
    """All windows from a position, both algorithms that search so, with one and two threads."""
    expected = minimax(game, position)
    for threads in (1, 2):
        engine = DefinitionEngine(game, hash_mb=1, threads=threads)
        for algorithm in ("mtdf", "negascout", "negamax"):
            engine.clear()
            for window in (Window(expected - 1, expected), Window(expected, expected + 1), None):
                bounds = engine.solve(position, window, algorithm=algorithm).bounds
                assert bounds.lo <= expected <= bounds.hi, game.draw(position)
                assert window is None or window.settled_by(bounds)
            assert bounds == Bounds(expected, expected), game.draw(position)
            if game.moves(position):
                known = engine.known(position)
                assert known.lo <= expected <= known.hi


# -- which games are of which kind -------------------------------------------------------------


@pytest.mark.parametrize(("spec", "kind"), [
    ("connect-four:6x7", "steady"), ("connect-four:9x8", ""), ("mnk:4x4,k=4", "steady"),
    ("mnk:3x3,misere=yes", ""), ("dots-and-boxes:4x4", "filling"), ("hex:5x5", "joining"),
    ("hex:8x8", ""), ("breakthrough:5x5", ""), ("cram:3x3", ""),
])  # fmt: skip
def test_games_of_the_library(spec: str, kind: str) -> None:
    game = open_game(spec)
    assert isinstance(game, DefinedGame)
    assert kind_of(game) == kind


@pytest.mark.parametrize(("name", "old", "new"), [
    # Lines: a side without a move loses; a cell that waits for two others; a move of one side only.
    ("connect-four", 'stuck = "draw"', 'stuck = "loss"'),
    ("connect-four", 'along = "s"', 'along = "s"\nif = "count(own) < 9"'),
    ("mnk", 'place = "stone"', 'place = "stone"\nif = "none(own) or any(beside(own) & to)"'),
    ("mnk", 'place = "stone"', 'place = "stone"\nby = "first"'),
    # Filling: lines that count twice, no second turn, an end before all is filled.
    ("dots-and-boxes", "lines(filled, to)\"\nagain", "2 * lines(filled, to)\"\nagain"),
    ("dots-and-boxes", 'again = "lines(filled, to)"', ""),
    ("dots-and-boxes", 'score = "own boxes - enemy boxes"', 'score = "enemy boxes - own boxes"'),
    ("dots-and-boxes", "[[move]]", '[[end]]\nif = "own boxes > 1"\nis = "win"\n[[move]]'),
    # Hex: who joins loses; both join the same sides; only part of a side counts.
    ("hex", 'is = "loss"', 'is = "win"'),
    ("hex", 'second = "transpose"', 'second = "same"'),
    ("hex", 'top = "row == 1"', 'top = "row == 1 and col < 3"'),
    ("hex", 'hex = "rows x cols"', 'hex = "rows x cols"\nlinks = "orthogonal"'),
])
def test_games_that_only_look_alike(name: str, old: str, new: str) -> None:
    text = library_definition(name).text
    assert old in text
    game = play_text(text.replace(old, new))
    assert kind_of(game) == ""


# -- values --------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(("spec", "empty"), [
    ("connect-four:4x4", 3), ("connect-four:5x3,k=3", 3), ("mnk:4x4,k=4", 9), ("mnk:3x4,k=3", 9),
    ("hex:4x4", 10), ("hex:5x5", 10),
])
def test_values_of_late_positions(spec: str, empty: int, seed: int) -> None:
    game = open_game(spec)
    assert isinstance(game, DefinedGame)
    agrees(game, late(game, random.Random(f"{spec} {seed}"), empty))


@pytest.mark.parametrize("seed", SEEDS)
def test_values_of_dots_and_boxes(seed: int) -> None:
    game = open_game(random.Random(seed).choice(["dots-and-boxes:2x2", "dots-and-boxes:2x3"]))
    assert isinstance(game, DefinedGame)
    agrees(game, late(game, random.Random(seed), 9))


def filling(rng: random.Random) -> DefinedGame:
    """Points that are in up to two lines each, lines of one to five points."""
    names = [f"p{at}" for at in range(rng.randint(5, 9))]
    free = {name: rng.randint(0, 2) for name in names}
    lines: list[list[str]] = []
    for _ in range(rng.randint(1, 7)):
        points = [name for name in names if free[name]]
        line = rng.sample(points, min(len(points), rng.randint(1, 5)))
        if line and sorted(line) not in [sorted(each) for each in lines]:
            lines.append(line)
            for name in line:
                free[name] -= 1
    return filled(names, lines)


def chained(rng: random.Random) -> DefinedGame:
    """Lines of which each shares a point with the next, in a row or a ring, and more points in one
    or two of them: chains, loops, and loops on a stem."""
    count = rng.randint(3, 6)
    of_points = [{at, (at + 1) % count} for at in range(count - rng.randint(0, 1))]
    for _ in range(rng.randint(1, 9 - len(of_points))):
        of_points.append(set(rng.sample(range(count), rng.randint(1, 2))))
    names = [f"p{at}" for at in range(len(of_points))]
    lines = [
        [name for name, of in zip(names, of_points, strict=True) if line in of]
        for line in range(count)
    ]
    return filled(names, [line for at, line in enumerate(lines) if line not in lines[:at]])


def filled(names: list[str], lines: list[list[str]]) -> DefinedGame:
    """The game in which who marks the last of these points of a line gains it and goes on."""
    points = ", ".join(f"{name} = [{at // 3 + 1}, {at % 3 + 1}]" for at, name in enumerate(names))
    drawn = ", ".join(f'"{" ".join(line)}"' for line in lines)
    return play_text(f"""\
zermelo = 1
game = "filling"
score = "own gained - enemy gained"
[board]
points = {{ {points} }}
lines = [{drawn}]
[pieces]
mark = "neutral"
[counters]
gained = {{ of = "each", max = 9 }}
[players]
stuck = "score"
[[move]]
place = "mark"
then = "own gained += lines(filled, to)"
again = "lines(filled, to)"
""")


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(12))
def test_values_of_random_games_of_filling(seed: int) -> None:
    """Chains, loops and lines that no dots have, by which the rules for leaving moves out show."""
    rng, kinds = random.Random(seed), set()
    for number in range(10):
        game = chained(rng) if number % 2 else filling(rng)
        kinds.add(kind_of(game))
        expected = minimax(game, game.initial())
        bounds = DefinitionEngine(game, hash_mb=1).solve(game.initial()).bounds
        assert bounds == Bounds(expected, expected), game.definition.text
    assert "filling" in kinds


@pytest.mark.slow
@pytest.mark.parametrize(("spec", "value"), [
    ("dots-and-boxes:2x3", -2), ("dots-and-boxes:3x3", -3), ("dots-and-boxes:2x5", -2),
])
def test_threads_that_go_different_ways(spec: str, value: int) -> None:
    game = open_game(spec)
    report = open_engine(game, hash_mb=16, threads=2).solve(game.initial())
    assert (report.bounds.lo, report.bounds.hi) == (value, value)


def test_a_loop_on_a_stem() -> None:
    """After its first point the line that it hangs on lacks two and belongs to it."""
    ring = [["a", "b"], ["b", "c"], ["c", "d"], ["a", "d", "e"], ["e", "f", "g", "h"]]
    game = filled(list("abcdefgh"), ring)
    assert kind_of(game) == "filling"
    agrees(game, game.initial())


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=REPEATED) for seed in range(1, 9))])
def test_positions_of_one_game_share_a_table(seed: int) -> None:
    """Different positions with the same chains and joints have one name, all others their own."""
    game = open_game("dots-and-boxes:3x3")
    assert isinstance(game, DefinedGame)
    rng, engine = random.Random(seed), DefinitionEngine(game, hash_mb=1)
    for _ in range(12):
        position = late(game, rng, 8)
        expected = minimax(game, position)
        assert engine.solve(position).bounds == Bounds(expected, expected), game.draw(position)


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("spec", ["hex:4x4", "hex:5x5"])
def test_carriers_of_one_table(spec: str, seed: int) -> None:
    """Wins found in one search restrict the moves of later ones, also after proof-number search,
    whose numbers lie in the same place of the table."""
    game = open_game(spec)
    assert isinstance(game, DefinedGame)
    rng, engine = random.Random(f"{spec} {seed}"), DefinitionEngine(game, hash_mb=1)
    for algorithm in ("mtdf", "pns", "mtdf", "negamax", "mtdf", "mtdf"):
        position = late(game, rng, 8)
        expected = minimax(game, position)
        for move in game.moves(position):
            after = game.play(position, move)
            bounds = engine.solve(after, algorithm=algorithm).bounds
            assert bounds == Bounds(minimax(game, after), minimax(game, after)), game.draw(after)
        assert engine.solve(position).bounds == Bounds(expected, expected), game.draw(position)


def early(game: DefinedGame, rng: random.Random, stones: int) -> Any:
    """A position after so many random moves that is not decided."""
    while True:
        position = game.initial()
        for _ in range(stones):
            if moves := game.moves(position):
                position = game.play(position, rng.choice(moves))
        if game.moves(position):
            return position


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(("spec", "fewest", "most"), [("hex:4x4", 0, 4), ("hex:5x5", 7, 13)])
def test_early_positions_of_hex(spec: str, fewest: int, most: int, seed: int) -> None:
    """With many empty cells connections decide; proof-number search knows nothing of them."""
    game = open_game(spec)
    assert isinstance(game, DefinedGame)
    rng, engine = random.Random(f"{spec} {seed}"), DefinitionEngine(game, hash_mb=8)
    plain = DefinitionEngine(game, hash_mb=8)
    for _ in range(6):
        position = early(game, rng, rng.randint(fewest, most))
        expected = plain.solve(position, algorithm="pns").bounds
        algorithm = rng.choice(["mtdf", "negamax", "negascout"])
        assert engine.solve(position, algorithm=algorithm).bounds == expected, game.draw(position)


def joins(stones: dict[int, int], side: int, to_move: int, empty: tuple[int, ...]) -> bool:
    """Whether a side joins its edges of Hex, by minimax over these cells alone."""
    if not empty:
        size = isqrt(len(stones))
        reached = waiting = {cell for cell in stones if stones[cell] == side
                             and (cell // size if side else cell % size) == 0}
        while waiting:
            waiting = {
                (cell // size + down) * size + cell % size + right
                for cell in waiting for down, right in NEIGHBOURS
                if 0 <= cell // size + down < size and 0 <= cell % size + right < size
            }
            waiting = {cell for cell in waiting - reached if stones[cell] == side}
            reached = reached | waiting
        return any((cell // size if side else cell % size) == size - 1 for cell in reached)
    return (any if side == to_move else all)(
        joins({**stones, cell: to_move}, side, 1 - to_move,
              tuple(other for other in empty if other != cell))
        for cell in empty
    )


@pytest.mark.parametrize("seed", [0, 1, *(pytest.param(seed, marks=REPEATED)
                                          for seed in range(2, 12))])
def test_connections_hold_within_their_carriers(seed: int) -> None:
    """Whatever the other side has on all other cells."""
    rng, checked = random.Random(seed), [0, 0]
    while min(checked) < 4:
        game = open_game(rng.choice(["hex:3x3", "hex:4x4", "hex:5x5"]))
        assert isinstance(game, DefinedGame)
        core = DefinitionEngine(game, hash_mb=1).core
        position = early(game, rng, rng.randint(0, 8))
        side = rng.randint(0, 1)
        fulls, halves = core.connections(game.encode(position), side)
        board = game.format(position).split()[0].replace("/", "")
        for carrier, first in [(each, None) for each in fulls] + [
            (each, cell) for cell, each in halves
        ]:
            if carrier.bit_count() > 6:
                continue
            cells = [cell for cell in range(len(board)) if carrier >> cell & 1]
            assert all(board[cell] == "-" for cell in cells)
            stones = {
                cell: -1 if cell in cells else 1 - side if sign == "-" else "XO".index(sign)
                for cell, sign in enumerate(board)
            }
            if first is not None:
                stones[first] = side
                cells.remove(first)
            assert joins(stones, side, 1 - side, tuple(cells)), game.draw(position)
            checked[first is not None] += 1


def test_full_counters_stop_a_gain() -> None:
    """A counter that has no room left gains nothing: then the score so far matters."""
    text = library_definition("dots-and-boxes").text.replace('"rows * cols"', '"rows * cols - 2"')
    game = play_text(text)
    agrees(game, late(game, random.Random(1), 8))


# -- what the table is told and asked -----------------------------------------------------------


def test_a_position_that_must_pass_is_not_taken_for_another() -> None:
    """The side that completed a box goes on: the same cells with the other side to move differ."""
    game = open_game("dots-and-boxes:1x2")
    assert isinstance(game, DefinedGame)
    rng, passed = random.Random(3), 0
    for algorithm in ("mtdf", "pns"):
        engine = DefinitionEngine(game, hash_mb=1)
        for _ in range(20):
            position = game.initial()
            while game.moves(position):
                expected = minimax(game, position)
                known = engine.known(position)
                assert known.lo <= expected <= known.hi
                engine.solve(position, algorithm=algorithm)
                passed += len(game.moves(position)) == 1
                position = game.play(position, rng.choice(game.moves(position)))
    assert passed


def test_what_is_told_about_a_position_answers_for_it() -> None:
    for spec in ("dots-and-boxes:2x2", "hex:4x4", "connect-four:4x4"):
        game = open_game(spec)
        assert isinstance(game, DefinedGame)
        position = late(game, random.Random(2), 3 if spec.startswith("connect") else 8)
        value = minimax(game, position)
        engine = DefinitionEngine(game, hash_mb=1)
        told = Known(position, Bounds(value, value))
        report = engine.solve(position, known=[told])
        assert report.bounds == Bounds(value, value)
        assert engine.known(position) == Bounds(value, value)
