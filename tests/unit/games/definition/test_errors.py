"""What is wrong with a definition is told in one line: file, line, value, what is allowed."""

from __future__ import annotations

import pytest

from tests.support.definitions import TIC_TAC_TOE, WALK, play_text
from zermelo.games import GameError, open_game
from zermelo.games.definition.library import library_definition

#: What to replace in tic-tac-toe, by what, and the beginning and a part of the message.
WRONG = [
    ("zermelo = 1", "zermelo = 2", "game.toml:1: zermelo: ", "this program knows 1"),
    ("zermelo = 1", "zermelo = true", "game.toml:1: zermelo: ", "whole number"),
    ('game = "tic-tac-toe"', "", "game.toml:1: definition: ", "'game' is missing"),
    ('"tic-tac-toe"', '"Tic Tac"', "game.toml:2: game: ", "a-z, 0-9"),
    ("[board]", "[bord]", "game.toml:3: bord: ", "did you mean 'board'?"),
    ("grid =", "grd =", "game.toml:4: board.grd: ", "did you mean 'grid'?"),
    ("3 x 3", "3 x 43", "game.toml:4: board.grid: ", "1 to 128"),
    ("3 x 3", "0 x 3", "game.toml:4: board.grid: ", "1 to 128"),
    ("3 x 3", "3", "game.toml:4: board.grid: ", "ROWS x COLS"),
    ("3 x 3", "size x 3", "game.toml:4: board.grid: ", "unknown number 'size'"),
    ("3 x 3", "9 / 0 x 3", "game.toml:4: board.grid: ", "division by zero"),
    ("length = 3", "length = 0", "game.toml:5: board.lines.length: ", "at least 1"),
    ('stone = "each"', 'stone = "all"', "game.toml:7: pieces.stone: ", "known: each"),
    ('stone = "each"', 'own = "each"', "game.toml:7: pieces.own: ", "reserved"),
    ('stuck = "draw"', 'stuck = "tie"', "game.toml:9: players.stuck: ", "known: draw"),
    ('stuck = "draw"', 'stuck = "pass"', "game.toml:8: players: ", "needs `score`"),
    ('place = "stone"', 'place = "stne"', "game.toml:11: move.number 1.place: ",
     "did you mean 'stone'?"),
    ('place = "stone"', 'put = "stone"', "game.toml:10: move.number 1: ", "exactly one of place"),
    ('place = "stone"', 'place = "stone"\nover = "own"', "game.toml:12: move.number 1.over: ",
     "unknown key 'over'"),
    ('place = "stone"', 'place = "stone"\nto = "emty"', "game.toml:12: move.number 1.to: ",
     "did you mean 'empty'?"),
    ('place = "stone"', 'place = "stone"\nto = "1 + 1"', "game.toml:12: move.number 1.to: ",
     "a set of cells is needed where a number stands"),
    ('place = "stone"', 'place = "stone"\nif = "own"', "game.toml:12: move.number 1.if: ",
     "write any(...)"),
    ('place = "stone"', 'place = "stone"\nthen = "x += 1"', "game.toml:12: move.number 1.then: ",
     "unknown counter 'x'"),
    ("lines(enemy)", "line(enemy)", "game.toml:13: end.number 1.if: ", "did you mean 'lines'?"),
    ("lines(enemy)", "lines(enemy", "game.toml:13: end.number 1.if: ", "expected ',' or ')'"),
    ("lines(enemy)", "lines(enemy) $ 1", "game.toml:13: end.number 1.if: ", "the sign '$'"),
    ("lines(enemy)", "lines(\u0435nemy)", "game.toml:13: end.number 1.if: ", "means nothing here"),
    ("lines(enemy)", "can(jump)", "game.toml:13: end.number 1.if: ", "unknown rule"),
    ("lines(enemy)", "lines(enemy) > 9999999", "game.toml:13: end.number 1.if: ", "above 1000000"),
    ('is = "loss"', 'is = "lost"', "game.toml:14: end.number 1.is: ", "did you mean 'loss'?"),
    ('is = "loss"', 'is = "score"', "game.toml:14: end.number 1.is: ", "key `score`"),
    ("[[end]]", "[end]", "game.toml:12: end: ", "write [[end]]"),
    ("[[move]]", "[[move", "game.toml:10: ", "this is no TOML"),
]


@pytest.mark.parametrize(("old", "new", "place", "reason"), WRONG)
def test_a_mistake_is_told_with_its_place(old: str, new: str, place: str, reason: str) -> None:
    assert old in TIC_TAC_TOE
    with pytest.raises(GameError) as raised:
        play_text(TIC_TAC_TOE.replace(old, new, 1))
    message = str(raised.value)
    assert message.startswith(place)
    assert reason in message
    assert "\n" not in message


def test_the_right_one_is_right() -> None:
    game = play_text(TIC_TAC_TOE)
    assert len(game.moves(game.initial())) == 9


@pytest.mark.parametrize(("spec", "reason"), [
    ("connect-four:6", "write connect-four:ROWSxCOLS"),
    ("connect-four:6x99", "cols=99 is not within 1 to 10"),
    ("connect-four:6x7,k=x", "k='x' is not a whole number"),
    ("connect-four:6x7,kk=3", "did you mean 'k'?"),
    ("connect-four:6x7,k=3,k=4", "given twice"),
    ("mnk:3x3,misere=perhaps", "choose no or yes"),
    ("nim:3-4-x", "not numbers such as 3-4-5"),
    ("nim:3-4-99", "heaps=99 is not within 1 to 20"),
    ("hex:3x4", "'rows == cols' does not hold for hex:3x4"),
    ("morris:4", "'men % 3 == 0' does not hold"),
    ("connect-four@0123456789abcdef:4x4", "is not known here"),
])
def test_a_wrong_spec_is_told(spec: str, reason: str) -> None:
    with pytest.raises(GameError) as raised:
        open_game(spec)
    assert reason in str(raised.value)
    assert "\n" not in str(raised.value)


def test_a_game_without_end_needs_a_limit() -> None:
    unlimited = WALK[: WALK.index("[limit]")]
    with pytest.raises(GameError, match=r"cannot be proved; write \[limit\]"):
        play_text(unlimited)
    assert play_text(WALK).compiled.measure.limited


def test_a_limit_that_starts_again_for_ever_is_refused() -> None:
    with pytest.raises(GameError, match="may be used for ever"):
        play_text(WALK.replace('since = "capture"', 'since = "walk"'))


@pytest.mark.parametrize(("text", "effect"), [
    (WALK, "clock = 0"), ("kalah", "own store += 5"), ("nim", "heap3 += 1"),
])
def test_rules_cannot_change_what_the_proofs_rest_on(text: str, effect: str) -> None:
    """A clock set back would let a game go on for ever; seeds and stones are not made."""
    text = library_definition(text).text if text in ("kalah", "nim") else text
    first, move, rest = text.partition("[[move]]\n")
    with pytest.raises(GameError, match="unknown counter '"):
        play_text(f'{first}{move}then = "{effect}"\n{rest}')


def test_two_rules_of_one_name_are_refused() -> None:
    with pytest.raises(GameError, match="two rules are called 'walk'"):
        play_text(WALK.replace('name = "capture"', 'name = "walk"'))


def test_a_game_that_ends_nearly_always_is_refused() -> None:
    """All moves go forward but one: from the corner one may step back."""
    forward = TIC_TAC_TOE.replace('place = "stone"', 'step = "stone"\nalong = "n e"').replace(
        "[players]", '[start.first]\nstone = "row == 3 and col == 1"\n[players]'
    )
    assert not play_text(forward).compiled.measure.limited
    back = forward + (
        '[regions]\ncorner = "row == 1 and col == 3"\n'
        '[[move]]\nstep = "stone"\nalong = "w"\nif = "any(from & corner)"\n'
    )
    with pytest.raises(GameError, match="that every game ends cannot be proved"):
        play_text(back)
