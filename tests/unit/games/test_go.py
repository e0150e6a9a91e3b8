"""The reference rules of Go."""

from __future__ import annotations

import random
from itertools import product

import pytest

from tests.support.effort import some
from tests.support.go_positions import RULES, go, wander
from zermelo.games import GameError, open_game
from zermelo.games.go import PASS, Go


def play(game: Go, names: str) -> object:
    position = game.initial()
    for name in names.split():
        position = game.play(position, game.find_move(position, name))
    return position


@pytest.mark.parametrize(("size", "count"), [("1x1", 1), ("2x2", 57), ("2x3", 489), ("3x3", 12675)])
def test_number_of_legal_boards_is_the_published_one(size: str, count: int) -> None:
    board = go(size).board
    legal = 0
    for colours in product((0, 1, 2), repeat=len(board.points)):
        pairs = list(zip(board.points, colours, strict=True))
        black = sum(1 << point for point, colour in pairs if colour == 1)
        white = sum(1 << point for point, colour in pairs if colour == 2)
        legal += not (
            board.without_liberties(black, white) | board.without_liberties(white, black)
        )
    assert legal == count


def test_capture_and_area() -> None:
    game = go("3x3")
    position = game.parse("OX. .X. XX. X")
    position = game.play(position, game.find_move(position, "a2"))
    assert game.format(position).startswith(".X.XX.XX. O")
    assert game.area_difference(position) == 9


def test_suicide_is_forbidden_or_takes_the_chain() -> None:
    text = "X.O OO. ... X"
    assert "b3" not in [go("3x3").move_name(m) for m in go("3x3").moves(go("3x3").parse(text))]
    game = go("3x3,suicide=allowed")
    position = game.play(game.parse(text), game.find_move(game.parse(text), "b3"))
    assert game.format(position).startswith("..OOO.... O")


def test_a_single_stone_is_never_suicide() -> None:
    for rules in RULES:
        game = go(f"2x2,{rules}")
        position = game.parse(".O O. X")
        assert game.moves(position) == [PASS]


@pytest.mark.parametrize("rules", ["ko=psk", "ko=ssk", "ko=basic"])
def test_nobody_retakes_a_ko_at_once(rules: str) -> None:
    game = go(f"3x4,{rules}")
    position = game.parse(".XO. X.XO .XO. O")
    position = game.play(position, game.find_move(position, "b2"))
    with pytest.raises(GameError, match="illegal move 'c2'"):
        game.find_move(position, "c2")
    with pytest.raises(GameError, match=r"c2: it (retakes the ko|recreates)"):
        game.play(position, game.board.points[6])


def test_superko_compares_the_board_or_the_situation() -> None:
    # White passes once, so the same board can come back with the other side to move.
    text = ". X O . X"
    psk, ssk = go("1x4"), go("1x4,ko=ssk")
    seen = {}
    for game in (psk, ssk):
        position = game.parse(text)
        reached = set()
        frontier = [position]
        for _ in range(6):
            frontier = [game.play(p, m) for p in frontier for m in game.moves(p)]
            reached |= {(p.black, p.white, p.black_to_move) for p in frontier}
        seen[game.ko] = reached
    assert seen["psk"] <= seen["ssk"]


def test_a_cycle_ends_a_basic_game() -> None:
    for cycle in ("draw", "passes"):
        game = go(f"2x2,ko=basic,cycle={cycle}")
        position = play(game, "a2 b1 b2 a1 a2 b2 a2")
        assert game.is_final(position)  # type: ignore[arg-type]
        assert game.score(position) == 0  # type: ignore[arg-type]


def test_who_passed_more_within_the_cycle_wins_it() -> None:
    game = go("2x2,ko=basic,cycle=passes")
    rng, decided = random.Random(5), 0
    for _ in range(400):
        position = wander(game, rng, 40)
        for move in game.moves(position):
            child = game.play(position, move)
            if child.passes < 2 and game.is_final(child):
                (cycle,) = child.past
                black = (cycle.balance > 0) - (cycle.balance < 0)
                assert game.score(child) == 4 * (black if child.black_to_move else -black)
                decided += cycle.balance != 0
    assert decided


def test_komi_counts_for_white() -> None:
    game = go("3x3,komi=2")
    final = play(game, "b2 pass pass")
    assert game.score(final) == -7  # type: ignore[arg-type]
    assert game.max_score == 11


@pytest.mark.slow
@pytest.mark.examples
@pytest.mark.parametrize("rules", RULES)
def test_a_position_survives_every_encoding(rules: str) -> None:
    rng = random.Random(rules)
    for size in ("1x5", "2x3", "3x3"):
        game = go(f"{size},{rules}")
        assert open_game(game.short_spec) == open_game(game.spec) == game
        for _ in range(some(10, 40)):
            position = wander(game, rng, 30)
            assert game.decode(game.encode(position), game.history(position)) == position
            assert game.parse(game.format(position)) == position
            canonical = game.canonical(position)
            assert {game.canonical(image) for image in game.symmetries(position)} == {canonical}
            moves = game.moves(position)
            assert moves == sorted(moves)
            assert {len(game.moves(image)) for image in game.symmetries(position)} == {len(moves)}


def test_the_empty_board_needs_no_mention_unless_suicide_brings_it_back() -> None:
    for suicide, length in (("forbidden", 0), ("allowed", 16)):
        game = go(f"3x3,suicide={suicide}")
        assert len(game.history(play(game, "b2"))) == length  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("go:8x8", "each side must be 1 to 7"),
        ("go:5x5,ko=none", "ko='none' is not allowed"),
        ("go:5x5,rules=chinese", "no option 'rules'"),
        ("go:5x5,komi=7.5", "whole number"),
        ("go:5x5,komi=26", "from -25 to 25"),
        ("go:5x5,cycle=passes", "ko=basic only"),
    ],
)
def test_bad_specs(spec: str, message: str) -> None:
    with pytest.raises(GameError, match=message):
        open_game(spec)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("... ... ...", "no side to move"),
        ("... ... ... Z", "no side to move"),
        ("... ... .. X", "has 8 points"),
        ("..? ... ... X", r"'\?' on c3"),
        ("OX. XX. ... X", "a3 has no liberty"),
        ("... ... ... X ko=b2", "no single stone was captured"),
        ("... ... ... X ko=d9", "no point"),
        ("... ... ... X passes=3", "choose 0, 1 or 2"),
        ("... ... ... X past=zz", "not hexadecimal"),
        ("... ... ... X past=00", "a multiple of that"),
        ("... ... ... X colour=1", "unknown 'colour'"),
        ("... ... ... X past=" + "01" * 16, "is no go:3x3 position"),
        ("X.. ... ... O past=" + "00" * 6 + "01" + "00" * 8 + "80", "contradicts the position"),
        ("... ... ... X passes=2 past=" + "00" * 6 + "01" + "00" * 8 + "80", "pointless"),
    ],
)
def test_bad_diagrams(text: str, message: str) -> None:
    with pytest.raises(GameError, match=message):
        go("3x3").parse(text)


def test_a_ko_in_a_diagram_stands_for_the_board_before() -> None:
    for rules in ("ko=psk", "ko=ssk", "ko=basic"):
        game = go(f"3x4,{rules}")
        before = game.parse(".XO. X.XO .XO. O")
        after = game.play(before, game.find_move(before, "b2"))
        written = game.parse(".XO. XO.O .XO. X ko=c2")
        assert game.moves(written) == game.moves(after)
