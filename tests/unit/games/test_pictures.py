"""Pictures: what terminals and pages are told about a board."""

from __future__ import annotations

import pytest

from tests.support.definitions import TIC_TAC_TOE, play_text
from zermelo.games import GameError, open_game
from zermelo.games.definition.game import DefinedGame
from zermelo.games.picture import Colour, Ground, Piece, Shape, Surface, Touch, TouchKind

PLACE, FROM_TO, BUTTON = TouchKind.PLACE, TouchKind.FROM_TO, TouchKind.BUTTON


def touched(spec: str, *moves: str) -> list[tuple[str, TouchKind, list[str]]]:
    """The legal moves after these: name, kind of touch, names of the points."""
    game = open_game(spec)
    position = game.initial()
    for name in moves:
        position = game.play(position, game.find_move(position, name))
    points = game.picture(position).points
    found = []
    for move in game.moves(position):
        touch = game.touch(position, move)
        found.append((game.move_name(move), touch.kind, [points[at].name for at in touch.points]))
    return found


def test_reversi_is_discs_on_felt() -> None:
    game = open_game("reversi:4x6")
    picture = game.picture(game.initial())
    assert (picture.surface, picture.ground, picture.lines) == (Surface.SQUARES, Ground.FELT, ())
    assert (picture.rows, picture.columns) == (("1", "2", "3", "4"), tuple("abcdef"))
    pieces = {point.name: point.piece.colour for point in picture.points if point.piece}
    assert pieces == {
        "c2": Colour.WHITE, "d2": Colour.BLACK, "c3": Colour.BLACK, "d3": Colour.WHITE,
    }
    assert picture.captions == ("X to move",)
    assert ("c1", PLACE, ["c1"]) in touched("reversi:4x6")


def test_go_stands_on_crossings_and_counts_rows_from_below() -> None:
    game = open_game("go:3x4")
    picture = game.picture(game.play(game.initial(), game.find_move(game.initial(), "a1")))
    assert picture.surface is Surface.CROSSINGS
    assert len(picture.lines) == 3 * 3 + 2 * 4
    (stone,) = (at for at, point in enumerate(picture.points) if point.piece)
    assert picture.points[stone].name == "a1"
    assert picture.xy(stone) == (0.0, 2.0)
    assert touched("go:2x2")[-1] == ("pass", BUTTON, [])


def test_hexagons_lean_to_the_right() -> None:
    game = open_game("hex:3x3")
    picture = game.picture(game.initial())
    assert picture.surface is Surface.HEXAGONS
    at = {point.name: picture.xy(number) for number, point in enumerate(picture.points)}
    assert at["a3"] == pytest.approx((1.0, 3**0.5))
    for one, other in (("a1", "b1"), ("a1", "a2"), ("b1", "a2")):  # neighbours
        (x, y), (u, v) = at[one], at[other]
        assert (x - u) ** 2 + (y - v) ** 2 == pytest.approx(1.0)


def test_lines_join_what_pieces_move_along() -> None:
    game = open_game("alquerque:3x3")
    picture = game.picture(game.initial())
    assert picture.surface is Surface.CROSSINGS
    names = {tuple(picture.points[at].name for at in line) for line in picture.lines}
    assert ("a1", "b2") in names  # a diagonal where there is one
    assert ("b1", "a2") not in names
    morris = open_game("morris:9")
    assert len(morris.picture(morris.initial()).lines) == 3 * 8 + 4 * 2


def test_moves_from_one_point_to_another() -> None:
    assert ("c2-b2", FROM_TO, ["c2", "b2"]) in touched("alquerque:3x3")
    assert ("2-4", FROM_TO, ["2", "4"]) in touched("frogs:3x3")


def test_moves_that_put_several_cells_or_take_one_off() -> None:
    assert ("a1-a2", PLACE, ["a1", "a2"]) in touched("domineering:4x4")
    assert ("xb2", PLACE, ["b2"]) in touched("konane:4x4")
    assert ("b", PLACE, ["b3"]) in touched("connect-four:4x4", "b")
    assert touched("l-game:plies=9", "d1-d2-c3-d3") == [("pass", BUTTON, [])]
    moved = touched("l-game:plies=9", "d1-d2-c3-d3", "pass")
    assert moved[0] == ("stay", BUTTON, [])
    assert ("xa1", PLACE, ["a1"]) in moved


def test_heaps_and_pits_hold_counts() -> None:
    nim = open_game("greedy-nim:4-3-3,k=2")
    assert [point.count for point in nim.picture(nim.initial()).points] == [4, 3, 3]
    assert ("4>2", BUTTON, ["heap 1"]) in touched("greedy-nim:4-3-3,k=2")
    assert ("3>2", BUTTON, ["heap 1", "heap 2", "heap 3"]) in touched("greedy-nim:4-3-3", "4>3")
    kalah = open_game("kalah:3x2")
    picture = kalah.picture(kalah.initial())
    assert [point.name for point in picture.points if point.row == 1] == ["X store", "O store"]
    assert [point.count for point in picture.points] == [2, 2, 2, 0, 2, 2, 2, 0]
    assert touched("kalah:3x2")[0] == ("1", PLACE, ["X 1"])
    assert touched("kalah:3x2", "1")[0] == ("1", PLACE, ["O 1"])


def test_looks_follow_from_sides_and_signs() -> None:
    fox = open_game("fox-and-hounds:4x4")
    pieces = {point.piece for point in fox.picture(fox.initial()).points if point.piece}
    assert pieces == {
        Piece("fox", "F", Shape.DISC, Colour.BLACK, "F", 0),
        Piece("hound", "h", Shape.DISC, Colour.WHITE, "h", 1),
    }
    frogs = open_game("frogs:1x1")
    assert [
        (point.piece.colour, point.piece.glyph)
        for point in frogs.picture(frogs.initial()).points if point.piece
    ] == [(Colour.GREEN, ">"), (Colour.BROWN, "<")]


# -- [picture] of a definition ---------------------------------------------------------------


def drawn(picture: str) -> DefinedGame:
    return play_text(TIC_TAC_TOE + picture)


def test_a_definition_may_say_how_it_looks() -> None:
    plain = drawn("")
    game = drawn(
        '[picture]\nsurface = "crossings"\nground = "wood"\n'
        '[picture.pieces]\nstone = { shape = "square", colours = ["red", "blue"], glyphs = "♞♘" }\n'
    )
    position = game.play(game.initial(), 4)
    picture = game.picture(position)
    assert (picture.surface, picture.ground) == (Surface.CROSSINGS, Ground.WOOD)
    assert picture.points[4].piece == Piece("stone", "X", Shape.SQUARE, Colour.RED, "♞", 0)
    assert len(picture.lines) == 12
    assert game.draw(position) == plain.draw(plain.play(plain.initial(), 4))
    assert game.touch(position, 0) == Touch(PLACE, (0,))


@pytest.mark.parametrize(("text", "message"), [
    ('surfce = "squares"', "did you mean 'surface'?"),
    ('surface = "hexagons"', "known: crossings, squares"),
    ('ground = "grass"', "known: felt, plain, wood"),
    ("pieces.ston = {}", "did you mean 'stone'?"),
    ('pieces.stone = { shape = "cube" }', "known: bar, disc, square"),
    ('pieces.stone = { colours = ["red"] }', "2 colours are needed"),
    ('pieces.stone = { colours = ["red", "url(x)"] }', "unknown colour 'url(x)'"),
    ('pieces.stone = { glyphs = "abc" }', "2 signs are needed"),
    ('pieces.stone = { glyphs = "a\\u202e" }', "cannot be written on a piece"),
    ('pieces.stone = { glyphs = "a\\u0301" }', "cannot be written on a piece"),
])
def test_what_is_wrong_with_a_picture_is_told(text: str, message: str) -> None:
    with pytest.raises(GameError, match=r"^game.toml:1[5-9]: picture") as raised:
        drawn(f"[picture]\n{text}\n")
    assert message in str(raised.value)
