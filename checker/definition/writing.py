"""Positions as certificates write them, and drawn for people.

    CELLS SIDE [counter=value ...] [at=CELL] [pass]
"""

from __future__ import annotations

import re

from zermelo.checker.definition.cases import Tables
from zermelo.checker.definition.positions import Keys, Position
from zermelo.games import GameError
from zermelo.games.picture import Picture, Point, Surface
from zermelo.games.picture import Piece as PieceSign

_NUMBER = re.compile(r"[0-9]{1,7}", re.ASCII)
_LONGEST = 1000


class Writing:
    def __init__(self, tables: Tables, keys: Keys) -> None:
        self._tables, self._setup, self._keys = tables, tables.setup, keys
        board = self._setup.board
        fixed = len(self._setup.heap_counters()) or (2 * board.holes + 2 if board.holes else 0)
        #: The counters that are written by name, those of both sides together.
        self._named: dict[str, list[int]] = {}
        for at, counter in enumerate(self._setup.counters):
            if at >= fixed:
                self._named.setdefault(counter.name, []).append(at)

    # -- writing ------------------------------------------------------------------------

    def write(self, position: Position) -> str:
        words = ["/".join(self._body(position)), self._setup.sides[position.turn]]
        for name, places in self._named.items():
            values = [position.counters[at] for at in places]
            if values != [self._setup.counters[at].start for at in places]:
                words.append(f"{name}={','.join(map(str, values))}")
        if position.pending >= 0:
            words.append(f"at={self._setup.board.names[position.pending]}")
        if position.passing:
            words.append("pass")
        return " ".join(words)

    def draw(self, position: Position) -> str:
        board = [" ".join(line) if self._setup.board.size else line
                 for line in self._body(position)]
        return "\n".join([*board, *self._captions(position)])

    def picture(self, position: Position) -> Picture:
        """The cells with their pieces; heaps and pits are told in words."""
        setup, board = self._setup, self._setup.board
        kinds = [None, *(PieceSign(piece.kind, piece.sign, side=piece.side)
                         for piece in setup.pieces[1:])]
        points = tuple(
            Point(name, row, col, kinds[value])
            for name, (row, col), value in zip(
                board.names, board.places, position.cells, strict=True
            )
        )
        told = [] if board.size else self._body(position)
        return Picture(Surface.SQUARES, points, (*told, *self._captions(position)))

    def _captions(self, position: Position) -> list[str]:
        lines = [
            f"{name}: {', '.join(str(position.counters[at]) for at in places)}"
            for name, places in self._named.items()
        ]
        if position.pending >= 0:
            lines.append(f"the piece on {self._setup.board.names[position.pending]} goes on")
        side = self._setup.sides[position.turn]
        return [*lines, f"{side} must pass" if position.passing else f"{side} to move"]

    def _body(self, position: Position) -> list[str]:
        """The board, row by row."""
        setup, board = self._setup, self._setup.board
        if board.kind == "heaps":
            sizes = [size for size in range(max(board.heaps), 0, -1)
                     for _ in range(position.counters[size - 1])]
            return ["-".join(map(str, sizes)) or "0"]
        if board.kind == "pits":
            end = board.holes + 1
            return [",".join(map(str, position.counters[first : first + end]))
                    for first in (0, end)]
        signs = [setup.pieces[value].sign for value in position.cells]
        if board.kind == "points":
            return ["".join(signs)]
        rows: dict[int, str] = {}
        for (row, _), sign in zip(board.places, signs, strict=True):
            rows[row] = rows.get(row, "") + sign
        return [rows[row] for row in sorted(rows)]

    # -- reading ------------------------------------------------------------------------

    def read(self, text: str) -> Position:
        """The position that is written so and in no other way; `GameError` if there is none."""
        words = text.split() if len(text) <= _LONGEST else []
        if len(words) < 2 or words[1] not in self._setup.sides:
            raise GameError("this is no position")
        cells, counters = self._read_body(words[0])
        pending, passing = -1, False
        for word in words[2:]:
            name, _, value = word.partition("=")
            if word == "pass":
                passing = True
            elif name == "at" and value in self._setup.board.names and self._tables.chains:
                pending = self._setup.board.names.index(value)
            elif name in self._named:
                self._set(counters, self._named[name], value.split(","))
            else:
                raise GameError(f"{word[:40]!a} means nothing in a position")
        position = self._keys.checked(Position(
            cells, tuple(counters), pending, self._setup.sides.index(words[1]), passing
        ))
        if self.write(position) != text:
            raise GameError("this is not how the position is written")
        return position

    def _read_body(self, word: str) -> tuple[bytes, list[int]]:
        setup, board = self._setup, self._setup.board
        counters = [counter.start for counter in setup.counters]
        if board.kind == "heaps":
            sizes = word.split("-")
            for at in setup.heap_counters():
                self._set(counters, [at], [str(sizes.count(str(at + 1)))])
        elif board.kind == "pits":
            self._set(counters, list(range(2 * board.holes + 2)), word.replace("/", ",").split(","))
        values = {piece.sign: value for value, piece in enumerate(setup.pieces)}
        signs = word.replace("/", "") if board.size else ""
        if len(signs) != board.size or any(sign not in values for sign in signs):
            raise GameError("this is no position of the board")
        return bytes(values[sign] for sign in signs), counters

    def _set(self, counters: list[int], places: list[int], texts: list[str]) -> None:
        if len(texts) != len(places) or not all(map(_NUMBER.fullmatch, texts)):
            raise GameError("these are no numbers of a position")
        for at, text in zip(places, texts, strict=True):
            if int(text) > self._setup.counters[at].most:
                raise GameError(f"{text} is above {self._setup.counters[at].most}")
            counters[at] = int(text)
