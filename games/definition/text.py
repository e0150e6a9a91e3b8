"""Positions of a definition as a line of text.

    CELLS SIDE [counter=value ...] [at=CELL] [pass]

Cells are written row by row with the signs of the pieces, rows apart by ``/``; heaps as their
sizes, ``5-4-3``; pits as two lists of numbers, ``3,3,3,0/3,3,3,0``, the store last. A counter
that is not written has the value it starts with, one of each side has two: ``hand=3,2``.
"""

from __future__ import annotations

import re

from zermelo.games.definition.board import cells_of
from zermelo.games.definition.errors import DefinitionError, shorten, unknown
from zermelo.games.definition.model import Model
from zermelo.games.definition.ranges import seeds_of
from zermelo.games.definition.reference import DefinedPosition, drawn_cells
from zermelo.games.definition.tables import Tables

_NUMBER = re.compile(r"[0-9]{1,7}", re.ASCII)
_LONGEST = 1000
PASSING, PENDING = "pass", "at"


def check_position(model: Model, position: DefinedPosition) -> None:
    """Fail for counters that no game can have."""
    if model.board.kind == "pits" and sum(position.counters[: 2 * model.board.holes + 2]) != (
        seeds_of(model)
    ):
        raise DefinitionError(f"the board has {seeds_of(model)} seeds in all")


class TextForm:
    def __init__(self, tables: Tables) -> None:
        self._tables, self._model = tables, tables.model
        self._free = self._model.free_counters

    def write(self, position: DefinedPosition) -> str:
        parts = [self._body(position), self._model.side_names[position.turn]]
        parts += self._extras(position)
        if position.pending:
            parts.append(f"{PENDING}={self._model.board.names[cells_of(position.pending)[0]]}")
        if position.passing:
            parts.append(PASSING)
        return " ".join(parts)

    def _body(self, position: DefinedPosition) -> str:
        model = self._model
        if model.board.kind == "heaps":
            return "-".join(map(str, model.heaps(position.counters))) or "0"
        if model.board.kind == "pits":
            size = model.board.holes + 1
            sides = (position.counters[:size], position.counters[size : 2 * size])
            return "/".join(",".join(map(str, side)) for side in sides)
        signs = [model.values[value].sign for value in drawn_cells(position)]
        rows: dict[int, str] = {}
        for (row, _), sign in zip(model.board.places, signs, strict=True):
            rows[row] = rows.get(row, "") + sign
        if model.board.kind == "points":
            return "".join(signs)
        return "/".join(rows[row] for row in sorted(rows))

    def _extras(self, position: DefinedPosition) -> list[str]:
        found = []
        for name in self._free:
            at = [at for at, each in enumerate(self._model.counters) if each.name == name]
            values = [position.counters[each] for each in at]
            if values != [self._model.counters[each].start for each in at]:
                found.append(f"{name}={','.join(map(str, values))}")
        return found

    def read(self, text: str) -> DefinedPosition:
        words = text[: _LONGEST + 1].split() if len(text) <= _LONGEST else []
        if len(words) < 2:
            raise DefinitionError(
                f"'{shorten(text)}' is no position; write {self.write(self._start())!r}"
            )
        planes, counters, words = self._read_body(words)
        side, *extras = words or [""]
        names = [name.lower() for name in self._model.side_names]
        if side.lower() not in names:
            raise DefinitionError(
                f"no side to move in '{shorten(text)}'; write {' or '.join(self._model.side_names)}"
                " behind the board"
            )
        pending, passing = 0, False
        for word in extras:
            key, _, value = word.lower().partition("=")
            if word.lower() == PASSING:
                passing = True
            elif key == PENDING and self._model.chains:
                if value not in self._model.board.names:
                    raise DefinitionError(unknown("cell", value, self._model.board.names))
                pending = 1 << self._model.board.names.index(value)
            else:
                self._read_counter(key, value, counters)
        position = DefinedPosition(
            tuple(planes), tuple(counters), pending, names.index(side.lower()), passing
        )
        check_position(self._model, position)
        return position

    def _start(self) -> DefinedPosition:
        return DefinedPosition(self._tables.start.planes, self._tables.start.counters, 0, 0, False)

    def _read_body(self, words: list[str]) -> tuple[list[int], list[int], list[str]]:
        model, counters = self._model, list(self._tables.start.counters)
        if model.board.kind in ("heaps", "pits"):
            self._read_numbers(words[0], counters)
            return list(self._tables.start.planes), counters, words[1:]
        signs, used = "", 0
        while used < len(words) and len(signs) < model.board.cells:
            signs, used = signs + words[used].replace("/", ""), used + 1
        if len(signs) != model.board.cells:
            raise DefinitionError(
                f"{len(signs)} cells are written; the board has {model.board.cells}"
            )
        known = {value.sign: at for at, value in enumerate(model.values)}
        planes = [0] * len(model.values)
        for cell, sign in enumerate(signs):
            if sign not in known:
                name = model.board.names[cell]
                raise DefinitionError(f"{sign!r} on {name} is no piece; use {' '.join(known)}")
            planes[known[sign]] |= 1 << cell
        return planes, counters, words[used:]

    def _read_numbers(self, word: str, counters: list[int]) -> None:
        model = self._model
        if model.board.kind == "heaps":
            sizes = _numbers(word.split("-"))
            top = max(model.board.heaps)
            if any(size > top for size in sizes):
                raise DefinitionError(f"a heap above {top} in '{shorten(word)}'")
            for at, counter in enumerate(model.counters):
                if counter.name.startswith("heap"):
                    counters[at] = sizes.count(int(counter.name[4:]))
                    _check(counters[at], counter.most, f"heaps of {counter.name[4:]}")
            return
        size = model.board.holes + 1
        sides = [_numbers(part.split(",")) for part in word.split("/")]
        if [len(side) for side in sides] != [size, size]:
            raise DefinitionError(
                f"'{shorten(word)}' is not two lists of {size} numbers with / between them"
            )
        counters[: 2 * size] = [*sides[0], *sides[1]]

    def _read_counter(self, key: str, value: str, counters: list[int]) -> None:
        at = [at for at, each in enumerate(self._model.counters) if each.name == key]
        if not at or key not in self._free:
            raise DefinitionError(unknown("word", key, [*self._free, PASSING]))
        values = _numbers(value.split(","))
        if len(values) != len(at):
            raise DefinitionError(f"{key} has {len(at)} numbers, not {len(values)}")
        for each, count in zip(at, values, strict=True):
            _check(count, self._model.counters[each].most, key)
            counters[each] = count


def _numbers(words: list[str]) -> list[int]:
    for word in words:
        if not _NUMBER.fullmatch(word):
            raise DefinitionError(f"'{shorten(word)}' is not a number")
    return [int(word) for word in words]


def _check(value: int, most: int, what: str) -> None:
    if value > most:
        raise DefinitionError(f"{what}: {value} is above {most}")
