"""Small boards, to look at: a few hundred bytes each."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from zermelo.games import Game, open_game
from zermelo.games.picture import Picture, Surface
from zermelo.web.board import (
    CELL,
    DISC,
    border_paths,
    cell_path,
    circle,
    corner_dots,
    frame_of,
    line_path,
    place_of,
)


@dataclass(frozen=True, slots=True)
class Miniature:
    """A board of a few hundred bytes, to look at."""

    x: float
    y: float
    width: float
    height: float
    ground: str
    cells: str
    lines: str
    #: The pieces of each colour, as one path.
    pieces: dict[str, str]
    #: The seeds of pits and heaps, each with its place.
    counts: list[tuple[float, float, int]]
    dots: list[tuple[float, float]]
    borders: list[tuple[str, str]]
    name: str


def draw_miniature(game: Game[Any], position: Any) -> Miniature:
    picture = game.picture(position)
    left, top, right, bottom = frame_of(picture)
    pieces: dict[str, str] = {}
    counts = [
        (*place_of(picture, number), point.count)
        for number, point in enumerate(picture.points)
        if point.count is not None
    ]
    for number, point in enumerate(picture.points):
        if point.piece is not None:
            colour = str(point.piece.colour)
            pieces[colour] = pieces.get(colour, "") + circle(*place_of(picture, number), DISC)
    cells = _grid(picture) if picture.surface is Surface.SQUARES else cell_path(picture)
    return Miniature(
        left, top, right - left, bottom - top, str(picture.ground), cells,
        line_path(picture, picture.lines), pieces, counts, corner_dots(picture),
        border_paths(picture), game.format(position),
    )  # fmt: skip


@lru_cache(maxsize=512)
def draw_start(spec: str) -> Miniature:
    """The board of a game before the first move."""
    game = open_game(spec)
    return draw_miniature(game, game.initial())


def _grid(picture: Picture) -> str:
    """The lines between squares: shorter than the squares."""
    left, top, right, bottom = frame_of(picture)
    rows, cols = round((bottom - top) / CELL), round((right - left) / CELL)
    across = [f"M{left:g} {top + CELL * row:g}H{right:g}" for row in range(1, rows)]
    down = [f"M{left + CELL * col:g} {top:g}V{bottom:g}" for col in range(1, cols)]
    return "".join(across + down)
