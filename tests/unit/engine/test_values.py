"""Exact values and bounds against plain minimax over the reference rules.

Positions with few empties are compared with the reference itself. Beyond its reach, the
engine's own textbook alpha-beta stands in: it shares nothing with the fast search but the
rules, and is compared with the reference here too.
"""

from __future__ import annotations

import random
from array import array
from collections.abc import Callable
from functools import cache, partial
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from tests.support.effort import first_of, some
from tests.support.machine import BEST_ALONE, MakeEngine
from tests.support.oracle import (
    BOARDS,
    Position,
    late_tree,
    play_out,
    random_discs,
    random_play,
    random_window,
    reversi,
    sample,
    scoring,
    settled,
    whole_tree,
)
from zermelo.engine import ALGORITHMS, SearchReport, Status, Window
from zermelo.engine.portable import PortableEngine
from zermelo.engine.reversi import SHARPENED, SHARPENED_NODES, ReversiEngine
from zermelo.engine.weights import PHASES, Layout, save_weights
from zermelo.games.reversi import Reversi

pytestmark = [pytest.mark.slow, pytest.mark.examples]

SCORINGS = ("raw", "wof")
TECHNIQUES = ("table", "symmetry", "stability", "enhanced", "parity", "evaluation", "lookahead",
              "probable", "presumed")
SWITCHED: dict[str, dict[str, bool]] = {
    "all": {},
    **{f"no {name}": {name: False} for name in TECHNIQUES},
    "none": dict.fromkeys(TECHNIQUES, False),
}

Value = Callable[[Position], int]


def check(game: Reversi, position: Position, answer: SearchReport, value: Value,
          window: tuple[int, int] | None = None) -> None:
    """Whatever was asked: all that an answer says must be true, and what was asked for."""
    text = f"{game.spec} {game.format(position)} {window}: {answer}"
    bounds, moves = answer.bounds, game.moves(position)
    assert bounds.lo <= value(position) <= bounds.hi, text
    assert answer.move is None or answer.move in moves, text
    assert answer.nodes >= 1 or answer.status is not Status.SOLVED or window or not moves, text
    if answer.move is not None:
        assert -value(game.play(position, answer.move)) >= bounds.lo, text
        assert answer.line[:1] in ((), (answer.move,)), text
    if answer.status is Status.SOLVED:
        assert settled(bounds, *window) if window else bounds.exact, text
        assert answer.proved == (), text
        if bounds.exact and moves and window is None:
            assert answer.move is not None, text
            assert play_out(game, position, answer.line) == bounds.lo, text



# -- every algorithm against the reference ---------------------------------------------------


@pytest.mark.parametrize("rule", SCORINGS)
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_values_of_4x4(algorithm: str, rule: str, make_engine: MakeEngine) -> None:
    game, tree, rng = scoring("reversi:4x4", rule), whole_tree(), random.Random(algorithm)
    engine, value = make_engine(game), partial(tree.value, game)
    for position in sample(tree, rng, some(30, 250)):
        check(game, position, engine.solve(position, algorithm=algorithm), value)
        window = random_window(game, rng)
        answer = engine.solve(position, Window(*window), algorithm=algorithm)
        check(game, position, answer, value, window)
        if rng.random() < 0.2:
            engine.clear()


@BEST_ALONE
@pytest.mark.parametrize("rule", SCORINGS)
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_values_on_every_board(algorithm: str, rule: str, make_engine: MakeEngine) -> None:
    rng = random.Random(algorithm)
    for spec in BOARDS[:: some(8, 1)]:
        game, tree = scoring(spec, rule), late_tree(spec)
        engine, value = make_engine(game), partial(tree.value, game)
        for position in sample(tree, rng, some(5, 25)):
            check(game, position, engine.solve(position, algorithm=algorithm), value)
            window = random_window(game, rng)
            answer = engine.solve(position, Window(*window), algorithm=algorithm)
            check(game, position, answer, value, window)


@pytest.mark.parametrize("rule", SCORINGS)
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_portable_values(algorithm: str, rule: str) -> None:
    game, tree, rng = scoring("reversi:4x4", rule), whole_tree(), random.Random(algorithm)
    late = [p for p in sample(tree, rng, 200) if game.plies_left(p) <= 5]
    engine, value = PortableEngine(game), partial(tree.value, game)
    for position in late[: some(12, 60)]:
        window = random_window(game, rng)
        answer = engine.solve(position, Window(*window), algorithm=algorithm)
        _check_portable(game, position, answer, value, window)
        _check_portable(game, position, engine.solve(position, algorithm=algorithm), value)
        if rng.random() < 0.3:
            engine.clear()


def _check_portable(game: Reversi, position: Position, answer: SearchReport, value: Value,
                    window: tuple[int, int] | None = None) -> None:
    """The portable line goes as far as its table proves it."""
    assert answer.bounds.lo <= value(position) <= answer.bounds.hi
    assert answer.status is Status.SOLVED
    assert settled(answer.bounds, *window) if window else answer.bounds.exact
    sign, after = 1, position
    for move in answer.line:
        after, sign = game.play(after, move), -sign
        assert sign * value(after) == answer.bounds.lo
    if window is None and game.moves(position):
        assert answer.move == answer.line[0]


# -- techniques ------------------------------------------------------------------------------


@cache
def middle_positions(spec: str, empties: tuple[int, ...]) -> list[tuple[Position, dict[str, int]]]:
    """Positions beyond the reference, with their values by textbook alpha-beta."""
    rng, found = random.Random(spec), []
    engines = {rule: ReversiEngine(scoring(spec, rule), hash_mb=1) for rule in SCORINGS}
    game = reversi(spec)
    for number, count in enumerate(empties):
        draw = random_discs if number % 4 == 3 else random_play
        position = draw(game, rng, count)
        while not game.moves(position):  # over before its time: there is no move to find
            position = draw(game, rng, count)
        values = {}
        for rule, engine in engines.items():
            answer = engine.solve(position, algorithm="alphabeta")
            assert answer.bounds.exact
            values[rule] = answer.bounds.lo
        found.append((position, values))
    return found


#: Boards, and how many squares are empty in each position.
_MIDDLE = {
    "reversi:4x5": (16, 14, 15, 13),
    "reversi:5x5": (15, 14, 13, 12),
    "reversi:6x6": (15, 14, 14, 13, 12, 14),
    "reversi:4x8": (14, 15, 13, 12),
    "reversi:7x5": (13, 14, 14, 13),
    "reversi:8x8": (14, 13, 12, 14, 14),
}
MIDDLE = {
    spec: tuple(sorted(empties)[: some(1, len(empties))]) for spec, empties in _MIDDLE.items()
}


@cache
def wild_weights(spec: str, folder: Path) -> Path:
    """Weights that mean nothing: an evaluation may mislead the search, but not its result."""
    rng = random.Random(spec)
    path = folder / f"{spec.partition(':')[2]}.weights"
    phase = rng.randbytes(2 * Layout.of(reversi(spec)).phase_size)
    save_weights(path, phase * PHASES, {"trained": "never"})  # phases alike are packed at once
    return path


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("weights")


@BEST_ALONE
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("switched", SWITCHED)
def test_no_technique_changes_a_value(switched: str, threads: int, make_engine: MakeEngine) -> None:
    rng = random.Random(f"{switched} {threads}")
    for spec, empties in rng.sample(sorted(MIDDLE.items()), some(3, len(MIDDLE))):
        rule = rng.choice(SCORINGS)
        game = scoring(spec, rule)
        engine = make_engine(game, threads=threads, **SWITCHED[switched])
        for position, values in middle_positions(spec, empties):
            _ask(game, engine, position, values[rule], rng)


@BEST_ALONE
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("switched", ["all", "no symmetry", "no table"])
@pytest.mark.parametrize("spec", first_of(["reversi:6x6", "reversi:4x5", "reversi:5x5"]))
def test_no_evaluation_changes_a_value(spec: str, switched: str, threads: int, folder: Path,
                                       make_engine: MakeEngine) -> None:
    rng = random.Random(f"{spec} {switched} {threads}")
    rule = rng.choice(SCORINGS)
    game = scoring(spec, rule)
    engine = make_engine(game, threads=threads, weights=wild_weights(spec, folder),
                         **SWITCHED[switched])
    for position, values in middle_positions(spec, MIDDLE[spec]):
        _ask(game, engine, position, values[rule], rng)


@cache
def misleading_weights(spec: str, folder: Path) -> Path:
    """Weights that mean nothing, of estimates near a draw: passes that presume believe them."""
    rng = random.Random(spec)
    path = folder / f"{spec.partition(':')[2]}-near.weights"
    phase = array("h", rng.choices(range(-70, 71), k=Layout.of(reversi(spec)).phase_size))
    save_weights(path, phase.tobytes() * PHASES, {"trained": "never"})
    return path


@BEST_ALONE
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("trusts", [(3,), (3, 2, 1)])
@pytest.mark.parametrize("spec", first_of(["reversi:6x6", "reversi:4x5", "reversi:5x5"]))
def test_no_presumption_counts_as_proved(spec: str, trusts: tuple[int, ...], threads: int,
                                         folder: Path, make_engine: MakeEngine,
                                         monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("zermelo.engine.reversi.PASSES", ((0, trusts),))
    rng = random.Random(f"{spec} {trusts} {threads}")
    rule = rng.choice(SCORINGS)
    game = scoring(spec, rule)
    engine = make_engine(game, threads=threads, weights=misleading_weights(spec, folder))
    engine.passes_for_questions = True
    for position, values in middle_positions(spec, MIDDLE[spec]):
        _ask(game, engine, position, values[rule], rng)
        for child in (game.play(position, move) for move in game.moves(position)):
            told = engine.known(child)
            proved = engine.solve(child, algorithm="negascout").bounds
            assert told.lo <= proved.lo <= told.hi, game.format(child)


@BEST_ALONE
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(("spec", "empties"), [("reversi:6x6", 18), ("reversi:5x5", 18)])
def test_sharper_answers_are_true_and_cost_little(
    spec: str, empties: int, threads: int, make_engine: MakeEngine
) -> None:
    game, rng = reversi(spec), random.Random(spec)
    plain, sharp = make_engine(game), make_engine(game, threads=threads)
    sharp.sharpens_answers = True
    sharper = 0
    for position in [random_play(game, rng, empties) for _ in range(some(2, 10))]:
        value = plain.solve(position).bounds.lo
        for threshold in (value - 2, value - 1, value, value + 1, value + 2):
            plain.clear()
            sharp.clear()
            question = Window.question(threshold)
            told, more = plain.solve(position, question), sharp.solve(position, question)
            assert more.status is Status.SOLVED
            assert more.bounds.lo <= value <= more.bounds.hi
            assert more.bounds.answers(threshold) is told.bounds.answers(threshold)
            sharper += more.bounds.hi - more.bounds.lo < told.bounds.hi - told.bounds.lo
            if threads == 1:
                assert told.nodes <= more.nodes <= SHARPENED * told.nodes + 2 * SHARPENED_NODES
    # How much two threads prove by the way differs from run to run.
    assert sharper or threads > 1, "no answer told more"


@BEST_ALONE
def test_an_answer_stands_though_no_budget_is_left_to_sharpen_it(make_engine: MakeEngine) -> None:
    game = reversi("reversi:6x6")
    position = random_play(game, random.Random(1), 18)
    value = make_engine(game).solve(position).bounds.lo
    question = Window.question(value + 1 + (value + 1) % 2)  # a no leaves an odd score
    told = make_engine(game).solve(position, question)
    engine = make_engine(game)
    engine.sharpens_answers = True
    assert engine.solve(position, question).nodes > told.nodes
    engine.clear()
    answer = engine.solve(position, question, node_budget=told.nodes + 1)
    assert answer.status is Status.SOLVED
    assert answer.bounds == told.bounds


def _ask(game: Reversi, engine: ReversiEngine, position: Position, value: int,
         rng: random.Random) -> None:
    text = f"{game.spec} {game.format(position)}"
    window = random_window(game, rng)
    for algorithm in ("negascout", "mtdf"):
        if rng.random() < 0.5:
            engine.clear()
        answer = engine.solve(position, Window(*window), algorithm=algorithm)
        assert answer.status is Status.SOLVED
        assert answer.bounds.lo <= value <= answer.bounds.hi, f"{text} {window} {answer}"
        assert settled(answer.bounds, *window), f"{text} {window} {answer}"
    answer = engine.solve(position, algorithm=rng.choice(("negascout", "mtdf")))
    assert (answer.bounds.lo, answer.bounds.hi) == (value, value), f"{text} {answer}"
    assert answer.move in game.moves(position), f"{text} {answer}"
    assert answer.line[0] == answer.move, f"{text} {answer}"
    assert play_out(game, position, answer.line) == value, f"{text} {answer}"


@BEST_ALONE
@pytest.mark.parametrize("rule", SCORINGS)
@pytest.mark.parametrize("switched", SWITCHED)
def test_techniques_on_the_whole_of_4x4(switched: str, rule: str, make_engine: MakeEngine) -> None:
    game, tree, rng = scoring("reversi:4x4", rule), whole_tree(), random.Random(switched)
    value = partial(tree.value, game)
    for threads in (1, 2):
        engine = make_engine(game, threads=threads, **SWITCHED[switched])
        for position in sample(tree, rng, some(8, 60)):
            window = random_window(game, rng)
            for algorithm in ("negascout", "mtdf"):
                answer = engine.solve(position, Window(*window), algorithm=algorithm)
                check(game, position, answer, value, window)
                check(game, position, engine.solve(position, algorithm=algorithm), value)


def test_both_scorings_agree_on_who_wins() -> None:
    for spec, empties in MIDDLE.items():
        for position, values in middle_positions(spec, empties):
            text = reversi(spec).format(position)
            assert (values["raw"] > 0) == (values["wof"] > 0), text
            assert (values["raw"] < 0) == (values["wof"] < 0), text
            assert abs(values["raw"]) <= abs(values["wof"]), text


def test_symmetric_positions_have_the_same_value(make_engine: MakeEngine) -> None:
    for spec, empties in MIDDLE.items():
        game = reversi(spec)
        engine = make_engine(game)
        for position, values in middle_positions(spec, empties)[:3]:
            for image in game.symmetries(position):
                answer = engine.solve(image)
                assert answer.bounds.lo == answer.bounds.hi == values["raw"]
                assert play_out(game, image, answer.line) == values["raw"]


# -- the textbook algorithms -----------------------------------------------------------------


def orders(module: Any) -> list[list[str]]:
    names = list(module.ORDERS)
    return [[], *([name] for name in names), ["killer", "history", "transposition"], names]


@pytest.mark.parametrize("rule", SCORINGS)
def test_textbook_algorithms_with_every_order(rule: str, make_engine: MakeEngine) -> None:
    rng = random.Random(rule)
    cases = [("reversi:4x4", whole_tree()), ("reversi:6x6", late_tree("reversi:6x6")),
             ("reversi:5x8", late_tree("reversi:5x8"))]
    for spec, tree in cases:
        game = scoring(spec, rule)
        core = make_engine(game).core
        module = import_module(type(core).__module__)
        late = [p for p in sample(tree, rng, 500) if game.moves(p) and game.plies_left(p) <= 9]
        for method in module.METHODS:
            for order in orders(module):
                position = rng.choice(late)
                value = tree.value(game, position)
                alpha, beta = random_window(game, rng)
                if rng.random() < 0.3:
                    alpha, beta = -game.max_score - 1, game.max_score + 1
                core.prepare(game.plies_left(position))
                found = core.textbook(position.own, position.opponent, method, alpha, beta, order)
                text = f"{game.spec} {game.format(position)} {method} {order} {alpha},{beta}"
                assert found is not None, text
                score = found[0]
                if method == "minimax":
                    assert score == value, text
                elif score <= alpha:
                    assert value <= score, text
                elif score >= beta:
                    assert value >= score, text
                else:
                    assert score == value, text


def test_minimax_visits_every_position_of_the_tree(make_engine: MakeEngine) -> None:
    """The definition of a node: a position a search was entered at, final ones included."""
    tree = whole_tree()
    game, rng = tree.game, random.Random(1)
    assert isinstance(game, Reversi)
    engine = make_engine(game)

    @cache
    def visits(position: Position) -> int:
        return 1 + sum(visits(child) for child in tree.children[position])

    for position in sample(tree, rng, 60):
        if game.moves(position):
            assert engine.solve(position, algorithm="minimax").nodes == visits(position)
    for algorithm in ("alphabeta", "negamax"):
        nodes = engine.solve(game.initial(), algorithm=algorithm).nodes
        assert len(game.moves(game.initial())) < nodes < visits(game.initial())
