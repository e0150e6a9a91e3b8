"""Games of filling: cells are filled one by one, and who fills the last of a line gains it and goes
on, as in dots and boxes."""

from __future__ import annotations

from itertools import combinations
from math import comb
from typing import Any

from zermelo.engine.definition_code import ints, words
from zermelo.engine.definition_groups import NONE, Case
from zermelo.games.definition.board import cells_of
from zermelo.games.definition.symmetry import Symmetry
from zermelo.games.definition.tables import Tables
from zermelo.games.definition.terms import FALSE, TRUE, Term

_SIDES = (0, 1)
_EMPTY = 1
_NOTHING: Term = ("const", 0)
_WORD_BYTES = 8
#: Of which the kernel's theorem speaks: lines that a cell is in.
MOST_LINES_OF_A_CELL = 2
MOST_TWINS = 64
MAPS_AT_ONCE = 4
#: The kernel has a bit for each.
MOST_LINES = 64


class FillingGame:
    """What the kernel knows of such a game; `lines` is None if the game is of another kind."""

    def __init__(
        self, tables: Tables, cases: list[list[Case]], symmetries: tuple[Symmetry, ...]
    ) -> None:
        self._model, self._symmetries = tables.model, symmetries
        lines = self._lines(cases) if self._is_plain(tables) else None
        self._found = sorted(lines) if lines and len(lines) <= MOST_LINES else None

    def parts(self) -> dict[str, Any]:
        lines = self._found or []
        of_cell = [
            [at for at, line in enumerate(lines) if line >> cell & 1]
            for cell in range(self._model.board.cells)
        ]
        families = self._families(of_cell)
        twins = [pair for cells in families for pair in combinations(cells, 2)]
        maps = self._maps(families)
        return {
            "filling": int(self._found is not None),
            "fill_lines": words(lines, _WORD_BYTES),
            "fill_line_count": len(lines),
            "lines_of": ints(
                at for found in of_cell for at in [*found, NONE, NONE][:MOST_LINES_OF_A_CELL]
            ),
            "twins": ints(cell for pair in twins for cell in pair),
            "twin_count": len(twins),
            "elders": words(
                (sum(1 << other for other in range(cell) if (other, cell) in twins)
                 for cell in range(len(of_cell))), _WORD_BYTES,
            ) if self._found else b"",
            "fill_maps": len(maps),
            "fill_images": words(
                (1 << each[cell] for cell in range(len(of_cell)) for each in maps), _WORD_BYTES
            ),
        }

    def _is_plain(self, tables: Tables) -> bool:
        """Whether there is nothing but one kind of neutral pieces and what each side has gained."""
        model = self._model
        return (
            [value.side for value in model.values] == [None, None]
            and [counter.side for counter in model.counters] == list(_SIDES)
            and not model.chains and tables.limit is None and model.stuck == "score"
            and not any(tables.ends) and model.board.cells < 8 * _WORD_BYTES
            and tables.scores == tuple(
                ("-", ("counter", side), ("counter", 1 - side)) for side in _SIDES
            )
        )

    def _lines(self, cases: list[list[Case]]) -> set[int] | None:
        """The lines, if every cell can be filled as long as it is empty, which gains the lines
        through it that are full then."""
        lines: set[int] = set()
        for side, found in enumerate(cases):
            if sorted(case.anchor for case in found if case.tests) != [*range(len(found))]:
                return None
            for case in found:
                gained = _gained(case, side)
                if gained is None or len(gained) > MOST_LINES_OF_A_CELL:
                    return None
                lines |= gained
            if any(
                line >> case.anchor & 1 and line not in (_gained(case, side) or ())
                for case in found for line in lines
            ) or len(found) != self._model.board.cells:
                return None
        return lines

    def _families(self, of_cell: list[list[int]]) -> list[list[int]]:
        """Cells that are in the same lines, in order."""
        alike: dict[tuple[int, ...], list[int]] = {}
        for cell, found in enumerate(of_cell):
            alike.setdefault(tuple(found), []).append(cell)
        pairs = sum(comb(len(cells), 2) for cells in alike.values())
        return list(alike.values()) if self._found and pairs <= MOST_TWINS else []

    def _maps(self, families: list[list[int]]) -> list[tuple[int, ...]]:
        """Where each symmetry moves each cell, the first of twins to the first of twins."""
        found = []
        for each in self._symmetries if self._found else ():
            cells = list(each.cells)
            for family in families:
                for cell, image in zip(family, sorted(cells[at] for at in family), strict=True):
                    cells[cell] = image
            found.append(tuple(cells))
        distinct = list(dict.fromkeys(found))
        # The kernel looks at several at once.
        return distinct + distinct[:1] * (-len(distinct) % MAPS_AT_ONCE)


def _gained(case: Case, side: int) -> frozenset[int] | None:
    """The lines that a case counts; None if it does anything else."""
    instance = case.instance
    if (
        case.rest or case.tests != [(_EMPTY, 1 << case.anchor)] or len(instance.puts) != 1
        or (instance.puts[0].mask, instance.puts[0].value) != (1 << case.anchor, 1)
        or instance.lifts or instance.rays or instance.chain or len(instance.changes) != 1
    ):
        return None
    change = instance.changes[0]
    if (change.counter, change.operator, change.condition) != (side, "+=", TRUE):
        return None
    if change.amount == _NOTHING:
        return frozenset() if instance.again == FALSE else None
    match change.amount:
        case ("lines", ("plane", 1), lines) if instance.again == ("!=", change.amount, _NOTHING):
            through = all(case.anchor in cells_of(line) for line in lines)
            return frozenset(lines) if through else None
    return None
