"""The patterns of the reversi evaluation, for a board of any size.

A pattern is a set of squares; its images under the symmetries of the board are the
*instances*, which share one set of weights. Where a pattern is symmetric in itself, two
configurations mean the same; training gives them one weight (`orders`).
"""

from __future__ import annotations

from dataclasses import dataclass

from zermelo.games.reversi import STRIDE, Reversi, Square

Squares = tuple[Square, ...]

SHORTEST_DIAGONAL = 4


@dataclass(frozen=True, slots=True)
class Pattern:
    name: str
    #: Each instance as the squares in the order of their digits.
    instances: tuple[Squares, ...]
    #: Orders of the digits that mean the same, because the pattern is its own image.
    orders: tuple[tuple[int, ...], ...]

    @property
    def length(self) -> int:
        return len(self.instances[0])

    @property
    def configurations(self) -> int:
        return int(3**self.length)


def patterns_of(game: Reversi) -> list[Pattern]:
    """All patterns of this board, each shape once up to symmetry."""
    found: dict[frozenset[Square], None] = {}
    patterns = []
    for name, squares in _shapes(game.rows, game.cols):
        if frozenset(squares) in found:
            continue
        pattern = _with_images(game, name, squares)
        found.update((frozenset(instance), None) for instance in pattern.instances)
        patterns.append(pattern)
    return patterns


def _shapes(rows: int, cols: int) -> list[tuple[str, list[Square]]]:
    """One representative of every shape, in both orientations for oblong boards."""
    shapes = [("corner", _block(3, 3))]
    for transposed in (False, True):
        height, width = (cols, rows) if transposed else (rows, cols)
        local = [("edge", [*_line(0, width), STRIDE + 1, STRIDE + width - 2])]
        local += [(f"line{row + 1}", _line(row, width)) for row in range(1, (height + 1) // 2)]
        local.append(("block", _block(2, min(5, width))))
        shapes += [(name, _transpose(squares) if transposed else squares)
                   for name, squares in local]
    for first in range(-rows, cols):
        squares = [
            STRIDE * row + first + row for row in range(rows) if 0 <= first + row < cols
        ]
        if len(squares) >= SHORTEST_DIAGONAL:
            shapes.append((f"diagonal{len(squares)}", squares))
    return shapes


def _with_images(game: Reversi, name: str, squares: list[Square]) -> Pattern:
    images = [tuple(image[square] for square in squares) for image in game.square_symmetries]
    instances: dict[frozenset[Square], Squares] = {}
    for image in images:
        instances.setdefault(frozenset(image), image)
    own = frozenset(squares)
    orders = {
        tuple(image.index(square) for square in squares)
        for image in images
        if frozenset(image) == own
    }
    return Pattern(name, tuple(instances.values()), tuple(sorted(orders)))


def _line(row: int, width: int) -> list[Square]:
    return [STRIDE * row + col for col in range(width)]


def _block(height: int, width: int) -> list[Square]:
    return [STRIDE * row + col for row in range(height) for col in range(width)]


def _transpose(squares: list[Square]) -> list[Square]:
    return [STRIDE * (square % STRIDE) + square // STRIDE for square in squares]
