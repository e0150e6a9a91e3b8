"""Games of Go and reversi as SGF, the format of game records that other programs read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from zermelo.games.interface import Game, GameError, Move
from zermelo.games.picture import LETTERS, Picture, TouchKind

#: The numbers of games in SGF's property GM.
NUMBERS = {"go": 1, "reversi": 2}


def write_sgf(
    game: Game[Any], start: Any, moves: Sequence[Move], first: str, second: str, score: int
) -> str:
    """A game that began in `start`; names and score are those of the side that moved first.

    Points are two letters, columns and rows from the upper left corner; a pass is empty. Stones
    on the board at the start are set up by AB and AW.
    """
    if game.name not in NUMBERS:
        raise GameError(f"SGF is written for {' and '.join(NUMBERS)}, not for {game.name}")
    picture = game.picture(start)
    rows, cols = (1 + max(at) for at in zip(*((p.row, p.col) for p in picture.points), strict=True))
    size = str(cols) if rows == cols else f"{cols}:{rows}"
    colours = "BW" if game.side_to_move(start) == "X" else "WB"
    names = dict(zip(colours, (first, second), strict=True))
    result = "0" if not score else f"{colours[score < 0]}+{abs(score)}"
    head = (f";GM[{NUMBERS[game.name]}]FF[4]CA[UTF-8]SZ[{size}]PB[{_escaped(names['B'])}]"
            f"PW[{_escaped(names['W'])}]RE[{result}]{'KM[0]' if game.name == 'go' else ''}"
            f"{_set_up(picture, colours[0])}")  # fmt: skip
    position, nodes = start, []
    for number, move in enumerate(moves):
        touch = game.touch(position, move)
        point = "" if touch.kind is TouchKind.BUTTON else _point(picture, touch.points[0])
        nodes.append(f";{colours[number % 2]}[{point}]")
        position = game.play(position, move)
    return f"({head}{''.join(nodes)})\n"


def _set_up(picture: Picture, to_move: str) -> str:
    """The stones on the board, and who is to move where there are any."""
    stones = {
        name: "".join(
            f"[{_point(picture, at)}]" for at, point in enumerate(picture.points)
            if point.piece is not None and point.piece.side == side
        )
        for name, side in (("AB", 0), ("AW", 1))
    }  # fmt: skip
    told = "".join(f"{name}{points}" for name, points in stones.items() if points)
    return f"{told}PL[{to_move}]" if told else ""


def _point(picture: Picture, point: int) -> str:
    at = picture.points[point]
    return LETTERS[at.col] + LETTERS[at.row]


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("]", "\\]")
