"""Go positions from SGF: set-up stones and the moves of the main line, with their history.

The file format is read by sgfmill; what it means for the rules is decided here. The low
level of that library is used because its high level knows square boards only.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path

from sgfmill import sgf_grammar

from zermelo.games.foreign_files import MAX_RECORD_BYTES, read_limited
from zermelo.games.go import PASS, Go, GoPosition
from zermelo.games.go_board import STRIDE, Bitboard
from zermelo.games.interface import GameError, Move

Properties = dict[str, list[bytes]]
#: Nodes of the main line, and moves: a board of the past takes time in every later move, and
#: no game is that long.
MAX_NODES = 10_000
MAX_MOVES = 1_000
_SETUP = ("AB", "AW", "AE", "PL")
_NAMES = {"B": "Black", "W": "White"}


def read_sgf_file(game: Go, path: Path) -> GoPosition:
    """The same from a file; `OSError` if it cannot be read."""
    return read_sgf(game, read_limited(path, MAX_RECORD_BYTES))


def read_sgf(game: Go, data: bytes) -> GoPosition:
    """The position at the end of the main line; `GameError` names the move that is wrong."""
    if len(data) > MAX_RECORD_BYTES:
        raise GameError(f"the SGF file has more than {MAX_RECORD_BYTES:,} bytes")
    try:
        tree = sgf_grammar.parse_sgf_game(data)
        main_line = sgf_grammar.main_sequence_iter(tree)
        nodes: list[Properties] = list(islice(main_line, MAX_NODES + 1))
    except ValueError as error:
        raise GameError(f"not an SGF game: {error}") from None
    if len(nodes) > MAX_NODES:
        raise GameError(f"the SGF game has more than {MAX_NODES:,} nodes in its main line")
    _check_size(game, nodes[0])
    position, number = game.initial(), 0
    for node in nodes:
        if any(name in node for name in _SETUP):
            if number:
                raise GameError(
                    f"set-up stones after move {number}: the history would contradict the position"
                )
            position = _set_up(game, position, node)
        for colour in ("B", "W"):
            if colour in node:
                number += 1
                if number > MAX_MOVES:
                    raise GameError(f"the SGF game has more than {MAX_MOVES:,} moves")
                black = colour == "B"
                if number == 1 and not any("PL" in node for node in nodes):
                    position = replace(position, black_to_move=black)
                position = _play(game, position, node[colour][0], black, number)
    return position


def _check_size(game: Go, root: Properties) -> None:
    if root.get("GM", [b"1"])[0].strip() not in (b"1", b""):
        raise GameError(f"the SGF file is game type {_text(root['GM'][0])}, not Go")
    size = _text(root.get("SZ", [b"19"])[0]).strip()
    cols, _, rows = size.partition(":")
    if (cols, rows or cols) != (str(game.cols), str(game.rows)):
        raise GameError(f"the SGF board is {size}, not {game.rows}x{game.cols}")


def _set_up(game: Go, position: GoPosition, node: Properties) -> GoPosition:
    black, white = position.black, position.white
    for name in ("AB", "AW", "AE"):
        points = sum(1 << point for point in set(_points(game, node.get(name, []))))
        black = black & ~points | (points if name == "AB" else 0)
        white = white & ~points | (points if name == "AW" else 0)
    _check_apart(game, node)
    game.check_stones(black, white, "the set-up")
    side = position.black_to_move
    if "PL" in node:
        player = _text(node["PL"][0]).strip().upper()
        if player not in _NAMES:
            raise GameError(f"wrong side to move {player!r} in PL; write B or W")
        side = player == "B"
    return GoPosition(black, white, side)


def _check_apart(game: Go, node: Properties) -> None:
    both: Bitboard = 0
    for name in ("AB", "AW", "AE"):
        for point in set(_points(game, node.get(name, []))):
            if both >> point & 1:
                raise GameError(f"the set-up names {game.move_name(point)} twice")
            both |= 1 << point


def _play(game: Go, position: GoPosition, value: bytes, black: bool, number: int) -> GoPosition:
    colour = "Black" if black else "White"
    if black != position.black_to_move:
        raise GameError(f"move {number}: it is not {colour}'s turn")
    try:
        return game.play(position, _move(game, value))
    except GameError as error:
        raise GameError(f"move {number} of {colour}: {error}") from None


def _move(game: Go, value: bytes) -> Move:
    if value.strip() in (b"", b"tt"):
        return PASS
    return _point(game, value)


def _point(game: Go, value: bytes) -> Move:
    name = _text(value).strip()
    if len(name) == 2:
        col, row = (ord(letter) - ord("a") for letter in name)
        if 0 <= col < game.cols and 0 <= row < game.rows:
            return STRIDE * row + col
    raise GameError(f"{name!r} is no point of a {game.rows}x{game.cols} board")


def _points(game: Go, values: list[bytes]) -> Iterator[Move]:
    """Points one by one, or as rectangles ``upper left:lower right``."""
    for value in values:
        first, colon, last = value.partition(b":")
        if not colon:
            yield _point(game, value)
            continue
        top, left = divmod(_point(game, first), STRIDE)
        bottom, right = divmod(_point(game, last), STRIDE)
        for row in range(top, bottom + 1):
            for col in range(left, right + 1):
                yield STRIDE * row + col


def _text(value: bytes) -> str:
    return value.decode("utf-8", "replace")
