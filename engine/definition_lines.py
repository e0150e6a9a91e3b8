"""Games of lines: what the kernel may take for granted where placing stones is all that happens."""

from __future__ import annotations

from typing import Any

from zermelo.engine.definition_code import Code, equal_distance, ints, shapes_of, words
from zermelo.engine.definition_groups import NONE, Case
from zermelo.games.definition.tables import Tables
from zermelo.games.definition.terms import FALSE

_SIDES = (0, 1)
_EMPTY = 1
#: The values of both sides' stones, as a mask, where there are no others.
_STONES = 0b110
#: Shapes of lines that the kernel handles together, and the size of their masks.
_FOUR = 4
_WORD_BYTES = 8


class LineGame:
    """All that happens is that stones are placed one by one, and who has a line has won."""

    def __init__(self, tables: Tables, code: Code, cases: list[list[Case]]) -> None:
        self._model, self._code, self._cases = tables.model, code, cases
        plain = not self._model.counters and not self._model.chains and tables.limit is None
        #: For each side the lines that it wins by; none if the game is of another kind.
        self._lines = [each for side in _SIDES if (each := self._winning(tables, side))]
        if not plain or len(self._lines) < len(_SIDES):
            self._lines = []

    def parts(self, mask_bytes: int, searchable: bool) -> dict[str, Any]:
        """`searchable`: whether the kernel has groups and keys by which it could search so."""
        opened = self._opened() if self._lines and searchable else None
        shapes = self._four_shapes() if mask_bytes == _WORD_BYTES else None
        return {
            "lines": [self._code.line_table(each) for each in self._lines] or [NONE, NONE],
            "lines_through": [self._lines_through(side) for side in _SIDES],
            "steady": int(opened is not None),
            "opened": words(opened or [], mask_bytes),
            "line_length": 0 if shapes is None else shapes[0],
            "four_shapes": [b"", b""] if shapes is None else shapes[1],
        }

    def _winning(self, tables: Tables, side: int) -> frozenset[int] | None:
        own = [at for at, value in enumerate(self._model.values) if value.side == side]
        match tables.ends[1 - side]:
            case [end] if end.score == ("const", -1):
                condition = end.condition
            case _:
                return None
        match condition:
            case ("!=", ("lines", ("plane", value), lines), ("const", 0)) if [value] == own:
                placing = all(is_placing(case, value) for case in self._cases[side])
                return frozenset(lines) if placing else None
        return None

    def _opened(self) -> list[int] | None:
        """For each cell those that can be played as soon as it is filled. None unless both sides
        have the same moves, a move lasts until its cell is filled, it waits for one other cell at
        most, and who has no move draws."""
        needs = [{(case.anchor, tuple(case.tests)) for case in each} for each in self._cases]
        cells = [case.anchor for case in self._cases[0]]
        if (
            self._model.stuck != "draw" or needs[0] != needs[1] or len(set(cells)) < len(cells)
            or [value.side for value in self._model.values[1:]] != list(_SIDES)
        ):
            return None
        opened = [0] * self._model.board.cells
        for case in self._cases[0]:
            waits = [test for test in case.tests if test != (_EMPTY, 1 << case.anchor)]
            if len(waits) > 1 or len(waits) == len(case.tests):
                return None
            for values, mask in waits:
                if values != _STONES or mask.bit_count() != 1:
                    return None
                opened[mask.bit_length() - 1] |= 1 << case.anchor
        return opened

    def _lines_through(self, side: int) -> bytes:
        lines = self._lines[side] if self._lines else frozenset()
        cells = range(self._model.board.cells)
        return ints(sum(line >> cell & 1 for line in lines) for cell in cells)

    def _four_shapes(self) -> tuple[int, list[bytes]] | None:
        """The length of all lines; for each side where lines of up to four shapes begin, and how
        far their cells are apart."""
        lengths = {line.bit_count() for lines in self._lines for line in lines}
        found = []
        for lines in self._lines:
            shapes = shapes_of(lines)
            distances = [apart for shape in shapes if (apart := equal_distance(shape)) is not None]
            if len(distances) < len(shapes) or len(shapes) > _FOUR:
                return None
            spare = [0] * (_FOUR - len(shapes))
            found.append(words([*shapes.values(), *spare, *distances, *spare], _WORD_BYTES))
        return (lengths.pop(), found) if len(lengths) == 1 else None


def is_placing(case: Case, value: int) -> bool:
    """Whether all that a case does is to place a stone of this value on its anchor."""
    instance = case.instance
    return (
        len(instance.puts) == 1 and instance.puts[0].value == value and bool(case.tests)
        and instance.puts[0].mask == 1 << case.anchor and not case.rest
        and instance.puts[0].before == {0}
        and not (instance.lifts or instance.rays or instance.changes or instance.chain)
        and instance.again == FALSE
    )
