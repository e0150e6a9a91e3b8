"""Boards of every game: all moves can be chosen, and everything lies inside the drawing."""

from __future__ import annotations

import random
import re
from typing import Any

import pytest

from zermelo.games import Bounds, Game, open_game
from zermelo.games.catalogue import listed_games
from zermelo.research.replies import MoveWorth, Worth
from zermelo.web.board import brief, draw_board
from zermelo.web.miniature import draw_miniature

SPECS = [each.example for each in listed_games()]
NUMBER = re.compile(r"-?\d+(?:\.\d+)?")


def unknown_moves(game: Game[Any], position: Any) -> list[MoveWorth]:
    rules = game.score_range
    return [MoveWorth(game.move_name(move), Worth.of(rules, rules), False, False)
            for move in game.moves(position)]  # fmt: skip


@pytest.mark.parametrize("spec", SPECS)
def test_every_move_is_a_mark_or_a_button(spec: str) -> None:
    game, choose = open_game(spec), random.Random(spec)
    position = game.initial()
    for _ in range(4):
        moves = unknown_moves(game, position)
        board = draw_board(game, position, moves, lambda name: f"?{name}")
        chosen = [mark.href for mark in board.marks] + [button.href for button in board.buttons]
        assert sorted(chosen) == sorted(f"?{move.move}" for move in moves)
        for mark in board.marks:
            assert board.x <= mark.x <= board.x + board.width
            assert board.y <= mark.y <= board.y + board.height
        assert len({(mark.x, mark.y) for mark in board.marks}) == len(board.marks) or any(
            mark.way for mark in board.marks
        )
        for stone in board.stones:
            assert board.x < stone.x < board.x + board.width
            assert board.y < stone.y < board.y + board.height
        assert len(draw_miniature(game, position).cells) < 20_000
        if not moves:
            break
        position = game.play(position, choose.choice(game.moves(position)))


def test_what_fits_on_a_square() -> None:
    rules = Bounds(-36, 36)

    def told(lo: int, hi: int) -> str:
        return brief(Worth.of(Bounds(lo, hi), rules), 36)

    assert told(-36, 36) == "?"
    assert told(4, 4) == "+4"
    assert told(-36, -4) == "≤-4"
    assert told(2, 36) == "≥+2"
    assert (told(0, 0), told(-36, 0), told(0, 36)) == ("0", "≤0", "≥0")
    assert told(-2, 8) == "-2…8"


def test_the_last_move_is_marked() -> None:
    game = open_game("reversi:4x4")
    start = game.initial()
    move = game.find_move(start, "b1")
    board = draw_board(game, game.play(start, move), last=(start, move))
    [(x, y)] = board.last
    assert (x, y) == (60, 0)


def test_hex_shows_whose_sides_are_whose() -> None:
    game = open_game("hex:3x3")
    board = draw_board(game, game.initial())
    assert [colour for _, colour in board.borders] == ["red", "red", "blue", "blue"]
    for path, _ in board.borders:
        x1, y1, x2, y2 = map(float, NUMBER.findall(path))
        for x, y in ((x1, y1), (x2, y2)):
            assert board.x < x < board.x + board.width
            assert board.y < y < board.y + board.height
    left, right, top, bottom = (list(map(float, NUMBER.findall(path))) for path, _ in board.borders)
    assert left[0] < right[0]
    assert top[1] == top[3] < bottom[1] == bottom[3]
    assert draw_miniature(game, game.initial()).borders == board.borders
    assert draw_board(open_game("reversi:4x4"), open_game("reversi:4x4").initial()).borders == []


def test_a_turn_of_several_moves_is_told_in_words() -> None:
    game = open_game("l-game")
    position = game.initial()
    assert game.picture(position).captions == ("0 of 12 moves to the limit", "X to move")
    position = game.play(position, game.moves(position)[0])
    told = game.picture(position).captions
    # Whoever moves again lets the other side pass.
    assert told == ("1 of 12 moves to the limit", "O must pass")
    position = game.play(position, game.moves(position)[0])
    assert game.picture(position).captions[-1] == "X goes on"
