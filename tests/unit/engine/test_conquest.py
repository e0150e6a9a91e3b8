"""The search for the whole board: every yes against searches that know nothing of it."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from tests.support.go_positions import go, wander
from zermelo.cext import go_conquest
from zermelo.cext.go_retrograde import Retrograde
from zermelo.engine import Window
from zermelo.engine.conquest import Conquest, conquest_weights
from zermelo.engine.conquest_training import Effort, RoundReport, train
from zermelo.engine.go import GoEngine
from zermelo.engine.weights import CONQUEST_FILE, read_provenance
from zermelo.games import Bounds, GameError
from zermelo.games.go import NO_KO, Go, GoPosition, Past

NODES = 20_000


@pytest.mark.slow
@pytest.mark.parametrize(("rows", "cols"), [(2, 2), (2, 3), (2, 4), (3, 3)])
def test_every_yes_on_every_board_is_confirmed_by_all_positions(rows: int, cols: int) -> None:
    """Without history the value under basic ko is known for every board."""
    game = go(f"{rows}x{cols},ko=basic")
    oracle = Retrograde(rows, cols)
    conquest = Conquest(game, hash_mb=4)
    won = 0
    for black, white in oracle.all_boards():
        for black_to_move in (True, False):
            position = GoPosition(black, white, black_to_move)
            if conquest.ask(position, True, NODES)[0]:
                won += 1
                assert oracle.floor(black, white, black_to_move) == rows * cols
            if conquest.ask(position, False, NODES)[0]:
                assert oracle.floor(white, black, not black_to_move) == rows * cols
    assert won or rows * cols < 8  # nobody can own a smaller board for good


@pytest.mark.long
def test_a_sample_of_3x4_is_confirmed_by_all_positions() -> None:
    oracle = Retrograde(3, 4)
    conquest = Conquest(go("3x4,ko=basic"), hash_mb=4)
    boards = random.Random(12).sample(oracle.all_boards(), 1500)
    won = [
        (black, white)
        for black, white in boards
        if conquest.ask(GoPosition(black, white, True), True, 2000)[0]
    ]
    assert won
    for black, white in won:
        assert oracle.floor(black, white, True) == 12


@pytest.mark.parametrize("ko", ["psk", "ssk"])
def test_a_yes_under_a_history_is_confirmed_by_a_search_that_shares_nothing(ko: str) -> None:
    game = go(f"3x3,ko={ko}")
    rng = random.Random(ko)
    conquest = Conquest(game, hash_mb=4)
    alone = GoEngine(game, hash_mb=32, share=False, life=False)
    won = confirmed = 0
    while won < 12:
        position = wander(game, rng, rng.randint(2, 24))
        for by_black in (True, False):
            if position.passes or not conquest.ask(position, by_black, NODES)[0]:
                continue
            won += 1
            bounds = alone.solve(position, node_budget=60_000).bounds
            score = 9 if by_black == position.black_to_move else -9
            assert bounds.lo <= score <= bounds.hi
            confirmed += bounds.exact
    assert confirmed


def test_known_whole_boards_and_who_finds_them() -> None:
    for size in ("2x4", "2x5", "3x3"):
        game = go(size)
        position, whole = game.initial(), game.max_score
        assert Conquest(game, hash_mb=4).ask(position, True, NODES)[0]
        for engine in (GoEngine(game), GoEngine(game, conquest=False)):
            assert engine.solve(position, Window.question(whole)).bounds == Bounds(whole, whole)


def test_the_moves_it_finds_conquer_over_the_reference_rules() -> None:
    game, rng = go("3x3"), random.Random(9)
    engine = GoEngine(game, hash_mb=4)
    for _ in range(60):
        position = game.initial()
        while not game.is_final(position):
            if position.black_to_move:
                answer = engine.solve(position, Window.question(9))
                assert answer.bounds == Bounds(9, 9)
                assert answer.move is not None
                position = game.play(position, answer.move)
            else:
                position = game.play(position, rng.choice(game.moves(position)))
        score = game.score(position)
        assert (score if position.black_to_move else -score) == 9


def test_asked_in_small_steps_it_goes_on_where_it_was() -> None:
    game = go("2x5")
    conquest = Conquest(game, hash_mb=4)
    at_once = Conquest(game, hash_mb=4).ask(game.initial(), True, NODES)
    assert at_once[0]
    won, spent = False, 0
    while not won:
        won, nodes = conquest.ask(game.initial(), True, 100)
        spent += nodes
        assert nodes <= 150
    assert spent <= 3 * at_once[1]
    assert conquest.knows(game.initial(), True)


def test_a_yes_holds_under_histories_with_fewer_stones_than_it_keeps() -> None:
    """The same stones, found without a history, then after boards of one stone to all."""
    game = go("3x3")
    conquest = Conquest(game, hash_mb=4)
    fresh = game.parse("....X.... O")
    assert conquest.ask(fresh, True, NODES)[0]
    known = []
    for stones in range(1, 9):
        board = Past(black=(1 << stones) - 1, white=0, tag=0, balance=0)
        known.append(conquest.knows(replace(fresh, past=frozenset({board})), True))
    assert known[0]  # on the way Black has two stones and more
    assert known[-1] is None  # on the way Black has eight stones and less
    assert known == sorted(known, key=lambda held: held is None)


def played_out(search: go_conquest.Conquest, game: Go, position: GoPosition, answers: int) -> bool:
    """Whether Black, after any move of White, can answer so that in the end all is secure."""
    for move in game.moves(position):
        after = game.play(position, move)
        if game.is_final(after):
            continue
        for answer in game.moves(after):
            reply = game.play(after, answer)
            if search.finishes(reply.black, reply.white, 0):
                break
            left = answers - 1
            if search.finishes(reply.black, reply.white, left) and played_out(
                search, game, reply, left
            ):
                break
        else:
            return False
    return True


@pytest.mark.slow
def test_areas_that_are_finished_by_answers_are_finished_in_play() -> None:
    game, rng = go("5x5"), random.Random(55)
    search = go_conquest.Conquest(5, 5, 1)
    checked = dict.fromkeys(range(1, go_conquest.ANSWERS + 1), 0)
    while min(checked.values()) < 12:
        points = [8 * (i // 5) + i % 5 for i in rng.sample(range(25), 25)]
        stones = rng.randint(10, 16)
        black = sum(1 << point for point in points[:stones])
        least = next((n for n in range(4) if search.finishes(black, 0, n)), None)
        if not least:
            continue
        white = sum(1 << point for point in points[stones : stones + rng.randint(0, 3)])
        if not search.finishes(black, white, least) or checked[least] == 12:
            continue
        try:
            game.check_stones(black, white, "board")
        except GameError:
            continue
        checked[least] += 1
        assert played_out(search, game, GoPosition(black, white, False), least)


@pytest.mark.slow
def test_learned_priors_save_most_of_the_work() -> None:
    """On states that a search for the whole 4x5 board has won on its way."""
    centre = 1 << 18
    finder = go_conquest.Conquest(4, 5, 32)
    finder.learned(*conquest_weights())
    states = finder.sample(centre, 0, False, 40, 400_000, 5000, 1, 14, 40, 1)
    won = [state for state in states if state[2] == 0][:40]
    assert len(won) == 40
    nodes = []
    for learned in (True, False):
        search = go_conquest.Conquest(4, 5, 32)
        if learned:
            search.learned(*conquest_weights())
        nodes.append(sum(nodes_to_win(search, *state[:2], 50_000) for state in won))
    assert nodes[0] * 2 < nodes[1]


def nodes_to_win(search: go_conquest.Conquest, own: int, other: int, limit: int) -> int:
    """Nodes until the prover, to move, is found to own everything; `limit` if he is not."""
    won, nodes, plies = False, 0, 1
    while not won and nodes < limit:
        won, spent = search.prove(own, other, True, NO_KO, 0, plies, limit - nodes)
        nodes, plies = nodes + spent, plies + 2
    return nodes


def test_shipped_priors_say_where_they_come_from() -> None:
    provenance = read_provenance(CONQUEST_FILE)
    assert provenance["game"] == "go:5x5"
    assert (provenance["lessons"], provenance["nodes"]) == (Effort().lessons, Effort().nodes)


@pytest.mark.slow
def test_training_learns_from_its_own_searches() -> None:
    reports: list[RoundReport] = []
    weights, provenance = train(go("3x4"), Effort(lessons=60, nodes=30_000), reports.append)
    assert weights.shape == (2, go_conquest.WEIGHTS)
    assert [(report.round, report.side) for report in reports] == [
        (1, "prover"), (1, "opponent"), (2, "prover"), (2, "opponent"),
    ]  # fmt: skip
    assert reports[-2].lessons > reports[0].lessons > 0
    assert weights.any(axis=1).all()
    assert provenance["game"] == "go:3x4"


@pytest.mark.parametrize("spec", ["1x5", "3x3,suicide=allowed", "5x6"])
def test_where_it_is_not_asked(spec: str) -> None:
    assert not Conquest.suits(go(spec))


def test_it_is_given_up_where_the_other_side_lives() -> None:
    game = go("3x3")
    for side in "XO":
        conquest = Conquest(game, hash_mb=4)
        won, nodes = conquest.ask(game.parse(f"...OOO... {side}"), True, NODES)
        assert not won
        assert nodes < 1000
        assert conquest.over
