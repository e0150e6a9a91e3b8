"""Symmetry, end and ranges are proved from the tables, never believed."""

from __future__ import annotations

import pytest

from tests.support.definitions import TIC_TAC_TOE, WALK, play_text
from zermelo.games import GameError, open_game


def symmetries(text: str) -> int:
    return len(play_text(text).compiled.symmetries)


def test_tic_tac_toe_has_all_symmetries() -> None:
    assert symmetries(TIC_TAC_TOE) == 16  # eight of the square, each with exchange of sides


@pytest.mark.parametrize(("old", "new", "left"), [
    # The board stays a square; the rules no longer know all its maps.
    ('place = "stone"', 'place = "stone"\nto = "empty - edge"', 4),
    ('is = "loss"', 'is = "first"', 8),
    ('place = "stone"', 'place = "stone"\nby = "first"', 8),
    ("lines(enemy)", "lines(enemy, edge)", 4),
    ("lines(enemy)", "lines(enemy) and any(own & corner)", 4),
])
def test_rules_that_are_not_symmetric(old: str, new: str, left: int) -> None:
    regions = '[regions]\nedge = "row == 1"\ncorner = "row == 1 and col == 1"\n'
    assert symmetries(TIC_TAC_TOE.replace(old, new, 1) + regions) == left


@pytest.mark.parametrize(("spec", "count"), [
    ("connect-four:6x7", 4), ("breakthrough:5x5", 4), ("hex:4x4", 4), ("domineering:4x4", 8),
    ("domineering:4x5", 4), ("cram:4x4", 16), ("fox-and-hounds:6x6", 2), ("frogs:3x3", 1),
    ("kalah:4x3", 2), ("nim:3-4-5", 2), ("dots-and-boxes:2x2", 16), ("dots-and-boxes:1x2", 8),
    ("alquerque:5x5", 16), ("alquerque:4x4", 8), ("alquerque:5x5,huffing=yes", 16),
    ("morris:6", 16),
])
def test_symmetries_of_the_library(spec: str, count: int) -> None:
    game = open_game(spec)
    assert len(game.symmetries(game.initial())) == count


@pytest.mark.parametrize(("spec", "why"), [
    ("connect-four:6x7", "every move lowers: the number of empty cells"),
    ("clobber:3x4", "every move lowers: the number of pieces"),
    ("breakthrough:5x5", "every move lowers: how far all pieces are from the first row"),
    ("kalah:4x3", "seeds outside the stores, then how far all seeds are from the stores"),
    ("fox-and-hounds:6x6", "the pieces h are from the last row, then its being fox's turn"),
    ("alquerque:3x3", "the limit of plies; what starts it again lowers: the number of pieces"),
    ("alquerque:3x3,huffing=yes",
     "the limit of plies; what starts it again lowers: the number of pieces"),
    ("l-game:", "the limit of plies"),
])
def test_why_games_end(spec: str, why: str) -> None:
    assert why in str(open_game(spec).compiled.measure)  # type: ignore[attr-defined]


def test_the_limit_ends_a_game() -> None:
    game = play_text(WALK)
    position = game.parse("K--/---/--k X".replace("K", "O").replace("k", "X"))
    for _ in range(6):
        moves = game.moves(position)
        assert moves
        quiet = [m for m in moves if game.play(position, m).counters[0]]
        position = game.play(position, quiet[0])
    assert game.is_final(position)
    assert game.score(position) == 0


@pytest.mark.parametrize(("old", "new", "reason"), [
    ('game = "', 'score = "1000 * count(own)"\ngame = "', "scores up to 9000; at most 127"),
    ('game = "', 'score = "count(own) * 900000"\ngame = "', "a value can reach 8100000"),
    ("3 x 3", "11 x 11", "takes 194 bits; at most 128"),
])
def test_ranges_are_checked(old: str, new: str, reason: str) -> None:
    with pytest.raises(GameError, match=reason):
        play_text(TIC_TAC_TOE.replace(old, new, 1))


def test_a_counter_that_is_set_beyond_its_end_lowers_nothing() -> None:
    """It stops at its end, so that setting it again changes nothing: such a game never ends."""
    text = TIC_TAC_TOE + '[counters]\nphase = { max = 2 }\n[[move]]\nskip = "wait"\nthen = "{}"\n'
    for effect in ("phase = 3", "phase += 1"):
        with pytest.raises(GameError, match="cannot be proved"):
            play_text(text.replace("{}", effect))
