"""Boards as SVG: one renderer for all games, from the game's own picture.

A move is a link on the board: on the point where a piece is put, along the way from one
point to another, or a button below. What is proved about it is told by shape, colour and text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from math import cos, hypot, pi, sin
from typing import Any

from zermelo.figures import signed
from zermelo.games import Game, Move
from zermelo.games.picture import Picture, Shape, Surface, Touch, TouchKind
from zermelo.research.replies import MoveWorth, ProofState, Worth

#: Units of the drawing between neighbouring points.
CELL = 60
DISC = 25
#: Room for labels beside boards that cannot have them inside.
MARGIN = 22
HEXAGON = CELL / 3**0.5
#: How far outside the cells the line is that shows whose side of the board it is, and its room.
BORDER_DISTANCE, BORDER_ROOM = 0.64 * CELL, 12
#: Boards of at most this many columns are narrow.
NARROW = 3
#: Of a heap that is shown by its counters.
COUNTERS_IN_ROW = 4
MOST_COUNTERS = 12
#: Where on its way a move from one point to another is marked.
ARROW_MARK = 0.5
#: The state of a move of which only that is told.
LEGAL = "legal"


@dataclass(frozen=True, slots=True)
class Label:
    x: float
    y: float
    text: str
    #: Inside the board, in a corner of a square: of a "row" or of a "column".
    inside: str = ""


@dataclass(frozen=True, slots=True)
class Stone:
    """A piece, or the seeds of a pit or heap."""

    x: float
    y: float
    shape: str
    colour: str
    text: str
    #: Of a bar: whether it lies flat.
    flat: bool = False


@dataclass(frozen=True, slots=True)
class Mark:
    """A move that can be chosen on the board."""

    x: float
    y: float
    href: str
    #: For those who do not see it.
    name: str
    state: str
    text: str
    best: bool
    #: The way of the move, where it is more than a point.
    way: str
    #: Half the side of the square that can be touched.
    reach: float
    #: Where a piece that moves stands, and where it goes.
    origin: tuple[float, float] | None = None
    target: tuple[float, float] | None = None
    #: The points of a piece that covers more than two.
    cells: tuple[tuple[float, float], ...] = ()


@dataclass(frozen=True, slots=True)
class Button:
    href: str
    name: str
    state: str
    text: str
    best: bool


@dataclass(frozen=True, slots=True)
class Board:
    x: float
    y: float
    width: float
    height: float
    surface: str
    ground: str
    #: The cells, as one path.
    cells: str
    lines: str
    dots: list[tuple[float, float]]
    labels: list[Label]
    stones: list[Stone]
    marks: list[Mark]
    buttons: list[Button]
    #: The points of the last move.
    last: list[tuple[float, float]]
    #: Lines through what the last move captured, as one path.
    captures: str
    #: The sides of the board that belong to a player: a path and a colour each.
    borders: list[tuple[str, str]]
    captions: Sequence[str]
    name: str

    @property
    def extent(self) -> str:
        """A board of few cells is not made as wide as the page."""
        columns = round(self.width / CELL)
        return "single" if columns == 1 else "narrow" if columns <= NARROW else ""


#: The address of the position after a move, by the move's name.
Address = Callable[[str], str]


def draw_board(
    game: Game[Any], position: Any, worths: Iterable[MoveWorth] = (),
    address: Address = lambda name: "", last: tuple[Any, Move] | None = None,
    *, picture: Picture | None = None, playing: bool = False, captures: str = "",
) -> Board:  # fmt: skip
    """The board with a link for every move that is told.

    `last` is the move that led here, behind the position before it; `picture` that of the
    position where it is known already; `captures` are the lines of what the last move took. To
    who is `playing` it does not tell what is proved.
    """
    picture = picture or game.picture(position)
    moves = {game.move_name(move): move for move in game.moves(position)}
    marks, buttons = [], []
    for told in worths:
        touch = game.touch(position, moves[told.move])
        if touch.kind is TouchKind.BUTTON:
            buttons.append(Button(
                address(told.move), told.move, LEGAL if playing else str(told.worth.proof_state),
                "" if playing else brief(told.worth, game.max_score), told.best,
            ))  # fmt: skip
        else:
            text = brief(told.worth, game.max_score)
            mark = _mark(picture, touch, told, text, address(told.move))
            if playing:
                name = f"{told.move}, hint" if told.best else told.move
                mark = replace(mark, name=name, state=LEGAL, text="")
            marks.append(mark)
    frame = left, top, right, bottom = frame_of(picture)
    return Board(
        left, top, right - left, bottom - top, str(picture.surface), str(picture.ground),
        cell_path(picture), line_path(picture, picture.lines), corner_dots(picture),
        _labels(picture, frame), stones(picture), marks, buttons, _last(game, picture, last),
        captures, border_paths(picture), picture.captions,
        f"{game.short_spec}: {', '.join(picture.captions)}",
    )  # fmt: skip


def line_path(picture: Picture, lines: Iterable[tuple[int, int]]) -> str:
    """Lines between points, as one path."""
    return "".join(
        "M{:g} {:g}L{:g} {:g}".format(*place_of(picture, one), *place_of(picture, other))
        for one, other in lines
    )


@lru_cache(maxsize=64)
def side_colours(game: Game[Any]) -> tuple[str, str]:
    """The colours of both sides' pieces; empty where both sides move the same ones."""
    found = {0: "", 1: ""}
    position = game.initial()
    for _ in range(3):
        for point in game.picture(position).points:
            if point.piece is not None and point.piece.side is not None:
                found[point.piece.side] = found[point.piece.side] or str(point.piece.colour)
        moves = game.moves(position)
        if not moves or all(found.values()):
            break
        position = game.play(position, moves[0])
    return (found[0], found[1]) if all(found.values()) else ("", "")


def brief(worth: Worth, max_score: int) -> str:
    """What is proved, in the room of a square."""
    if worth.proof_state is ProofState.UNKNOWN:
        return "?"
    if worth.proof_state is ProofState.PROVED:
        return signed(worth.lo)
    if worth.lo == -max_score:
        return f"≤{signed(worth.hi)}"
    return f"≥{signed(worth.lo)}" if worth.hi == max_score else f"{worth.lo}…{worth.hi}"


# -- inside ---------------------------------------------------------------------------------


def place_of(picture: Picture, point: int) -> tuple[float, float]:
    x, y = picture.xy(point)
    return round(CELL * x, 1), round(CELL * y, 1)


def frame_of(picture: Picture) -> tuple[float, float, float, float]:
    places = _places(picture) or [(0.0, 0.0)]
    half = CELL / 2
    left, right = min(x for x, _ in places) - half, max(x for x, _ in places) + half
    top, bottom = min(y for _, y in places) - half, max(y for _, y in places) + half
    if picture.surface is Surface.HEXAGONS:
        top, bottom = top - (HEXAGON - half), bottom + (HEXAGON - half)
    if picture.borders:
        left, top, right, bottom = (
            left - BORDER_ROOM, top - BORDER_ROOM, right + BORDER_ROOM, bottom + BORDER_ROOM
        )
    if picture.surface not in (Surface.SQUARES, Surface.PITS):
        if picture.rows:
            left -= MARGIN
        if picture.columns:
            top, bottom = (
                (top, bottom + MARGIN) if picture.columns_below else (top - MARGIN, bottom)
            )
    return left, top, right, bottom


def cell_path(picture: Picture) -> str:
    half = CELL / 2
    if picture.surface is Surface.SQUARES:
        return "".join(
            f"M{x - half:g} {y - half:g}h{CELL}v{CELL}h-{CELL}z"
            for x, y in _places(picture)
        )
    if picture.surface is Surface.HEXAGONS:
        corners = [(HEXAGON * sin(pi * k / 3), HEXAGON * cos(pi * k / 3)) for k in range(6)]
        return "".join(
            "M" + "L".join(f"{x + dx:.1f} {y + dy:.1f}" for dx, dy in corners) + "z"
            for x, y in _places(picture)
        )
    if picture.surface in (Surface.PITS, Surface.HEAPS):
        return "".join(circle(x, y, CELL * 0.46) for x, y in _places(picture))
    return ""


def border_paths(picture: Picture) -> list[tuple[str, str]]:
    """A line outside of each row of points that a side is to join, with the side's colour."""
    places = _places(picture)
    if not picture.borders or len(places) < 2:
        return []
    middle_x = sum(x for x, _ in places) / len(places)
    middle_y = sum(y for _, y in places) / len(places)
    found = []
    for points, colour in picture.borders:
        (x1, y1), (x2, y2) = places[points[0]], places[points[-1]]
        # At a right angle to the row, away from the middle of the board.
        length = hypot(x2 - x1, y2 - y1) or 1.0
        out_x, out_y = (y2 - y1) / length, (x1 - x2) / length
        if out_x * (middle_x - x1) + out_y * (middle_y - y1) > 0:
            out_x, out_y = -out_x, -out_y
        dx, dy = BORDER_DISTANCE * out_x, BORDER_DISTANCE * out_y
        found.append((
            f"M{x1 + dx:.1f} {y1 + dy:.1f}L{x2 + dx:.1f} {y2 + dy:.1f}", str(colour)
        ))
    return found


def _places(picture: Picture) -> list[tuple[float, float]]:
    return [place_of(picture, point) for point in range(len(picture.points))]


def circle(x: float, y: float, radius: float) -> str:
    arc = f"a{radius:g} {radius:g} 0 1 0"
    return f"M{x - radius:g} {y:g}{arc} {2 * radius:g} 0{arc}-{2 * radius:g} 0z"


def corner_dots(picture: Picture) -> list[tuple[float, float]]:
    if picture.surface is not Surface.EDGES:
        return []
    rows = max(point.row for point in picture.points)
    cols = max(point.col for point in picture.points)
    return [(CELL * col, CELL * row) for row in range(0, rows + 1, 2)
            for col in range(0, cols + 1, 2)]  # fmt: skip


def _labels(
    picture: Picture, frame: tuple[float, float, float, float]
) -> list[Label]:
    if picture.surface is Surface.PITS:
        return []  # holes are counted from both sides
    left, top, _, bottom = frame
    inside = picture.surface is Surface.SQUARES
    labels = []
    for row, text in enumerate(picture.rows):
        y = _row_height(picture, row)
        if inside:
            labels.append(Label(left + 3, y - CELL / 2 + 11, text, "row"))
        else:
            labels.append(Label(left + MARGIN / 2 + 2, y + 5, text))
    for col, text in enumerate(picture.columns):
        x = CELL * col
        if inside:
            labels.append(Label(x + CELL / 2 - 3, bottom - 3, text, "column"))
        else:
            labels.append(Label(x, bottom - 5 if picture.columns_below else top + 15, text))
    return labels


def _row_height(picture: Picture, row: int) -> float:
    at = next((number for number, point in enumerate(picture.points) if point.row == row), None)
    return CELL * row if at is None else place_of(picture, at)[1]


def stones(picture: Picture) -> list[Stone]:
    found = []
    for number, point in enumerate(picture.points):
        x, y = place_of(picture, number)
        if point.count is not None and picture.surface is Surface.HEAPS:
            found += _heap(x, y, point.count)
        elif point.count is not None:
            found.append(Stone(x, y, "count", "", str(point.count)))
        elif point.piece is not None:
            piece = point.piece
            shape = Shape.BAR if picture.surface is Surface.EDGES else piece.shape
            found.append(
                Stone(x, y, str(shape), str(piece.colour), piece.glyph, point.row % 2 == 0)
            )
    return found


def _heap(x: float, y: float, count: int) -> list[Stone]:
    """A heap's counters in rows, as far as there is room, and their number below."""
    if count > MOST_COUNTERS:
        return [Stone(x, y, "count", "", str(count))]
    rows = -(-count // COUNTERS_IN_ROW)
    found = []
    for number in range(count):
        row, col = divmod(number, COUNTERS_IN_ROW)
        in_row = min(COUNTERS_IN_ROW, count - row * COUNTERS_IN_ROW)
        aside, down = 10 * (col - (in_row - 1) / 2), 10 * (row - (rows - 1) / 2) - 6
        found.append(Stone(round(x + aside, 1), round(y + down, 1), "counter", "", ""))
    return [*found, Stone(x, y + 13, "count", "small", str(count))]


def _mark(picture: Picture, touch: Touch, told: MoveWorth, text: str, href: str) -> Mark:
    places = [place_of(picture, point) for point in touch.points]
    way, reach = "", CELL / 2
    origin = target = None
    if touch.kind is TouchKind.FROM_TO:
        (x1, y1), (x2, y2) = places[0], places[-1]
        way = f"M{x1:g} {y1:g}L{x2:g} {y2:g}"
        x, y = x1 + ARROW_MARK * (x2 - x1), y1 + ARROW_MARK * (y2 - y1)
        reach = CELL * 0.34
        origin, target = places[0], places[-1]
    else:
        x = sum(place[0] for place in places) / len(places)
        y = sum(place[1] for place in places) / len(places)
        if len(places) > 1:
            way = "M" + "L".join(f"{px:g} {py:g}" for px, py in places)
            reach = CELL * 0.34
    cells = tuple(places) if origin is None and len(places) > 2 else ()
    name = f"{told.move}: {told.worth.proof_state}"
    if told.worth.proof_state is not ProofState.UNKNOWN:
        name += f" {told.worth}"
    if told.best:
        name += ", best"
    return Mark(
        round(x, 1), round(y, 1), href, name, str(told.worth.proof_state), text,
        told.best, way, reach, origin, target, cells,
    )  # fmt: skip


def _last(
    game: Game[Any], picture: Picture, last: tuple[Any, Move] | None
) -> list[tuple[float, float]]:
    touch = game.touch(*last) if last is not None else None
    if touch is None or touch.kind is TouchKind.BUTTON or picture.surface is Surface.HEAPS:
        return []  # after a move there may be other heaps
    return [place_of(picture, point) for point in touch.points]
