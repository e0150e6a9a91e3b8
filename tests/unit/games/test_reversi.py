"""What is special about reversi: the start, passes, scoring, and positions people write."""

from __future__ import annotations

import random

import pytest

from zermelo.games import GameError, open_game
from zermelo.games.reversi import PASS, Reversi, ReversiPosition

SIZES = [(rows, cols) for rows in range(4, 9) for cols in range(4, 9)]
#: Distinct positions up to symmetry after 0, 1, 2, ... moves on 8x8, as published.
DISTINCT = [1, 1, 3, 14, 60, 322]


def reversi(spec: str) -> Reversi:
    game = open_game(spec)
    assert isinstance(game, Reversi)
    return game


def test_start_on_8x8() -> None:
    game = reversi("reversi:8x8")
    empty = "-" * 24
    assert game.format(game.initial()) == f"{empty}---OX------XO---{empty} X"
    assert game.line_names(game.moves(game.initial())) == ["d3", "c4", "f5", "e6"]


def test_parallel_start() -> None:
    game = reversi("reversi:4x4,start=parallel")
    assert game.draw(game.initial()).splitlines()[2:4] == ["2 - O O -", "3 - X X -"]
    assert game.line_names(game.moves(game.initial())) == ["a1", "b1", "c1", "d1"]


@pytest.mark.parametrize(("rows", "cols"), SIZES)
def test_start_is_as_near_the_centre_as_it_can_be(rows: int, cols: int) -> None:
    for start in ("diagonal", "parallel"):
        game = reversi(f"reversi:{rows}x{cols},start={start}")
        position = game.initial()
        assert position.own.bit_count() == position.opponent.bit_count() == 2
        assert position.black_to_move
        squares = [divmod(s, 8) for s in range(64) if (position.own | position.opponent) >> s & 1]
        for length, places in ((rows, {r for r, _ in squares}), (cols, {c for _, c in squares})):
            low, high = sorted(places)
            assert high == low + 1
            assert abs(low - (length - 1 - high)) == length % 2
        diagonal = game.draw(position).count("X O") == game.draw(position).count("O X") == 1
        assert diagonal == (start == "diagonal")


def test_pass_is_a_move_when_only_the_other_side_can_put_a_disc() -> None:
    game = reversi("reversi:4x4")
    position = game.parse("X-XOXXOOXOXOXXXX X")
    assert game.moves(position) == [PASS]
    after = game.play(position, PASS)
    assert (after.own, after.opponent) == (position.opponent, position.own)
    assert game.line_names(game.moves(after)) == ["b1"]
    with pytest.raises(GameError, match="a pass is legal only when"):
        game.play(after, PASS)
    with pytest.raises(GameError, match="b1 turns no disc over"):
        game.play(position, 1)


@pytest.mark.parametrize(
    ("text", "raw", "wof"),
    [
        ("XXXXXXXXXXXX---- X", 12, 16),
        ("XXXXXXXXXXXX---- O", -12, -16),
        ("OOOOOOOOOOOOOOO- X", -15, -16),
        ("XXXXXXX-OOOOOOOO X", -1, -2),
        ("XXXXXXXX-OOOOOOO X", 1, 2),
        ("XXXX--------OOOO X", 0, 0),
        ("XXXXXXXXOOOOOOOO O", 0, 0),
    ],
)
def test_scores_of_finished_games(text: str, raw: int, wof: int) -> None:
    for spec, score in (("reversi:4x4", raw), ("reversi:4x4,scoring=wof", wof)):
        game = reversi(spec)
        assert game.is_final(game.parse(text))
        assert game.score(game.parse(text)) == score


def test_a_disc_turns_lines_in_all_eight_directions() -> None:
    game = reversi("reversi:5x5")
    position = game.parse("X-X-X -OOO- XO-OX -OOO- X-X-X X")
    turned = game.flips(position, 18)
    assert [game.move_name(s) for s in range(64) if turned >> s & 1] == [
        "b2", "c2", "d2", "b3", "d3", "b4", "c4", "d4"]
    assert game.format(game.play(position, 18)) == "X-X-X-XXX-XXXXX-XXX-X-X-X O"


def test_lines_do_not_run_round_the_edge() -> None:
    game = reversi("reversi:4x4")
    assert game.flips(game.parse("--XO O--- X--- ---- X"), 9) == 0
    assert game.moves(game.parse("---O X--- ---- X-OO X")) == []


def test_distinct_positions_up_to_symmetry() -> None:
    game = reversi("reversi:8x8")
    level = {game.canonical(game.initial())}
    for count in DISTINCT:
        assert len(level) == count
        level = {game.canonical(game.play(p, move)) for p in level for move in game.moves(p)}


@pytest.mark.parametrize(
    "text",
    [
        "-----OX--XO----- X",
        "---- -OX- -XO- ---- X",
        "----/-OX-/-XO-/---- X",
        "----\n-OX-\n-XO-\n----\nX",
        ".....ox..xo..... x",
        "____ _o*_ _*o_ ____ *",
        "-----OX--XO----- X; a1:+3; b2:-4",
        "  -----OX--XO-----   X  ",
    ],
)
def test_ways_to_write_a_position(text: str) -> None:
    game = reversi("reversi:4x4")
    assert game.parse(text) == game.initial()


def test_the_side_to_move_decides_whose_discs_are_own() -> None:
    game = reversi("reversi:4x4")
    black, white = game.parse("XXX--OX--XO----- X"), game.parse("XXX--OX--XO----- O")
    assert (black.own, black.opponent) == (white.opponent, white.own)
    swapped = game.parse("OOO--XO--OX----- O")
    assert swapped == black
    assert game.side_to_move(swapped) == "O"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no side to move"),
        ("X", "0 squares; 4x4 has 16"),
        ("-----OX--XO-----", "no side to move at the end of position '-----OX--XO-----'"),
        ("-----OX--XO-----X", "no side to move"),
        ("-----OX--XO----- Z", "no side to move"),
        ("-----OX--XO----- XX", "no side to move"),
        ("-----OX--XO----- -", "no side to move"),
        ("; -----OX--XO----- X", "no side to move"),
        ("-----OX--XO---- X", "15 squares; 4x4 has 16"),
        ("-----OX--XO------ X", "17 squares; 4x4 has 16"),
        ("-" * 64 + " X", "64 squares; 4x4 has 16"),
        ("-----OX--XO----Q X", "'Q' on d4 is no disc; use X, O or -"),
        ("-----OX--XO----0 X", "'0' on d4 is no disc"),
        ("\u2014----OX--XO----- X", "'\u2014' on a1 is no disc"),
        ("---------------- X", "0 discs on the board; a game has at least 4"),
        ("-----OX--X------ X", "3 discs on the board"),
    ],
)
def test_bad_positions(text: str, message: str) -> None:
    with pytest.raises(GameError, match=message) as caught:
        reversi("reversi:4x4").parse(text)
    assert "\n" not in str(caught.value)
    assert caught.value.exit_code == 2


@pytest.mark.parametrize(("rows", "cols"), SIZES)
def test_keys_of_other_boards_are_refused(rows: int, cols: int) -> None:
    game = reversi(f"reversi:{rows}x{cols}")
    rng = random.Random(rows * 10 + cols)
    for _ in range(50):
        own = rng.getrandbits(64) & rng.getrandbits(64)
        opponent = rng.getrandbits(64) & ~own
        key = own.to_bytes(8, "big") + opponent.to_bytes(8, "big")
        if (own | opponent) & ~game.mask:
            with pytest.raises(GameError, match="is no reversi"):
                game.decode(key)
        else:
            assert game.decode(key) == ReversiPosition(own, opponent)
    with pytest.raises(GameError, match="is no reversi"):
        game.decode((1).to_bytes(8, "big") * 2)
