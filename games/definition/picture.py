"""The pictures of a definition: from its board and pieces, and from ``[picture]`` if it has one.

Nothing in ``[picture]`` changes a rule. What is not written there follows from the rest: pieces
that move along declared links stand on crossings, others on squares; black and white belong to
the first and the second player; signs other than ``X``, ``O`` and ``#`` are written on the piece.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, replace

from zermelo.games.definition.board import cells_of
from zermelo.games.definition.document import Table
from zermelo.games.definition.errors import unknown
from zermelo.games.definition.model import CLOCK, Model, PieceValue
from zermelo.games.definition.reference import PASS, DefinedPosition, Reference, drawn_cells
from zermelo.games.interface import Move
from zermelo.games.picture import (
    LETTERS,
    Colour,
    Ground,
    Picture,
    Piece,
    Point,
    Shape,
    Surface,
    Touch,
    TouchKind,
)

KEYS = ("surface", "ground", "pieces")
PIECE_KEYS = ("shape", "colours", "glyphs")
#: What the author of a board of squares may choose from.
SURFACES = (Surface.SQUARES, Surface.CROSSINGS)
_SURFACE_OF = {
    "hex": Surface.HEXAGONS, "edges": Surface.EDGES, "rings": Surface.CROSSINGS,
    "points": Surface.CROSSINGS, "heaps": Surface.HEAPS, "pits": Surface.PITS,
}  # fmt: skip
_SIDES = (Colour.BLACK, Colour.WHITE)
#: The colours of pieces that belong to nobody, one for each kind where there are several.
_NEUTRAL = (Colour.GREEN, Colour.BROWN, Colour.BLUE, Colour.YELLOW)
_PLAIN_SIGNS = "XO#"
_BUTTON = Touch(TouchKind.BUTTON)
#: The end of a game in which sides join regions.
_JOINS = re.compile(r"\s*connected\(\s*(own|enemy)\s*,\s*(\w+)\s*,\s*(\w+)\s*\)\s*", re.ASCII)


@dataclass(frozen=True, slots=True)
class Style:
    """How the board and its pieces look, whatever the position is."""

    surface: Surface
    ground: Ground
    #: What each value of a cell looks like; None: the empty cell.
    pieces: tuple[Piece | None, ...]
    #: The rows of cells that a side is to join, with its colour.
    borders: tuple[tuple[tuple[int, ...], Colour], ...] = ()
    #: Counters that only tell where in its turn a side is.
    steps: frozenset[str] = frozenset()


def read_style(document: Table, model: Model) -> Style:
    table = document.table("picture")
    table.only(*KEYS)
    surface = _SURFACE_OF.get(model.board.kind)
    if surface is None:
        linked = "links" in document.table("board")
        default = Surface.CROSSINGS if linked else Surface.SQUARES
        surface = Surface(table.choice("surface", SURFACES, default))
    elif "surface" in table:
        table.place("surface").fail(f"a board of {model.board.kind} has one surface only")
    ground = Ground(table.choice("ground", tuple(Ground), Ground.PLAIN))
    shaped = {move.text("place") for move in document.tables("move") if "shape" in move}
    pieces = [_default(value, model, shaped) for value in model.values[1:]]
    wanted = table.table("pieces")
    for kind in wanted:
        if kind not in model.kinds:
            wanted.place(kind).fail(unknown("piece", kind, model.kinds))
        values = [at for at, piece in enumerate(pieces) if piece.name == kind]
        looks = _read_looks(wanted.table(kind), [pieces[at] for at in values])
        for at, piece in zip(values, looks, strict=True):
            pieces[at] = piece
    return Style(
        surface, ground, (None, *pieces), tuple(_borders(document, model, pieces)),
        _steps(document, model),
    )  # fmt: skip


def _borders(
    document: Table, model: Model, pieces: list[Piece]
) -> Iterator[tuple[tuple[int, ...], Colour]]:
    """What each side is to join on a board of hexagons, where that is how a game ends."""
    if model.board.kind != "hex":
        return
    colours = {piece.side: piece.colour for piece in pieces if piece.side is not None}
    for end in document.tables("end"):
        joins = _JOINS.fullmatch(end.expression("if", "").text)
        if joins is None:
            continue
        whose, *regions = joins.groups()
        if not set(regions) <= set(model.regions):
            continue
        for side, colour in sorted(colours.items()):
            # An end is written as the side to move sees it.
            seen_by = side if whose == "own" else 1 - side
            for region in regions:
                yield tuple(cells_of(model.region(region, seen_by))), colour


def _steps(document: Table, model: Model) -> frozenset[str]:
    """The counters by which a turn has several moves."""
    told = [move.expression("again").text for move in document.tables("move") if "again" in move]
    names = {name for text in told for name in re.findall(r"[a-z]\w*", text, re.ASCII)}
    return frozenset(names & model.declared)


def _default(value: PieceValue, model: Model, shaped: set[str]) -> Piece:
    shape = Shape.DISC
    if model.board.kind == "edges":
        shape = Shape.BAR
    elif value.side is None or value.kind in shaped:
        shape = Shape.SQUARE
    neutral = [each.kind for each in model.values[1:] if each.side is None]
    if value.side is not None:
        colour = _SIDES[value.side]
    elif len(neutral) == 1:
        colour = Colour.GREY
    else:
        colour = _NEUTRAL[neutral.index(value.kind) % len(_NEUTRAL)]
    glyph = "" if value.sign in _PLAIN_SIGNS else value.sign
    return Piece(value.kind, value.sign, shape, colour, glyph, value.side)


def _read_looks(table: Table, pieces: list[Piece]) -> list[Piece]:
    """The pieces of one kind, one for each side that has it, with the looks of the table."""
    table.only(*PIECE_KEYS)
    shape = Shape(table.choice("shape", tuple(Shape), pieces[0].shape))
    colours = table.texts("colours") or [piece.colour for piece in pieces]
    glyphs = table.text("glyphs", "".join(piece.glyph for piece in pieces))
    if len(colours) != len(pieces):
        table.place("colours").fail(f"{len(pieces)} colours are needed, one for each side")
    for colour in colours:
        if colour not in tuple(Colour):
            table.place("colours").fail(unknown("colour", colour, Colour))
    if len(glyphs) not in (0, len(pieces)):
        table.place("glyphs").fail(f"{len(pieces)} signs are needed, one for each side, or none")
    for glyph in glyphs:
        # Letters, numbers, punctuation and symbols: what stands alone and turns no text around.
        if unicodedata.category(glyph)[0] not in "LNPS":
            table.place("glyphs").fail(f"{glyph!a} cannot be written on a piece")
    return [
        replace(piece, shape=shape, colour=Colour(colour), glyph=glyph)
        for piece, colour, glyph in zip(pieces, colours, glyphs or [""] * len(pieces), strict=True)
    ]


class DefinedPictures:
    """Pictures of positions, and how moves touch them."""

    def __init__(self, reference: Reference, style: Style) -> None:
        self._reference, self._style = reference, style
        self._model = reference.tables.model

    def picture(self, position: DefinedPosition) -> Picture:
        board, captions = self._model.board, tuple(self._captions(position))
        surface, ground = self._style.surface, self._style.ground
        if board.kind == "heaps":
            points = self._heaps(position)
            return Picture(surface, points, captions, ground=ground)
        if board.kind == "pits":
            names = tuple(str(hole + 1) for hole in range(board.holes))
            return Picture(surface, self._pits(position), captions, columns=names, ground=ground)
        points = tuple(
            Point(name, row, col, self._style.pieces[value])
            for name, (row, col), value in zip(
                board.names, board.places, drawn_cells(position), strict=True
            )
        )
        lines: tuple[tuple[int, int], ...] = ()
        if surface is Surface.CROSSINGS:
            pairs = ((min(one, other), max(one, other)) for one, _, other in board.links)
            lines = tuple(sorted(set(pairs)))
        rows: tuple[str, ...] = ()
        columns: tuple[str, ...] = ()
        if board.kind != "path":
            rows = tuple(str(row + 1) for row in range(max(row for row, _ in board.places) + 1))
            columns = tuple(LETTERS[: max(col for _, col in board.places) + 1])
        return Picture(
            surface, points, captions, lines, rows, columns, ground=ground,
            borders=self._style.borders,
        )  # fmt: skip

    def touch(self, position: DefinedPosition, move: Move) -> Touch:
        if move == PASS:
            return _BUTTON
        instance = self._reference.instance(position, move)
        if not self._model.board.cells and instance.changes:
            return self._touch_counter(position, instance.changes[0].counter)
        if not instance.puts:
            return _BUTTON
        first, *others = instance.puts
        if first.value == 0 and others:
            source, target = cells_of(first.mask), cells_of(others[0].mask)
            return Touch(TouchKind.FROM_TO, (*source, *target))
        return Touch(TouchKind.PLACE, tuple(cells_of(first.mask)))

    def _touch_counter(self, position: DefinedPosition, counter: int) -> Touch:
        """Moves of heaps and pits change first the counter of what is taken from."""
        if self._model.board.kind == "pits":
            pits = 2 * self._model.board.holes + 2  # the first counters, in the order of points
            return Touch(TouchKind.PLACE, (counter,)) if counter < pits else _BUTTON
        size = self._model.heap_size(counter)
        heaps = self._model.heaps(position.counters)
        return Touch(
            TouchKind.BUTTON, tuple(at for at, count in enumerate(heaps) if count == size)
        )

    # -- inside -----------------------------------------------------------------------

    def _heaps(self, position: DefinedPosition) -> tuple[Point, ...]:
        return tuple(
            Point(f"heap {at + 1}", 0, at, count=count)
            for at, count in enumerate(self._model.heaps(position.counters))
        )

    def _pits(self, position: DefinedPosition) -> tuple[Point, ...]:
        """In the order of the counters: the holes of each side, then its store."""
        holes, points = self._model.board.holes, []
        for side, name in enumerate(self._model.side_names):
            counts = position.counters[side * (holes + 1) :][: holes + 1]
            for at, count in enumerate(counts[:-1]):
                row, col = (2, at + 1) if side == 0 else (0, holes - at)
                points.append(Point(f"{name} {at + 1}", row, col, count=count))
            col = holes + 1 if side == 0 else 0
            points.append(Point(f"{name} store", 1, col, count=counts[-1]))
        return tuple(points)

    def _captions(self, position: DefinedPosition) -> list[str]:
        model, lines, goes_on = self._model, list[str](), False
        for name in model.free_counters:
            counters = [(each, position.counters[at]) for at, each in enumerate(model.counters)
                        if each.name == name]  # fmt: skip
            if name in self._style.steps:
                goes_on |= any(value != each.start for each, value in counters)
            elif name == CLOCK:
                lines += [f"{value} of {each.most} moves to the limit" for each, value in counters]
            else:
                values = [
                    str(value) if each.side is None else f"{model.side_names[each.side]} {value}"
                    for each, value in counters
                ]
                lines.append(f"{name}: {', '.join(values)}")
        if position.pending:
            cell = model.board.names[cells_of(position.pending)[0]]
            lines.append(f"the piece on {cell} goes on")
        side = model.side_names[position.turn]
        told = "must pass" if position.passing else "goes on" if goes_on else "to move"
        lines.append(f"{side} {told}")
        return lines
