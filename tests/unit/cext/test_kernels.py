"""The compiled rules, for every instruction set, against the reference rules.

All boards together give 10^5 random positions in the long run, half from random games, half
strewn at random. The reference is asked once for each position; the instruction sets
are compared with what it said.
"""

from __future__ import annotations

import random
from functools import cache
from typing import NamedTuple

import pytest

from tests.support.effort import some
from tests.support.machine import MakeCore, MakeEngine
from tests.support.oracle import BOARDS, Position, late_tree, random_discs, reversi
from tests.support.places import DATA
from zermelo.engine.portable import PortableEngine
from zermelo.games.reversi import PASS, Reversi

POSITIONS = some(600, 4000)  # for each of the 25 boards
EXPANDED = some(8, 60)  # compared with the reference, which is slow at it
COUNTS = DATA / "games" / "reversi" / "perft.txt"
#: Distinct positions up to symmetry after 0, 1, 2, ... moves on 8x8, as published.
DISTINCT = [1, 1, 3, 14, 60, 322, 1773, 10649, 67245]
#: More legal moves than any game has: still a position that somebody may ask about.
MANY_MOVES = "-----X---O-OOXO--OX-XXX--OOX-OO--X-O--O--OX-XX---OXOOOO--------- X"

every_board = pytest.mark.parametrize("spec", BOARDS)
pytestmark = pytest.mark.examples


class Facts(NamedTuple):
    own: int
    opponent: int
    #: Each placement with the boards after it, as `Core.moves` lists them.
    placements: list[tuple[int, int, int]]
    canonical: tuple[int, int]


def facts(game: Reversi, position: Position) -> Facts:
    own, opponent = position.own, position.opponent
    turned = [(square, game.flips(position, square)) for square in game.squares]
    placements = [(s, opponent ^ t, own ^ t ^ 1 << s) for s, t in turned if t]
    folded = game.canonical(position)
    return Facts(own, opponent, placements, (folded.own, folded.opponent))


@cache
def reference(spec: str) -> list[Facts]:
    game, rng, found = reversi(spec), random.Random(spec), []
    while len(found) < POSITIONS:
        found.append(facts(game, random_discs(game, rng)))
        position = game.initial()
        while len(found) < POSITIONS:
            found.append(facts(game, position))
            if not found[-1].placements:
                # A pass now and then, so that both sides' moves are seen; or the end.
                if not game.moves(position):
                    break
                position = game.play(position, PASS)
                continue
            _, own, opponent = rng.choice(found[-1].placements)
            position = Position(own, opponent)
            if rng.random() < 0.5:
                found.append(facts(game, random_discs(game, rng)))
    return found[:POSITIONS]


def test_there_are_enough_positions() -> None:
    assert POSITIONS * len(BOARDS) >= some(15_000, 10**5)


@every_board
def test_moves_flips_and_canonical_form(spec: str, make_core: MakeCore) -> None:
    core = make_core(reversi(spec))
    for own, opponent, placements, canonical in reference(spec):
        assert core.moves(own, opponent) == placements
        assert core.canonical(own, opponent) == canonical


@every_board
def test_perft_of_a_few_plies(spec: str, make_core: MakeCore) -> None:
    """Two plies against the moves, which the test above compares with the reference."""
    core = make_core(reversi(spec))

    def children(own: int, opponent: int) -> list[tuple[int, int]]:
        found = [(mine, theirs) for _, mine, theirs in core.moves(own, opponent)]
        if not found and core.moves(opponent, own):
            found = [(opponent, own)]
        return found

    for own, opponent, _, _ in reference(spec)[::8]:
        below = children(own, opponent)
        counts = [len(children(*child)) or 1 for child in below]
        assert core.perft(own, opponent, 0) == 1
        assert core.perft(own, opponent, 1) == (len(below) or 1)
        assert core.perft(own, opponent, 2) == (sum(counts) if below else 1)


@every_board
def test_expand(spec: str, make_core: MakeCore) -> None:
    """Against moves and canonical form together, both compared with the reference above."""
    core = make_core(reversi(spec))
    positions = reference(spec)[::2]
    keys = b"".join(key(own, opponent) for own, opponent, _, _ in positions)
    children, counts = core.expand(keys)
    assert len(counts) == len(positions)
    assert len(children) == 16 * sum(counts)
    at = 0
    for (own, opponent, placements, _), count in zip(positions, counts, strict=True):
        after = [(mine, theirs) for _, mine, theirs in placements]
        if not after and core.moves(opponent, own):
            after = [(opponent, own)]
        expected = {key(*core.canonical(*child)) for child in after}
        given = [children[16 * i : 16 * i + 16] for i in range(at, at + count)]
        assert len(given) == len(set(given))
        assert set(given) == expected
        at += count


@every_board
def test_engines_expand_alike(spec: str, make_engine: MakeEngine) -> None:
    game = reversi(spec)
    keys = b"".join(key(own, opponent) for own, opponent, _, _ in reference(spec)[:EXPANDED])
    compiled, portable = make_engine(game).expand(keys), PortableEngine(game).expand(keys)
    assert list(compiled.counts) == list(portable.counts)
    for ours, theirs in zip(compiled.by_parent(), portable.by_parent(), strict=True):
        assert sorted(ours) == sorted(theirs)


def test_expand_nothing(make_engine: MakeEngine) -> None:
    assert make_engine(reversi("reversi:6x6")).expand(b"").by_parent() == []


@pytest.mark.parametrize(
    "line", [line for line in COUNTS.read_text().splitlines() if line and line[0] != "#"],
    ids=lambda line: line.rpartition(";")[0],
)
def test_published_perft(line: str, make_core: MakeCore) -> None:
    spec, position, counts = (part.strip() for part in line.split(";"))
    game = reversi(spec)
    root = game.initial() if position == "start" else game.parse(position)
    core = make_core(game)
    for depth, count in enumerate(map(int, counts.split()), 1):
        if count < 10**8:
            assert core.perft(root.own, root.opponent, depth) == count


@pytest.mark.slow
def test_published_number_of_distinct_positions(make_engine: MakeEngine) -> None:
    game = reversi("reversi:8x8")
    engine = make_engine(game)
    level = {game.encode(game.canonical(game.initial()))}
    for count in DISTINCT:
        assert len(level) == count
        children = engine.expand(b"".join(level)).children
        level = {children[at : at + 16] for at in range(0, len(children), 16)}


def test_more_moves_than_any_game_has(make_core: MakeCore) -> None:
    game = reversi("reversi:8x8")
    core = make_core(game)
    for position in game.symmetries(game.parse(MANY_MOVES)):
        expected = facts(game, position)
        assert len(expected.placements) == 35
        assert core.moves(position.own, position.opponent) == expected.placements
        assert core.perft(position.own, position.opponent, 1) == 35
        children, counts = core.expand(game.encode(position))
        assert counts == [len(children) // 16]


# -- stable discs ----------------------------------------------------------------------------


@every_board
def test_stable_discs_are_never_turned(spec: str, make_core: MakeCore) -> None:
    """Random play to the end, with the moves that were compared with the reference."""
    core, rng = make_core(reversi(spec)), random.Random(spec)
    claimed = 0
    for own, opponent, _, _ in reference(spec)[::3]:
        sides = [own, opponent]
        stable = [core.stable(own, opponent), core.stable(opponent, own)]
        claimed += (stable[0] | stable[1]).bit_count()
        turn = passes = 0
        while passes < 2:
            moves = core.moves(sides[turn], sides[1 - turn])
            passes = 0 if moves else passes + 1
            if moves:
                _, sides[1 - turn], sides[turn] = rng.choice(moves)
            turn = 1 - turn
        assert stable[0] & ~sides[0] == 0
        assert stable[1] & ~sides[1] == 0
    assert claimed > POSITIONS  # the test has seen something


@pytest.mark.slow
@every_board
def test_stable_discs_survive_every_line_of_play(spec: str, make_core: MakeCore) -> None:
    """With few empties all that can follow is known: who never loses which disc."""
    tree, core = late_tree(spec), make_core(reversi(spec))
    kept: dict[Position, tuple[int, int]] = {}

    def keeps(position: Position) -> tuple[int, int]:
        if position not in kept:
            own, opponent = position.own, position.opponent
            for child in tree.children[position]:
                theirs, mine = keeps(child)
                own, opponent = own & mine, opponent & theirs
            kept[position] = own, opponent
        return kept[position]

    for position in tree.positions:
        own, opponent = keeps(position)
        assert core.stable(position.own, position.opponent) & ~own == 0
        assert core.stable(position.opponent, position.own) & ~opponent == 0


LINES = [(0, 1), (1, 0), (1, 1), (1, -1)]


@cache
def edge_stable(edge: str) -> frozenset[int]:
    """The discs of an edge that never change, whoever puts discs wherever along it."""
    stable = {at for at, sign in enumerate(edge) if sign != "-"}
    for at in range(len(edge)):
        if edge[at] == "-":
            for mover, other in ("XO", "OX"):
                after = list(edge)
                after[at] = mover
                for way in (-1, 1):
                    run = at + way
                    while 0 <= run < len(edge) and edge[run] == other:
                        run += way
                    if 0 <= run < len(edge) and edge[run] == mover:
                        after[min(at, run) : max(at, run)] = mover * abs(run - at)
                        after[at] = mover
                now = "".join(after)
                stable &= {i for i in edge_stable(now) if now[i] == edge[i]}
    return frozenset(stable)


def slow_stable(game: Reversi, position: Position) -> int:
    """Own stable discs by the definition in words, square by square.

    A disc is stable on a stable edge, or when in each of the four directions its line is
    full, ends beside it at the border, or has a stable own disc beside it.
    """
    rows, cols = game.rows, game.cols
    cells = game.format(Position(position.own, position.opponent)).split()[0]
    board = {(r, c): cells[r * cols + c] for r in range(rows) for c in range(cols)}
    edges = [[(r, c) for c in range(cols)] for r in (0, rows - 1)]
    edges += [[(r, c) for r in range(rows)] for c in (0, cols - 1)]
    stable = set()
    for edge in edges:
        still = edge_stable("".join(board[square] for square in edge))
        stable |= {edge[at] for at in still if board[edge[at]] == "X"}

    def safe(square: tuple[int, int], down: int, right: int) -> bool:
        row, col = square
        beside = [(row + down, col + right), (row - down, col - right)]
        if any(step not in board or step in stable for step in beside):
            return True
        line = ((row + k * down, col + k * right) for k in range(-8, 9))
        return all(board.get(step) != "-" for step in line)

    while True:
        more = {
            square for square, sign in board.items()
            if sign == "X" and square not in stable and all(safe(square, *way) for way in LINES)
        }
        if not more:
            return sum(1 << 8 * row + col for row, col in stable)
        stable |= more


@pytest.mark.slow
@every_board
def test_stable_discs_by_definition(spec: str, make_core: MakeCore) -> None:
    game = reversi(spec)
    core = make_core(game)
    for own, opponent, _, _ in reference(spec)[::40]:
        assert core.stable(own, opponent) == slow_stable(game, Position(own, opponent))


def key(own: int, opponent: int) -> bytes:
    return own.to_bytes(8, "big") + opponent.to_bytes(8, "big")
