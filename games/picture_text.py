"""Pictures as text of several lines, for terminals."""

from __future__ import annotations

from collections.abc import Collection

from zermelo.games.picture import Picture, Point, Surface


def draw_picture(picture: Picture, marked: Collection[int] = ()) -> str:
    """The board with its captions; of a board with rows and columns the points with `marked`
    numbers stand in brackets."""
    if picture.surface in (Surface.HEAPS, Surface.PITS):
        board = _heaps(picture) if picture.surface is Surface.HEAPS else _pits(picture)
    else:
        board = _lattice(picture, marked)
    return "\n".join([*board, *picture.captions])


def _lattice(picture: Picture, marked: Collection[int]) -> list[str]:
    """Two characters for each column, a line for each row, labels above or below and left."""
    brackets = {(picture.points[at].row, picture.points[at].col) for at in marked}
    signs = {(point.row, point.col): _sign(picture, point) for point in picture.points}
    height = max((row for row, _ in signs), default=-1) + 1
    width = max((col for _, col in signs), default=-1) + 1
    if picture.surface is Surface.EDGES:
        signs |= {(row, col): "." for row in range(0, height, 2) for col in range(0, width, 2)}
    margin = max(map(len, picture.rows), default=0)
    lines = []
    for row in range(height):
        label = f"{picture.rows[row]:>{margin}}" if picture.rows else ""
        indent = " " * row if picture.surface is Surface.HEXAGONS else ""
        cells = "".join(
            _gap(brackets, row, col) + signs.get((row, col), " ") for col in range(width)
        ) + _gap(brackets, row, width)
        cells = cells if picture.rows or cells[:1] != " " else cells[1:]
        lines.append(f"{label}{indent}{cells}".rstrip())
    if picture.columns:
        letters = f"{'':{margin}} {' '.join(picture.columns)}"
        lines = [*lines, letters] if picture.columns_below else [letters, *lines]
    return lines


def _gap(brackets: Collection[tuple[int, int]], row: int, col: int) -> str:
    """What stands before a column: between two marked points the left one's bracket."""
    if (row, col - 1) in brackets:
        return ")"
    return "(" if (row, col) in brackets else " "


def _sign(picture: Picture, point: Point) -> str:
    if picture.surface is Surface.EDGES:
        return " " if point.piece is None else "-" if point.row % 2 == 0 else "|"
    return picture.empty if point.piece is None else point.piece.sign


def _heaps(picture: Picture) -> list[str]:
    return [f"heaps: {' '.join(str(point.count) for point in picture.points) or 'none'}"]


def _pits(picture: Picture) -> list[str]:
    """The second player's holes from right to left above, the first player's below."""
    upper, (left, right), lower = (
        [point.count or 0 for point in
         sorted(picture.points, key=lambda point: point.col) if point.row == row]
        for row in range(3)
    )
    below, back = list(picture.columns), list(reversed(picture.columns))
    above, counts, sown, names = (
        " ".join(f"{each:>2}" for each in line) for line in (back, upper, lower, below)
    )
    return [f"     {above}", f"     {counts}", f"{left:3}  {' ' * len(names)}  {right}",
            f"     {sown}", f"     {names}"]
