"""Patterns, weights and the estimate they give."""

from __future__ import annotations

import hashlib
import lzma
import math
import random
from array import array
from functools import cache
from pathlib import Path

import pytest

from tests.support.effort import first_of
from tests.support.machine import BEST_ALONE, MakeCore, MakeEngine
from tests.support.oracle import BOARDS, Position, random_play, reversi
from zermelo.cext.cpu import instruction_sets
from zermelo.engine import EngineError, Window
from zermelo.engine.capabilities import AppraisesMany
from zermelo.engine.patterns import patterns_of
from zermelo.engine.reversi import MOST_BITS, ReversiEngine
from zermelo.engine.training import Effort
from zermelo.engine.weights import (
    DIGEST_BYTES,
    FOLDER,
    MAGIC,
    MOBILITY_WEIGHTS,
    PHASE_SPAN,
    PHASES,
    Layout,
    load_weights,
    read_provenance,
    save_weights,
    weight_file,
)
from zermelo.games.reversi import Reversi

SHIPPED = sorted(FOLDER.glob("reversi-*.weights"))

every_board = pytest.mark.parametrize("spec", BOARDS)


# -- patterns --------------------------------------------------------------------------------


@every_board
def test_instances_are_all_images_of_one_shape(spec: str) -> None:
    game = reversi(spec)
    for pattern in patterns_of(game):
        sets = [frozenset(instance) for instance in pattern.instances]
        assert len(set(sets)) == len(sets)
        for instance in pattern.instances:
            assert len(set(instance)) == pattern.length
            assert set(instance) <= set(game.squares)
            for image in game.square_symmetries:
                assert frozenset(image[square] for square in instance) in sets
        assert pattern.configurations == 3**pattern.length


@every_board
def test_no_shape_comes_twice_and_every_square_is_seen(spec: str) -> None:
    game = reversi(spec)
    shapes = [frozenset(i) for pattern in patterns_of(game) for i in pattern.instances]
    assert len(set(shapes)) == len(shapes)
    assert set().union(*shapes) == set(game.squares)
    corners = {square for square in game.squares
               if square // 8 in (0, game.rows - 1) and square % 8 in (0, game.cols - 1)}
    for line in ({s for s in game.squares if s // 8 == 0}, {s for s in game.squares if s % 8 == 0}):
        assert any(line <= shape for shape in shapes), "an edge is missing"
    assert all(any(corner in shape for shape in shapes) for corner in corners)


@every_board
def test_orders_are_the_symmetries_of_the_shape_itself(spec: str) -> None:
    game = reversi(spec)
    for pattern in patterns_of(game):
        first = pattern.instances[0]
        assert tuple(range(pattern.length)) in pattern.orders
        assert len(set(pattern.orders)) == len(pattern.orders)
        for order in pattern.orders:
            assert sorted(order) == list(range(pattern.length))
        own = {tuple(image[s] for s in first) for image in game.square_symmetries
               if {image[s] for s in first} == set(first)}
        assert len(pattern.orders) == len(own)


@every_board
def test_layout(spec: str) -> None:
    game = reversi(spec)
    layout = Layout.of(game)
    turned = Layout.of(reversi(f"reversi:{game.cols}x{game.rows}"))
    assert layout.phase_size == turned.phase_size  # they share one weight file
    assert weight_file(game) == weight_file(reversi(f"reversi:{game.cols}x{game.rows}"))
    assert layout.phase_size == MOBILITY_WEIGHTS + sum(p.configurations for p in layout.patterns)
    assert len(layout.instances) == sum(len(p.instances) for p in layout.patterns)
    ends = set()
    for offset, squares in layout.instances:
        assert set(squares) <= set(game.squares)
        ends.add((offset, offset + 3 ** len(squares)))
    at = 0
    for start, end in sorted(ends):  # no gap, no overlap
        assert start == at
        at = end
    assert at == layout.phase_size - MOBILITY_WEIGHTS
    shown = {frozenset(squares) for _, squares in layout.instances}
    assert shown == {frozenset(i) for pattern in patterns_of(game) for i in pattern.instances}


# -- configurations and estimates ------------------------------------------------------------


@every_board
def test_configurations_by_definition(spec: str, make_core: MakeCore) -> None:
    game, rng = reversi(spec), random.Random(spec)
    layout, core = Layout.of(game), make_core(game)
    core.set_patterns(layout.instances, PHASE_SPAN)
    squares = len(game.squares)
    positions = [random_play(game, rng, rng.randint(1, squares - 4)) for _ in range(8)]
    own = array("Q", [p.own for p in positions])
    opponent = array("Q", [p.opponent for p in positions])
    out = memoryview(bytearray(2 * len(positions) * (len(layout.instances) + 2)))
    shaped = out.cast("H").cast("B").cast("H", (len(positions), len(layout.instances) + 2))
    core.configurations(own, opponent, shaped)
    for row, position in enumerate(positions):
        for lane, (_, instance) in enumerate(layout.instances):
            digits = [_digit(position, square) for square in instance]
            assert shaped[row, lane] == sum(d * 3**power for power, d in enumerate(digits))
        other = Position(position.opponent, position.own)
        for lane, side in ((-2, position), (-1, other)):
            moves = sum(1 for square in game.squares if game.flips(side, square))
            assert shaped[row, len(layout.instances) + 2 + lane] == moves


def _digit(position: Position, square: int) -> int:
    """0 own disc, 1 empty, 2 opponent's disc."""
    if position.own >> square & 1:
        return 0
    return 2 if position.opponent >> square & 1 else 1


@cache
def symmetric_weights(game: Reversi, seed: int) -> array[int]:
    """Random weights, equal for configurations that mean the same."""
    rng, layout = random.Random(seed), Layout.of(game)
    phase = array("h", rng.choices(range(-99, 100), k=layout.phase_size))
    at = 0
    for pattern in layout.patterns:
        for configuration in range(pattern.configurations):
            digits = [configuration // 3**power % 3 for power in range(pattern.length)]
            twins = (sum(digits[to] * 3**power for power, to in enumerate(order))
                     for order in pattern.orders)
            phase[at + configuration] = phase[at + min(configuration, *twins, configuration)]
        at += pattern.configurations
    return array("h", phase.tobytes() * PHASES)


@pytest.mark.slow
@pytest.mark.parametrize(
    "spec", first_of(["reversi:4x6", "reversi:4x4", "reversi:6x4", "reversi:6x6"], 2)
)
def test_symmetric_positions_have_the_same_estimate(spec: str, make_core: MakeCore) -> None:
    game, rng = reversi(spec), random.Random(spec)
    core = make_core(game)
    core.set_patterns(Layout.of(game).instances, PHASE_SPAN)
    core.set_weights(symmetric_weights(game, 5))
    guesses = set()
    for _ in range(30):
        position = random_play(game, rng, rng.randint(1, len(game.squares) - 5))
        images = game.symmetries(position)
        found = {core.guess(image.own, image.opponent) for image in images}
        assert len(found) == 1, game.format(position)
        guesses |= found
    assert len(guesses) > 10  # it says something


def test_instruction_sets_estimate_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    game, rng = reversi("reversi:6x6"), random.Random(4)
    engines = []
    for name in instruction_sets():
        monkeypatch.setenv("ZERMELO_INSTRUCTIONS", name)
        engines.append(ReversiEngine(game, hash_mb=1))
    for _ in range(50):
        position = random_play(game, rng, rng.randint(1, 31))
        assert len({engine.guess(position) for engine in engines}) == 1


def test_without_weights_there_is_still_a_guess(make_core: MakeCore) -> None:
    game = reversi("reversi:6x6")
    assert make_core(game).guess(game.initial().own, game.initial().opponent) is None


@pytest.mark.slow
@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_shipped_weights(path: Path, make_engine: MakeEngine) -> None:
    game = reversi(path.stem.replace("-", ":"))
    assert weight_file(game) == path
    provenance, usual = read_provenance(path), Effort.usual(game)
    assert provenance["game"] == game.short_spec
    assert provenance["positions_per_phase"] == usual.positions
    assert (provenance["exact_empties"], provenance["depth"]) == (usual.exact_empties, usual.depth)
    layout = Layout.of(game)
    weights = load_weights(path, layout.size)
    assert len(weights) == PHASES * layout.phase_size
    engine, rng = make_engine(game), random.Random(path.stem)
    for _ in range(10):
        position = random_play(game, rng, rng.randint(1, len(game.squares) - 5))
        guesses = {engine.guess(image) for image in game.symmetries(position)}
        assert len(guesses) == 1, game.format(position)
        assert abs(guesses.pop()) <= game.max_score


@pytest.mark.slow
@BEST_ALONE
@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_shipped_weights_guess_better_than_nothing(path: Path, make_engine: MakeEngine) -> None:
    """Over late positions the guess must be nearer to the value than always saying 0."""
    game, rng = reversi(path.stem.replace("-", ":")), random.Random(path.stem)
    engine = make_engine(game)
    positions = [random_play(game, rng, rng.randint(8, 12)) for _ in range(60)]
    values = [engine.solve(position).bounds.lo for position in positions]
    guesses = [engine.guess(position) for position in positions]
    missed = sum(abs(v - g) for v, g in zip(values, guesses, strict=True))
    assert missed < sum(map(abs, values)) / 2


# -- efforts ---------------------------------------------------------------------------------


@pytest.mark.slow
@BEST_ALONE
@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_efforts_tell_answers_and_costs(path: Path, make_engine: MakeEngine) -> None:
    """Whether a score is reached, and the nodes that takes, are near what efforts say."""
    game, rng = reversi(path.stem.replace("-", ":")), random.Random(path.stem)
    engine = make_engine(game)
    right = off = 0.0
    questions = 60
    for _ in range(questions):
        position = random_play(game, rng, rng.randint(13, 15))
        threshold = engine.guess(position) + rng.choice([-12, -8, 9, 13])
        efforts = engine.efforts(position, threshold)
        assert efforts is not None
        engine.clear()
        answer = engine.solve(position, Window.question(threshold))
        right += (efforts.yes < efforts.no) == (answer.bounds.lo >= threshold)
        off += abs(math.log(answer.nodes) - min(efforts))
    assert right / questions > 0.75
    assert off / questions < 2


def test_a_greater_score_takes_more_to_reach_and_less_to_hold(make_engine: MakeEngine) -> None:
    game, rng = reversi("reversi:6x6"), random.Random(8)
    engine = make_engine(game)
    for _ in range(20):
        position = random_play(game, rng, rng.randint(10, 30))
        easy, hard = engine.efforts(position, -20), engine.efforts(position, 20)
        assert easy is not None
        assert hard is not None
        assert easy.yes <= hard.yes
        assert easy.no >= hard.no


def test_efforts_do_not_depend_on_what_was_searched_before(make_engine: MakeEngine) -> None:
    """Planners compare them, so what the table has proved must not make a position cheaper."""
    game, rng = reversi("reversi:6x6"), random.Random(33)
    engine = make_engine(game)
    position = random_play(game, rng, 14)
    threshold = engine.guess(position)
    before = engine.efforts(position, threshold)
    answer = engine.solve(position, Window.question(threshold))
    assert answer.bounds.lo >= threshold or answer.bounds.hi < threshold
    assert engine.known(position) != game.score_range
    assert engine.efforts(position, threshold) == before


def test_the_efforts_of_a_finished_game_are_told_by_its_score(make_engine: MakeEngine) -> None:
    game, rng = reversi("reversi:6x6"), random.Random(9)
    position = game.initial()
    while not game.is_final(position):
        position = game.play(position, rng.choice(list(game.moves(position))))
    score = game.score(position)
    assert make_engine(game).efforts(position, score) == (0, pytest.approx(MOST_BITS * math.log(2)))
    assert make_engine(game).efforts(position, score + 1) == (
        pytest.approx(MOST_BITS * math.log(2)), 0
    )  # fmt: skip


def test_without_weights_there_are_no_efforts(make_core: MakeCore) -> None:
    game = reversi("reversi:6x6")
    start, one = game.initial(), array("i", [0])
    boards = memoryview(array("Q", [start.own, start.opponent])).cast("B").cast("Q", (1, 2))
    assert make_core(game).guess_all(boards, 2) is None
    assert make_core(game).efforts_all(boards, one) is None
    assert make_core(game).efforts(game.initial().own, game.initial().opponent, 0) is None


# -- weight files ----------------------------------------------------------------------------


def sealed(rest: bytes) -> bytes:
    return MAGIC + hashlib.blake2b(rest, digest_size=DIGEST_BYTES).digest() + rest


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    game = reversi("reversi:4x4")
    path = tmp_path_factory.mktemp("saved") / "reversi-4x4.weights"
    save_weights(path, symmetric_weights(game, 1).tobytes(), {"seed": 1})
    return path


def test_saved_weights_come_back(saved: Path) -> None:
    game = reversi("reversi:4x4")
    assert load_weights(saved, Layout.of(game).size) == symmetric_weights(game, 1)
    assert read_provenance(saved) == {"seed": 1}
    engine = ReversiEngine(game, hash_mb=1, weights=saved)
    assert engine.solve(game.initial()).bounds.lo == -8


def test_damaged_weight_files_are_refused(saved: Path, tmp_path: Path) -> None:
    game, data, rng = reversi("reversi:4x4"), saved.read_bytes(), random.Random(2)
    damaged = [b"", data[:5], data[: len(MAGIC)], data[:30], data[:-1], data + b"\0", b"no weights"]
    for at in [0, len(MAGIC) - 1, len(MAGIC), *(rng.randrange(len(data)) for _ in range(20))]:
        damaged.append(data[:at] + bytes([data[at] ^ 1 << rng.randrange(8)]) + data[at + 1 :])
    path = tmp_path / "damaged.weights"
    for content in damaged:
        path.write_bytes(content)
        with pytest.raises(EngineError, match="damaged") as caught:
            ReversiEngine(game, hash_mb=1, weights=path)
        assert str(path) in str(caught.value)


def test_weight_files_of_other_boards_are_refused(saved: Path) -> None:
    with pytest.raises(EngineError, match="weights, not"):
        ReversiEngine(reversi("reversi:4x5"), hash_mb=1, weights=saved)


def test_a_missing_weight_file_is_named(tmp_path: Path) -> None:
    path = tmp_path / "nowhere.weights"
    with pytest.raises(EngineError, match="nowhere"):
        ReversiEngine(reversi("reversi:4x4"), hash_mb=1, weights=path)


@pytest.mark.parametrize(
    "rest",
    [b"", b"{}", b"{}\n", b"{}\nnot compressed", b"{}\n" + lzma.compress(b"abc")],
    ids=["empty", "no line", "nothing", "not compressed", "odd"],
)
def test_nonsense_with_a_right_digest_is_refused(rest: bytes, tmp_path: Path) -> None:
    path = tmp_path / "nonsense.weights"
    path.write_bytes(sealed(rest))
    with pytest.raises(EngineError, match="nonsense"):
        ReversiEngine(reversi("reversi:4x4"), hash_mb=1, weights=path)


# -- many at once ----------------------------------------------------------------------------


def test_many_positions_are_appraised_like_each_alone(make_engine: MakeEngine) -> None:
    game, rng = reversi("reversi:6x6"), random.Random(21)
    engine = make_engine(game)
    positions = [random_play(game, rng, rng.randint(0, 31)) for _ in range(80)]
    assert isinstance(engine, AppraisesMany)
    assert engine.guess_all(positions) == [
        guess for position in positions for guess in engine.guess_all([position])
    ]
    asked = [(position, rng.randint(-20, 20)) for position in positions]
    assert engine.efforts_all(asked) == [engine.efforts(*question) for question in asked]
    assert engine.guess_all([]) == []
    assert engine.efforts_all([]) == []


@pytest.mark.slow
def test_new_weights_change_what_was_looked_at_before(make_core: MakeCore) -> None:
    game = reversi("reversi:4x4")
    core, start = make_core(game), game.initial()
    core.set_patterns(Layout.of(game).instances, PHASE_SPAN)
    told = []
    for seed in (1, 2, 1):
        core.set_weights(symmetric_weights(game, seed))
        told.append(core.efforts(start.own, start.opponent, 0))
    assert told[0] == told[2] != told[1]
