"""Positions: a byte for each cell, the counters, the piece that must go on, and whose turn it is.

The key is one number with a digit for each of them, each in a base of its own.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from zermelo.checker.definition.cases import Tables
from zermelo.checker.definition.limits import MOST_BITS, TextError
from zermelo.checker.definition.terms import Map
from zermelo.games import KEY_BYTES, GameError, Key


@dataclass(frozen=True, slots=True)
class Position:
    cells: bytes
    counters: tuple[int, ...]
    #: The cell whose piece must go on; -1: none.
    pending: int
    turn: int
    #: Whether the side to move must pass because the other moves again.
    passing: bool
    known: dict[Any, bool] = field(default_factory=dict, compare=False, repr=False)

    def image(self, by: Map) -> Position:
        counters = list(self.counters)
        for at, count in enumerate(self.counters):
            counters[by.counters[at]] = count
        pending = by.cells[self.pending] if self.pending >= 0 else -1
        return Position(by.board(self.cells), tuple(counters), pending, self.turn ^ by.exchange,
                        self.passing)

    @property
    def digits(self) -> tuple[bytes, tuple[int, ...], int, int, bool]:
        """The digits of the key, the most significant first: they compare as keys do."""
        return self.cells, self.counters, self.pending, self.turn, self.passing


class Keys:
    """Positions as keys and back."""

    def __init__(self, tables: Tables) -> None:
        setup = tables.setup
        self._size = setup.board.size
        self._seeds, self._pits = setup.all_seeds, 2 * setup.board.holes + 2
        #: The base of every digit, the most significant first.
        self._bases = [
            *[len(setup.pieces)] * self._size,
            *(counter.most + 1 for counter in setup.counters),
            self._size + 1 if tables.chains else 1, 2, 2,
        ]
        states = 1
        for base in self._bases:
            states *= base
        if (states - 1).bit_length() > MOST_BITS:
            raise TextError(f"a position takes more than {MOST_BITS} bits")

    def encode(self, position: Position) -> Key:
        digits = (*position.cells, *position.counters, position.pending + 1, position.turn,
                  int(position.passing))
        number = 0
        for digit, base in zip(digits, self._bases, strict=True):
            number = number * base + digit
        return number.to_bytes(KEY_BYTES)

    def decode(self, key: Key) -> Position:
        number, digits = int.from_bytes(key), []
        for base in reversed(self._bases):
            number, digit = divmod(number, base)
            digits.append(digit)
        passing, turn, pending, *rest = digits
        rest.reverse()
        if len(key) != KEY_BYTES or number:
            raise GameError(f"key {key.hex()} is no position")
        return self.checked(Position(
            bytes(rest[: self._size]), tuple(rest[self._size :]), pending - 1, turn, bool(passing)
        ))

    def checked(self, position: Position) -> Position:
        """`GameError` for a number of seeds that no game can have."""
        if self._seeds and sum(position.counters[: self._pits]) != self._seeds:
            raise GameError(f"there are {self._seeds} seeds in all")
        return position
