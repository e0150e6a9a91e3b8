"""The kernel for definitions against the reference rules, and published values."""

from __future__ import annotations

import gc
import random
import threading
from functools import cache
from typing import Any

import pytest

from bench.game_counts import POSITIONS, Reached
from tests.support.definitions import play_text
from tests.support.effort import REPEATED, first_of, some
from tests.support.minimax import minimax
from zermelo.engine import EVERY_ALGORITHM, Known, Status, Window, open_engine
from zermelo.engine.capabilities import Secured
from zermelo.engine.definition import DefinitionEngine
from zermelo.games import Bounds, GameError, open_game
from zermelo.games.definition.game import DefinedGame
from zermelo.games.definition.library import library_definition, library_names

PLIES = 60


def reversi(size: str) -> str:
    return f"reversi@{library_definition('reversi').digest}:{size}"


EVERY = [
    "mnk:3x4,k=3", "mnk:3x3,misere=yes", "connect-four:5x6", "connect-four:9x8",
    "breakthrough:9x8", "nim:3-4-5", "grundy:10-4",
    "grundy:8,misere=yes", "subtraction:12,k=3", "greedy-nim:6-5-4,k=3,misere=yes",
    "breakthrough:5x4", "hex:4x4", "domineering:4x5", "cram:3x4", "clobber:3x4", "konane:5x5",
    "dots-and-boxes:2x2", "fox-and-hounds:6x6", "alquerque:5x5", "alquerque:4x4,plies=12",
    "alquerque:5x4,huffing=yes",
    "frogs:3x3", "morris:3", "morris:6,plies=9", "kalah:4x3", "l-game:", reversi("4x5"),
]
#: Small enough for plain minimax over the reference rules.
SMALL = [
    "mnk:2x3,k=2", "mnk:3x3,k=2,misere=yes", "connect-four:3x3,k=3", "nim:2-3-3",
    "grundy:9", "subtraction:12,k=3", "greedy-nim:4-3-3,k=2", "breakthrough:4x2,ranks=1",
    "hex:2x2", "domineering:3x3", "cram:3x3,misere=yes", "clobber:2x3", "dots-and-boxes:1x2",
    "fox-and-hounds:4x4", "alquerque:3x3,plies=2", "alquerque:3x3,plies=2,huffing=yes",
    "frogs:2x2", "kalah:2x2",
]


@cache
def engine_for(spec: str) -> DefinitionEngine:
    engine = open_engine(open_game(spec), hash_mb=2)
    assert isinstance(engine, DefinitionEngine)
    return engine


def games_of(game: DefinedGame, count: int) -> list[list[Any]]:
    rng, found = random.Random(game.spec), []
    for _ in range(count):
        line = [game.initial()]
        while (moves := game.moves(line[-1])) and len(line) < PLIES:
            line.append(game.play(line[-1], rng.choice(moves)))
        found.append(line)
    return found


def value(spec: str, *, algorithm: str = "mtdf") -> int:
    game = open_game(spec)
    report = open_engine(game, hash_mb=16).solve(game.initial(), algorithm=algorithm)
    assert report.status is Status.SOLVED
    assert report.bounds.exact
    return report.bounds.lo


# -- the kernel and the reference ------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.examples
@pytest.mark.parametrize("spec", EVERY)
def test_the_kernel_plays_as_the_reference(spec: str) -> None:
    engine = engine_for(spec)
    game, core = engine.game, engine.core
    for line in games_of(game, some(1, 3)):
        for position in line:
            key, moves = game.encode(position), game.moves(position)
            if not moves:
                assert core.children(key) == game.score(position)
                continue
            after = [game.play(position, move) for move in moves]
            assert core.children(key) == [
                (move, game.encode(child)) for move, child in zip(moves, after, strict=True)
            ]
        keys = [game.encode(position) for position in line[::4]]
        expected = [
            sorted({game.encode(game.canonical(game.play(position, move)))
                    for move in game.moves(position)})
            for position in line[::4]
        ]
        assert engine.expand(b"".join(keys)).by_parent() == expected
        for position in line[::4]:
            canonical = game.encode(game.canonical(position))
            assert core.canonical(game.encode(position)) == canonical


@pytest.mark.parametrize("spec", ["connect-four:4x4", "dots-and-boxes:1x2", "alquerque:3x3"])
def test_perft_counts_as_the_reference(spec: str) -> None:
    engine = engine_for(spec)
    game = engine.game

    def lines(position: Any, plies: int) -> int:
        moves = game.moves(position)
        if not plies or not moves:
            return 1
        return sum(lines(game.play(position, move), plies - 1) for move in moves)

    key = game.encode(game.initial())
    assert [engine.core.perft(key, n) for n in range(5)] == [
        lines(game.initial(), n) for n in range(5)
    ]


def test_reversi_as_a_definition_is_reversi() -> None:
    native, defined = open_game("reversi:4x5"), open_game(reversi("4x5"))
    rng = random.Random(5)
    for _ in range(3):
        one, other = native.initial(), defined.initial()
        while True:
            names = native.line_names(native.moves(one))
            assert names == defined.line_names(defined.moves(other))
            if not names:
                assert native.score(one) == defined.score(other)
                break
            name = rng.choice(names)
            one = native.play(one, native.find_move(one, name))
            other = defined.play(other, defined.find_move(other, name))


@pytest.mark.parametrize("start", ["diagonal", "parallel"])
def test_reversi_starts_alike(start: str) -> None:
    native = open_game(f"reversi:5x6,start={start}")
    defined = open_game(reversi(f"5x6,start={start}"))
    drawn = native.draw(native.initial())
    assert defined.draw(defined.initial()) == drawn


#: What is put behind ``[[move]]`` to make other games of the library's.
TWISTS = (
    'unless = "count(own) > 2"', 'again = "count(own) % 2"', 'if = "count(enemy) != 1"',
    'if = "any(beside(own)) or none(own)"', 'if = "count(to & board) * 3 / 2 == 1"',
)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [*range(2), *(
    pytest.param(seed, marks=REPEATED) for seed in range(2, 20)
)])
def test_the_kernel_plays_changed_games_as_the_reference(seed: int) -> None:
    """Lines of the library exchanged with others of the same key, as far as that is a game."""
    texts = [library_definition(name).text for name in [*library_names(), "reversi"]]
    values: dict[str, set[str]] = {}
    for line in "\n".join(texts).splitlines():
        key, equals, value = line.partition(" = ")
        if equals and key not in ("zermelo", "game", "title", "spec"):
            values.setdefault(key, set()).add(value)
    rng, played = random.Random(seed), 0
    while played < 8:
        lines = rng.choice(texts).splitlines()
        for _ in range(rng.randint(1, 4)):
            at = rng.randrange(len(lines))
            key = lines[at].partition(" = ")[0]
            if key in values:
                lines[at] = f"{key} = {rng.choice(sorted(values[key]))}"
            elif lines[at] == "[[move]]":
                lines.insert(at + 1, rng.choice(TWISTS))
        try:
            game = play_text("\n".join(lines))
        except GameError:
            continue
        if game.compiled.work > 1000:
            continue  # the reference takes long for these
        played += 1
        core = DefinitionEngine(game, hash_mb=1).core
        for line in games_of(game, 1):
            for position in line:
                moves, found = game.moves(position), core.children(game.encode(position))
                if not moves:
                    assert found == game.score(position), lines
                    assert abs(game.score(position)) <= game.max_score, lines
                    continue
                assert found == [
                    (move, game.encode(game.play(position, move))) for move in moves
                ], lines
                image = rng.choice(game.symmetries(position))
                assert len(game.moves(image)) == len(moves), lines
                assert core.canonical(game.encode(image)) == game.encode(
                    game.canonical(position)
                ), lines


# -- searching -------------------------------------------------------------------------------


@pytest.mark.parametrize("spec", SMALL)
def test_all_algorithms_find_the_value(spec: str) -> None:
    game = open_game(spec)
    expected = minimax(game, game.initial())
    assert {name: value(spec, algorithm=name) for name in EVERY_ALGORITHM} == dict.fromkeys(
        EVERY_ALGORITHM, expected
    )


@pytest.mark.parametrize("algorithm", EVERY_ALGORITHM)
def test_values_along_games(algorithm: str) -> None:
    """Both sides to move, positions in the middle, windows that tell only a bound."""
    game = open_game("dots-and-boxes:1x2")
    engine = open_engine(game, hash_mb=2)
    assert isinstance(game, DefinedGame)
    for line in games_of(game, 3):
        for position in line[1::2]:
            expected = minimax(game, position)
            for window in (None, Window(0, 1), Window(-1, 1)):
                bounds = engine.solve(position, window, algorithm=algorithm).bounds
                assert bounds.lo <= expected <= bounds.hi
                assert (window or Window(-9, 9)).settled_by(bounds)


@pytest.mark.parametrize("threads", [1, 2])
def test_proof_numbers_answer_questions(threads: int) -> None:
    """Thresholds around the value, from positions of both sides, with what others have proved."""
    for spec in ("kalah:3x2", "connect-four:4x4,k=3", "domineering:4x4", "alquerque:3x3,plies=2"):
        game = open_game(spec)
        assert isinstance(game, DefinedGame)
        engine = open_engine(game, hash_mb=2, threads=threads)
        for position in games_of(game, 1)[0][:8]:
            value = open_engine(game, hash_mb=2).solve(position).bounds.lo
            for threshold in {value, value + 1} & {*range(1 - game.max_score, game.max_score + 1)}:
                bounds = engine.solve(
                    position, Window.question(threshold), algorithm="pns"
                ).bounds
                assert bounds.answers(threshold) is (value >= threshold)


def test_proof_numbers_stop_at_the_budget() -> None:
    game = open_game("breakthrough:6x6")
    report = open_engine(game, hash_mb=2).solve(
        game.initial(), algorithm="pns", node_budget=3000
    )
    assert report.status is Status.EXHAUSTED
    assert report.nodes <= 3001


@pytest.mark.parametrize("spec", ["kalah:2x2", "alquerque:3x3,plies=2"])
def test_strategies_hold_to_the_end(spec: str) -> None:
    """One move where a bound is secured, every reply where not, and each bound is true."""
    engine = engine_for(spec)
    game = engine.game
    value = engine.solve(game.initial()).bounds.lo
    root = game.encode(game.canonical(game.initial()))
    found = {
        (each.key, each.at_least): each
        for each in engine.strategies([Secured(root, True, value, None)])
    }
    for (key, at_least), (_, _, bound, chosen) in found.items():
        position = game.decode(key)
        exact = minimax(game, position)
        assert exact >= bound if at_least else exact <= bound
        for move in game.moves(position) if chosen is None else [chosen]:
            after = game.canonical(game.play(position, move))
            if game.is_final(after):
                score = -game.score(after)
                assert score >= bound if at_least else score <= bound
            else:
                assert found[game.encode(after), not at_least].bound == -bound


def test_an_engine_that_refers_to_itself_is_freed() -> None:
    """A collector must not take from the kernel what it has to free."""
    core = open_engine(open_game("mnk:2x2,k=2"), hash_mb=1).core  # type: ignore[attr-defined]
    cycle: list[Any] = [core]
    cycle.append(cycle)
    del core, cycle
    gc.collect()


def test_the_line_keeps_the_value() -> None:
    game = open_game("kalah:3x2")
    report = open_engine(game, hash_mb=4).solve(game.initial())
    position = game.initial()
    for move in report.line:
        position = game.play(position, move)
    assert game.is_final(position)
    sign = 1 if len(report.line) % 2 == 0 else -1
    assert sign * game.score(position) == report.bounds.lo


def test_budget_and_known_bounds() -> None:
    game = open_game("connect-four:4x5")
    engine = open_engine(game, hash_mb=8)
    report = engine.solve(game.initial(), node_budget=2000)
    assert report.status is Status.EXHAUSTED
    assert report.nodes <= 2001
    assert report.bounds.lo <= 0 <= report.bounds.hi
    for known in report.proved[:20]:
        exact = open_engine(game, hash_mb=8).solve(known.position).bounds
        assert known.bounds.lo <= exact.lo <= known.bounds.hi
    seeded = open_engine(game, hash_mb=8)
    children = [game.play(game.initial(), move) for move in game.moves(game.initial())]
    trusted = [Known(child, Bounds(1, 1)) for child in children]
    assert seeded.solve(game.initial(), known=trusted).bounds == Bounds(-1, -1)


def test_threads_find_the_same_value_together() -> None:
    for spec, expected in {"connect-four:4x5": 0, "kalah:4x3": 6, "domineering:5x5": -1}.items():
        game = open_game(spec)
        engine = open_engine(game, hash_mb=8, threads=3)
        report = engine.solve(game.initial())
        assert (report.status, report.bounds) == (Status.SOLVED, Bounds(expected, expected))
        position = game.initial()
        for move in report.line:
            position = game.play(position, move)
        assert game.is_final(position)
        budget = engine.solve(game.initial(), algorithm="alphabeta", node_budget=500)
        assert budget.status is Status.EXHAUSTED


def test_several_threads_hear_an_abort() -> None:
    game = open_game("breakthrough:8x8")
    engine = open_engine(game, hash_mb=8, threads=2)
    timer = threading.Timer(0.2, engine.abort)
    timer.start()
    report = engine.solve(game.initial())
    timer.cancel()
    assert report.status is Status.ABORTED
    assert report.nodes > 100


def test_efforts_follow_the_chances() -> None:
    """The answer that random games give more often takes less, and later positions less."""
    game = open_game("mnk:3x3")
    engine = open_engine(game, hash_mb=1)
    start = game.initial()
    sure, bold = engine.efforts(start, 0), engine.efforts(start, 1)
    assert sure is not None
    assert bold is not None
    assert sure.yes < bold.yes
    assert sure.no > bold.no
    later = engine.efforts(game.play(game.play(start, 0), 8), 0)
    assert later is not None
    assert min(later) < min(sure)


def test_cells_that_complete_a_line_win_at_once() -> None:
    """Games of lines are searched by what would complete one; values are those of minimax."""
    rng = random.Random(3)
    for spec in ("mnk:3x4,k=3", "connect-four:4x4,k=3", "mnk:4x4,k=4"):
        engine = engine_for(spec)
        game = engine.game
        for line in games_of(game, 6):
            position = rng.choice(line[-5:])
            assert engine.solve(position).bounds.lo == minimax(game, position)


def test_checkpoint_saves_work() -> None:
    game = open_game("connect-four:4x4")
    engine = open_engine(game, hash_mb=8)
    first = engine.solve(game.initial())
    again = open_engine(game, hash_mb=8)
    again.restore(engine.checkpoint())
    second = again.solve(game.initial())
    assert second.bounds == first.bounds
    assert second.nodes < first.nodes / 4
    with pytest.raises(ValueError, match="damaged"):
        again.restore(engine.checkpoint()[:-1])


def test_wrong_keys_are_refused() -> None:
    engine = engine_for("mnk:3x4,k=3")
    with pytest.raises(GameError, match="is no position"):
        engine.expand(b"\xff" * 16)
    with pytest.raises(GameError, match="sequence"):
        engine.expand(b"\0" * 15)


# -- published values ------------------------------------------------------------------------

PUBLISHED = {
    "mnk:3x3": 0, "mnk:3x3,misere=yes": 0, "mnk:4x4,k=4": 0, "mnk:3x4,k=3": 1, "mnk:4x4,k=3": 1,
    "connect-four:4x4": 0, "connect-four:4x5": 0, "connect-four:5x4": 0, "hex:2x2": 1,
    "hex:3x3": 1, "clobber:2x2": 1, "clobber:2x3": -1, "clobber:2x4": 1, "clobber:2x5": 1,
    "clobber:2x6": -1, "cram:2x4": -1, "cram:2x5": 1, "cram:3x3": -1, "cram:3x4": 1,
    "cram:3x5": 1, "konane:4x4": -1, "konane:5x5": 1, "domineering:2x2": 1,
    "domineering:4x4": 1, "domineering:5x5": -1, "dots-and-boxes:1x1": -1,
    "dots-and-boxes:2x2": 2, "kalah:2x2": -2, "kalah:4x3": 6, "kalah:6x2": 6, "clobber:2x9": -1,
    "cram:3x6": 1, "cram:3x7": 1, "connect-four:6x4": 0, "connect-four:4x6": -1, "hex:4x4": 1,
    "hex:5x5": 1, "hex:6x6": 1,
    "fox-and-hounds:4x4": -1, "fox-and-hounds:6x6": 1, "l-game:": 0, "frogs:3x3": 1, "frogs:4x2": 1,
}  # fmt: skip
SLOWER = {
    "connect-four:5x5": 0, "connect-four:4x7": 0, "connect-four:5x6": 0, "clobber:2x10": 1,
    "clobber:2x12": -1, "cram:3x8": 1, "konane:6x6": -1,
}  # fmt: skip


@pytest.mark.parametrize("spec", PUBLISHED)
def test_published_values(spec: str) -> None:
    assert value(spec) == PUBLISHED[spec]


@pytest.mark.long
@pytest.mark.parametrize("spec", first_of(SLOWER, len(SLOWER) - 1))  # the last takes a minute
def test_published_values_that_take_longer(spec: str) -> None:
    assert value(spec) == SLOWER[spec]


#: Published for a first player who joins top and bottom; ours joins left and right.
LOSING_IN_HEX = ["a1", "a2", "b1", "b6", "c1", "c6", "d1", "d6", "e1", "e6", "f5", "f6"]
#: Those that take a minute together; the others take a second.
SLOW_IN_HEX = ["b1", "c1", "d1", "e1", "f1", "b2", "d2", "b3", "c3", "e3"]


@pytest.mark.parametrize("move", [
    pytest.param(move, marks=[pytest.mark.long] if move in SLOW_IN_HEX else [])
    for move in (f"{column}{row}" for row in (1, 2, 3) for column in "abcdef")
])
def test_published_first_moves_of_hex(move: str) -> None:
    game = open_game("hex:6x6")
    start = game.initial()
    after = game.play(start, next(at for at in game.moves(start) if game.move_name(at) == move))
    transposed = f"{'abcdef'[int(move[1]) - 1]}{'abcdef'.index(move[0]) + 1}"
    bounds = open_engine(game, hash_mb=8).solve(after).bounds
    assert bounds.exact
    assert (bounds.lo > 0) == (transposed in LOSING_IN_HEX)


GRUNDY = [0, 0, 0, 1, 0, 2, 1, 0, 2, 1, 0, 2, 1, 3, 2, 1, 3, 2, 4, 3, 0]


@pytest.mark.slow
def test_grundy_values() -> None:
    """A heap has the nim value g exactly if with a nim heap of g beside it the mover loses;
    without nim at hand: two heaps of equal value, and only those, are lost together."""
    for one in range(3, 13):
        assert value(f"grundy:{one}") == (1 if GRUNDY[one] else -1)
        for other in range(3, one):
            lost = GRUNDY[one] == GRUNDY[other]
            assert value(f"grundy:{one}-{other}") == (-1 if lost else 1)


@pytest.mark.parametrize("k", [2, 3, 4])
def test_subtraction(k: int) -> None:
    for n in range(1, 15):
        assert value(f"subtraction:{n},k={k}") == (1 if n % (k + 1) else -1)
        assert value(f"subtraction:{n},k={k},misere=yes") == (-1 if n % (k + 1) == 1 else 1)


def test_greedy_nim_is_lost_if_the_largest_heaps_are_even_in_number() -> None:
    for heaps in ((4, 3, 3), (4, 4, 3), (5, 5, 5), (6, 6, 2, 2), (1,), (1, 1), (2, 2, 2, 2)):
        lost = heaps.count(max(heaps)) % 2 == 0
        assert value(f"greedy-nim:{'-'.join(map(str, heaps))}") == (-1 if lost else 1)


def test_nim_is_lost_if_the_sum_without_carry_is_zero() -> None:
    for heaps in ((1, 2, 3), (3, 4, 5), (2, 4, 6), (7, 7), (1, 1, 1), (5,)):
        total = 0
        for heap in heaps:
            total ^= heap
        assert value(f"nim:{'-'.join(map(str, heaps))}") == (1 if total else -1)


# -- published counts ------------------------------------------------------------------------


def by_ply(spec: str, plies: int) -> list[int]:
    """Distinct positions up to symmetry after 0, 1, 2, ... moves."""
    engine = engine_for(spec)
    game = engine.game
    level = {game.encode(game.canonical(game.initial()))}
    counts = [1]
    for _ in range(plies):
        level = {key for keys in engine.expand(b"".join(level)).by_parent() for key in keys}
        counts.append(len(level))
    return counts


def test_positions_of_tic_tac_toe() -> None:
    assert by_ply("mnk:3x3", 9) == [1, 3, 12, 38, 108, 174, 204, 153, 57, 15]


def test_games_of_tic_tac_toe() -> None:
    engine = engine_for("mnk:3x3")
    game = engine.game
    assert engine.core.perft(game.encode(game.initial()), 9) == 255_168


def test_positions_of_connect_four() -> None:
    """Published for 7x6 (columns x rows), not folded by symmetry: each pair of mirror images
    counts twice, what is its own mirror image once."""
    published = [1, 7, 49, 238, 1120, 4263]
    engine = engine_for("connect-four:6x7")
    game, level, counts = engine.game, {engine.game.initial()}, [1]
    for _ in range(5):
        level = {
            game.decode(key) for position in level
            for _, key in _pairs(engine.core.children(game.encode(position)))
        }
        counts.append(len(level))
    assert counts == published


@pytest.mark.parametrize("spec", ["mnk:3x3", "kalah:2x2,over=mover"])
def test_positions_that_can_be_reached(spec: str) -> None:
    assert Reached(spec).positions() == POSITIONS[spec]


def _fox_has_escaped(board: list[str]) -> bool:
    """Whether the fox stands in an area of two cells or more that no hound can ever reach."""
    cells = {(row, col): sign for row, line in enumerate(board) for col, sign in enumerate(line)}

    def reached(row: int, col: int) -> bool:
        return cells[row, col] == "h" or any(
            reached(row - 1, beside) for beside in (col - 1, col + 1) if (row - 1, beside) in cells
        )

    fox = next(cell for cell, sign in cells.items() if sign == "F")
    around = [(fox[0] + up, fox[1] + right) for up in (-1, 1) for right in (-1, 1)]
    return not reached(*fox) and any(cell in cells and not reached(*cell) for cell in around)


@pytest.mark.slow
@pytest.mark.parametrize(("size", "published"), [("4x4", 83), ("6x6", 8175)])
def test_positions_of_fox_and_hounds(size: str, published: int) -> None:
    """Published by J. Leslie-Hurd (gilith.com, 2018): the fox wins by outlasting the hounds, and
    nobody goes on from a position in which it is out of their reach for good."""
    engine = engine_for(f"fox-and-hounds:{size},goal=outlast")
    game = engine.game
    found = {game.initial()}
    level = [*found]
    while level:
        going_on = [
            game.encode(position) for position in level
            if not _fox_has_escaped(game.format(position).split()[0].split("/"))
        ]
        level = [
            game.decode(key) for key in
            {after for key in going_on for _, after in _pairs(engine.core.children(key))}
        ]
        level = [position for position in level if position not in found]
        found.update(level)
    assert len(found) == published


def _pairs(found: list[tuple[int, bytes]] | int) -> list[tuple[int, bytes]]:
    return [] if isinstance(found, int) else found


def test_trees_of_the_theatre() -> None:
    """Nodes of whole game trees, as published for teaching, and distinct positions."""
    def nodes(spec: str) -> int:
        engine = engine_for(spec)

        def below(key: bytes) -> int:
            return 1 + sum(below(after) for _, after in _pairs(engine.core.children(key)))

        return below(engine.game.encode(engine.game.initial()))

    assert [nodes(f"grundy:{n}") for n in (7, 8, 9, 10)] == [24, 52, 145, 364]
    assert [nodes(f"subtraction:{n},k=3") for n in (9, 10)] == [326, 600]
