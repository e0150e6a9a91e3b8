"""A definition with its parameters as a game like every other."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

from zermelo.games.definition.board import MAPS
from zermelo.games.definition.definition import Compiled, Definition
from zermelo.games.definition.measure import Feature
from zermelo.games.definition.params import Value
from zermelo.games.definition.picture import DefinedPictures
from zermelo.games.definition.reference import PASS, DefinedPosition, Reference
from zermelo.games.definition.text import TextForm, check_position
from zermelo.games.definition.words import rules_in_words
from zermelo.games.interface import KEY_BYTES, Game, GameError, Key, Move, Score
from zermelo.games.picture import Picture, Touch

FAMILY = "definition"


class DefinedGame(Game[DefinedPosition]):
    """The reference rules in the words of the game interface.

    The key is one number: the values of all cells, the counters, the pending piece, the turn
    and the forced pass are its digits, each in a base of its own.
    """

    def __init__(
        self, definition: Definition, values: Mapping[str, Value], *, listed: bool = False
    ) -> None:
        """`listed`: it is found by its name alone, as what the library brings along is."""
        self.definition, self.values = definition, dict(values)
        self.name, self.title = definition.name, definition.title
        self.compiled: Compiled = definition.compile(self.values)
        self.spec = self._spec(definition.digest, short=False)
        self.short_spec = self._spec("" if listed else definition.digest, short=True)
        self.max_score = self.compiled.max_score
        self.model = self.compiled.tables.model
        self.solo = self.model.solo
        self._reference = Reference(self.compiled.tables)
        self._text = TextForm(self.compiled.tables)
        self._pictures = DefinedPictures(self._reference, self.compiled.style)
        self._feature = self._lasting_feature()

    @property
    def family(self) -> str:
        return FAMILY

    @property
    def definition_text(self) -> str:
        return self.definition.text

    def rules(self) -> list[str]:
        return rules_in_words(self.definition.document, self.compiled.tables)

    def _spec(self, digest: str, *, short: bool) -> str:
        name = f"{self.name}@{digest}" if digest else self.name
        return f"{name}:{self.definition.params.write(self.values, short=short)}"

    # -- rules ---------------------------------------------------------------------

    def initial(self) -> DefinedPosition:
        return self._reference.initial()

    def moves(self, position: DefinedPosition) -> list[Move]:
        return self._reference.moves(position)

    def play(self, position: DefinedPosition, move: Move) -> DefinedPosition:
        if move == PASS or position.passing:
            if move != PASS or self.moves(position) != [PASS]:
                raise GameError(f"{self.move_name(move)} is not legal here")
        elif self._reference.end_score(position) is not None:
            raise GameError("the game is over")
        return self._reference.play(position, move)

    def score(self, position: DefinedPosition) -> Score:
        return self._reference.score(position)

    # -- hints ------------------------------------------------------------------------

    def evaluate(self, position: DefinedPosition) -> Score:
        ended = self._reference.end_score(position)
        guess = self._reference.counted(position) if ended is None else ended
        return max(-self.max_score, min(self.max_score, guess or 0))

    def plies_left(self, position: DefinedPosition) -> int:
        if self._feature is not None:
            return self._feature.of(position)
        return position.planes[0].bit_count() + sum(position.counters)

    def _lasting_feature(self) -> Feature | None:
        """The first feature of the measure, if no symmetry changes it."""
        feature = next(iter(self.compiled.measure.features), None)
        if feature is None or feature.turn is not None:
            return None
        for symmetry in self.compiled.symmetries:
            for at, weight in feature.counters.items():
                if feature.counters.get(symmetry.counters[at]) != weight:
                    return None
            for value, weights in feature.cells.items():
                image = feature.cells.get(symmetry.values[value])
                if image is None or any(
                    image[symmetry.cells[cell]] != weight for cell, weight in enumerate(weights)
                ):
                    return None
        return feature

    # -- identity ---------------------------------------------------------------------

    def encode(self, position: DefinedPosition) -> Key:
        number = 0
        for plane, tables in zip(position.planes[1:], self._digits, strict=True):
            for byte, table in zip(plane.to_bytes(len(tables), "little"), tables, strict=True):
                number += table[byte]
        for count, counter in zip(position.counters, self.model.counters, strict=True):
            number = number * (counter.most + 1) + count
        if self.model.chains:
            number = number * (self.model.board.cells + 1) + position.pending.bit_length()
        return (number << 2 | position.turn << 1 | position.passing).to_bytes(KEY_BYTES)

    @cached_property
    def _digits(self) -> list[list[list[int]]]:
        """For each value but that of empty cells: what every byte of its plane adds to a key."""
        cells, base = self.model.board.cells, len(self.model.values)
        found = []
        for value in range(1, base):
            tables = []
            for first in range(0, cells, 8):
                table = [0]
                for cell in range(first, min(first + 8, cells)):
                    digit = value * base ** (cells - 1 - cell)
                    table += [number + digit for number in table]
                tables.append(table)
            found.append(tables)
        return found

    def decode(self, key: Key, history: bytes = b"") -> DefinedPosition:
        if len(key) != KEY_BYTES or history:
            raise GameError(f"a {self.name} key is {KEY_BYTES} bytes without history")
        number = int.from_bytes(key)
        number, turn, passing = number >> 2, number >> 1 & 1, bool(number & 1)
        pending = 0
        if self.model.chains:
            number, pending = divmod(number, self.model.board.cells + 1)
        counters = []
        for counter in reversed(self.model.counters):
            number, count = divmod(number, counter.most + 1)
            counters.append(count)
        planes = [0] * len(self.model.values)
        for cell in reversed(range(self.model.board.cells)):
            number, value = divmod(number, len(planes))
            planes[value] |= 1 << cell
        if number:
            raise GameError(f"key {key.hex()} is no {self.short_spec} position")
        position = DefinedPosition(
            tuple(planes), tuple(reversed(counters)), 1 << pending >> 1, turn, passing
        )
        check_position(self.model, position)
        return position

    def symmetries(self, position: DefinedPosition) -> list[DefinedPosition]:
        return [symmetry.apply(position) for symmetry in self.compiled.symmetries]

    def symmetry_names(self) -> tuple[str, ...]:
        """The identity first."""
        found = []
        for symmetry in self.compiled.symmetries:
            name = next(name for name in MAPS if self.model.board.map_named(name) == symmetry.cells)
            found.append(f"{name}+exchange" if symmetry.exchange else name)
        return tuple(found)

    # -- text -------------------------------------------------------------------------

    def parse(self, text: str) -> DefinedPosition:
        return self._text.read(text)

    def format(self, position: DefinedPosition) -> str:
        return self._text.write(position)

    def picture(self, position: DefinedPosition) -> Picture:
        return self._pictures.picture(position)

    def touch(self, position: DefinedPosition, move: Move) -> Touch:
        return self._pictures.touch(position, move)

    def side_to_move(self, position: DefinedPosition) -> str:
        return self.model.side_names[position.turn]

    def move_name(self, move: Move) -> str:
        if move == PASS:
            return "pass"
        moves = self.compiled.tables.moves
        return moves[move] if 0 <= move < len(moves) else f"move number {move}"
