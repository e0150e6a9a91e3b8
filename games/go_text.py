"""Go positions for people: diagrams with side to move, one-line form, pictures."""

from __future__ import annotations

import re
from dataclasses import replace

from zermelo.games.go import NO_KO, Go, GoPosition
from zermelo.games.go_board import Point
from zermelo.games.go_keys import encode_past
from zermelo.games.interface import GameError
from zermelo.games.picture import (
    BLACK_STONE,
    WHITE_STONE,
    Ground,
    Picture,
    Surface,
    grid_picture,
)
from zermelo.games.position_text import black_to_move, shorten

BLACK_SIGNS = "XxBb#*"
WHITE_SIGNS = "OoWw@"
EMPTY_SIGNS = ".-_+"
EMPTY = "."
STONES = {"X": BLACK_STONE, "O": WHITE_STONE}
_COUNT = re.compile(r"[+-]?[0-9]{1,4}", re.ASCII)


def parse_position(game: Go, text: str) -> GoPosition:
    words = text.partition(";")[0].replace("/", " ").split()
    options = dict(_option(word) for word in words if "=" in word)
    *rows, side = [word for word in words if "=" not in word] or [""]
    blacks_turn = black_to_move(side, text, BLACK_SIGNS, WHITE_SIGNS)
    cells = "".join(rows)
    points = game.board.points
    if len(cells) != len(points):
        raise GameError(
            f"position has {len(cells)} points; {game.rows}x{game.cols} has {len(points)}"
        )
    black = white = 0
    for point, sign in zip(points, cells, strict=True):
        if sign in BLACK_SIGNS:
            black |= 1 << point
        elif sign in WHITE_SIGNS:
            white |= 1 << point
        elif sign not in EMPTY_SIGNS:
            raise GameError(f"{sign!r} on {game.move_name(point)} is no stone; use X, O or .")
    game.check_stones(black, white, f"position {shorten(text)!r}")
    return _with_options(game, GoPosition(black, white, blacks_turn), options)


def format_position(game: Go, position: GoPosition) -> str:
    cells = "".join(_sign(position, point) for point in game.board.points)
    words = [cells, game.side_to_move(position)]
    if position.ko != NO_KO:
        words.append(f"ko={game.move_name(position.ko)}")
    if position.passes:
        words.append(f"passes={position.passes}")
    if position.past:
        words.append(f"past={encode_past(position).hex()}")
    if position.prisoners:
        words.append(f"prisoners={position.prisoners}")
    return " ".join(words)


def show_position(game: Go, position: GoPosition) -> Picture:
    to_move = f"{game.side_to_move(position)} to move"
    if position.ko != NO_KO:
        to_move += f", ko at {game.move_name(position.ko)}"
    if position.prisoners:
        to_move += f", prisoners {position.prisoners:+d} for X"
    return grid_picture(
        game.rows, game.cols, [STONES.get(_sign(position, point)) for point in game.board.points],
        [to_move], surface=Surface.CROSSINGS, ground=Ground.WOOD, empty=EMPTY, from_below=True,
    )


def point_from_name(game: Go, name: str) -> Point:
    for point in game.board.points:
        if game.move_name(point) == name.lower():
            return point
    raise GameError(f"{name!r} is no point of a {game.rows}x{game.cols} board")


def _option(word: str) -> tuple[str, str]:
    option, _, value = word.partition("=")
    if option not in ("ko", "passes", "past", "prisoners"):
        raise GameError(
            f"unknown {option!r} after the position; known: ko, passes, past, prisoners"
        )
    return option, value


def _with_options(game: Go, position: GoPosition, options: dict[str, str]) -> GoPosition:
    passes = options.get("passes", "0")
    if passes not in ("0", "1", "2"):
        raise GameError(f"passes={passes!r} is not allowed; choose 0, 1 or 2")
    position = replace(position, passes=int(passes))
    if "past" in options:
        try:
            history = bytes.fromhex(options["past"])
        except ValueError:
            raise GameError(f"past={shorten(options['past'])!r} is not hexadecimal") from None
        position = game.decode(game.encode(position), history)
    if "ko" in options:
        if position.passes:
            raise GameError("ko= and passes= contradict each other: a pass lifts the ko")
        position = game.with_ko(position, point_from_name(game, options["ko"]))
    if "prisoners" in options:
        position = replace(position, prisoners=_prisoners(game, options["prisoners"]))
    if position.passes == 2 and position.past:
        raise GameError("past= is pointless with passes=2: the game is over")
    return position


def _prisoners(game: Go, text: str) -> int:
    if not game.counts_prisoners or not _COUNT.fullmatch(text):
        raise GameError(
            f"prisoners={shorten(text)!r} is not allowed; with scoring=territory it is a whole"
            " number, White's captured stones minus Black's"
        )
    return int(text)


def _sign(position: GoPosition, point: Point) -> str:
    if position.black >> point & 1:
        return "X"
    return "O" if position.white >> point & 1 else EMPTY
