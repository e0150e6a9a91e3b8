"""Hex, recognised by its tables: who joins two opposite sides of a rhombus of hexagons has won."""

from __future__ import annotations

from typing import Any

from zermelo.engine.definition_code import ints, mask_of, words
from zermelo.engine.definition_groups import NONE, Case
from zermelo.engine.definition_lines import is_placing
from zermelo.games.definition.board import cells_of
from zermelo.games.definition.model import Model
from zermelo.games.definition.tables import Tables

_SIDES = (0, 1)
_EMPTY = 1
_WORD_BYTES = 8
_WORD_CELLS = 64
#: Rows down and columns right of a neighbour.
_NEIGHBOURS = ((-1, 0), (1, 0), (0, -1), (0, 1), (-1, 1), (1, -1))
#: Cells that share two neighbours with a cell, and do not touch it.
_BRIDGES = 6


class JoiningGame:
    """What the kernel knows of such a game: `joined` is empty if the game is of another kind."""

    def __init__(self, tables: Tables, cases: list[list[Case]]) -> None:
        model = tables.model
        self._beside = [0] * model.board.cells
        for cell, _, after in model.board.links:
            self._beside[cell] |= 1 << after
        placing = (
            [value.side for value in model.values] == [None, *_SIDES]
            and not model.counters and not model.chains and tables.limit is None
            and all(_fills_every_cell(each, 1 + side, model) for side, each in enumerate(cases))
        )
        self._joined = self._sides(tables) if placing and model.board.cells < _WORD_CELLS else []

    def parts(self) -> dict[str, Any]:
        bridges = [self._bridges(cell) if self._joined else {} for cell in range(len(self._beside))]
        return {
            "joining": int(bool(self._joined)),
            "central": ints(
                beside.bit_count() + len(each)
                for beside, each in zip(self._beside, bridges, strict=True)
            ),
            "joined": words(self._joined, _WORD_BYTES),
            "bridges": ints(
                at for each in bridges for at in [*each, *[NONE] * _BRIDGES][:_BRIDGES]
            ),
            "pairs": words(
                (pair for each in bridges for pair in [*each.values(), *[0] * _BRIDGES][:_BRIDGES]),
                _WORD_BYTES,
            ),
        }

    def _sides(self, tables: Tables) -> list[int]:
        """The sides that the first player joins, and those of the second; none if what each joins
        is not two opposite sides of one rhombus."""
        found = []
        for side in _SIDES:
            match tables.ends[1 - side]:
                case [end] if end.score == ("const", -1):
                    condition = end.condition
                case _:
                    return []
            match condition:
                case ("connected", ("plane", value), regions) if value == 1 + side:
                    found.append(set(regions))
                case _:
                    return []
        cells = len(self._beside)
        for rows in range(1, cells + 1):
            cols = cells // rows
            if rows * cols != cells or self._beside != _rhombus(rows, cols):
                continue
            down = {mask_of(range(cols)), mask_of(range(cells - cols, cells))}
            across = {mask_of(range(0, cells, cols)), mask_of(range(cols - 1, cells, cols))}
            distinct = len(down) == len(across) == len(_SIDES)
            if distinct and found in ([down, across], [across, down]):
                return [mask for pair in found for mask in sorted(pair)]
        return []

    def _bridges(self, cell: int) -> dict[int, int]:
        """The cells that share exactly two neighbours with this one and do not touch it."""
        found = {}
        for other, beside in enumerate(self._beside):
            shared = self._beside[cell] & beside
            if other != cell and shared.bit_count() == 2 and not self._beside[cell] >> other & 1:
                found[other] = shared
        return found


def _rhombus(rows: int, cols: int) -> list[int]:
    """For each cell those beside it."""
    return [
        mask_of(
            (row + down) * cols + col + right for down, right in _NEIGHBOURS
            if 0 <= row + down < rows and 0 <= col + right < cols
        )
        for row in range(rows) for col in range(cols)
    ]


def _fills_every_cell(cases: list[Case], value: int, model: Model) -> bool:
    """Whether a side can place its stone on any empty cell, and does nothing else."""
    return (
        all(is_placing(case, value) for case in cases)
        and all(case.tests == [(_EMPTY, 1 << case.anchor)] for case in cases)
        and sorted(case.anchor for case in cases) == list(cells_of((1 << model.board.cells) - 1))
    )
