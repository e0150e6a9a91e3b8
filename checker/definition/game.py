"""A definition as the checker knows it, behind the interface of a game."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence

from zermelo.checker.definition.cases import read_tables
from zermelo.checker.definition.ending import highest_score, prove_end
from zermelo.checker.definition.limits import TextError
from zermelo.checker.definition.mapping import is_symmetry, map_named
from zermelo.checker.definition.playing import PASS, Rules
from zermelo.checker.definition.positions import Keys, Position
from zermelo.checker.definition.terms import Map
from zermelo.checker.definition.writing import Writing
from zermelo.games import Game, GameError, Key, Move, Score
from zermelo.games.picture import Picture

_SPEC = re.compile(r"([a-z][a-z0-9-]{0,31})@([0-9a-f]{32}):([ -~]*)", re.ASCII)
_DIGEST_BYTES = 16
_MOST_MAPS = 16
#: Where a map takes each cell, and whether it exchanges the sides.
_Turn = tuple[tuple[int, ...], bool]


class CheckedDefinition(Game[Position]):
    """The rules of a definition, made from its text, with the symmetries that were asked for.

    `TextError` if the text has another digest than the spec names, is no definition, is not
    proved to end, or lacks one of the symmetries.
    """

    def __init__(self, text: str, spec: str, symmetries: Sequence[str] = ("same",)) -> None:
        matched = _SPEC.fullmatch(spec)
        if not matched:
            raise TextError("the spec does not name a definition by its digest")
        name, digest, params = matched.groups()
        found = hashlib.blake2b(
            text.encode("utf-8", "surrogatepass"), digest_size=_DIGEST_BYTES
        ).hexdigest()
        if digest != found:
            raise TextError(f"the text has the digest {found}, but the spec names {digest}")
        self._tables = read_tables(text, params)
        if self._tables.name != name:
            raise TextError(f"the text defines {self._tables.name}, but the spec names {name}")
        self.name, self.spec, self.short_spec = name, spec, spec
        self.max_score = highest_score(self._tables)
        self._rules, self._keys = Rules(self._tables), Keys(self._tables)
        if len(self._tables.moves) > PASS:
            raise TextError(f"more than {PASS} moves have a name")
        self._writing = Writing(self._tables, self._keys)
        self.weighings = prove_end(self._tables)
        self.maps = self._prove(symmetries)

    def _prove(self, names: Sequence[str]) -> list[Map]:
        if names[:1] != ("same",) or len(names) > _MOST_MAPS or len(set(names)) < len(names):
            raise TextError("the symmetries are no list that begins with `same`")
        found: list[Map] = []
        proved: set[_Turn] = set()
        for name in names:
            by = map_named(self._tables.setup, name)
            # One symmetry after another is one, too: a few are proved, the others follow.
            if by is None or ((by.cells, by.exchange) not in proved
                              and not is_symmetry(self._tables, by)):
                raise TextError(f"{name[:40]!a} cannot be proved to be a symmetry")
            found.append(by)
            proved = _group_of({*proved, (by.cells, by.exchange)})
        # Else the smallest image of a position would not be that of its images.
        if len(proved) != len(found):
            raise TextError("the symmetries are no group")
        return found

    def proves_symmetry(self, name: str) -> bool:
        by = map_named(self._tables.setup, name)
        return by is not None and is_symmetry(self._tables, by)

    @property
    def family(self) -> str:
        return "definition"

    @property
    def is_definition(self) -> bool:
        return True

    # -- rules --------------------------------------------------------------------------

    def initial(self) -> Position:
        return self._rules.start()

    def moves(self, position: Position) -> list[Move]:
        return self._rules.moves(position)

    def is_final(self, position: Position) -> bool:
        return self._rules.is_over(position)

    def is_legal(self, position: Position, move: Move) -> bool:
        return self._rules.is_legal(position, move)

    def play(self, position: Position, move: Move) -> Position:
        return self._rules.play(position, move)

    def score(self, position: Position) -> Score:
        return self._rules.score(position)

    def evaluate(self, position: Position) -> Score:
        ended = self._rules.ended(position)
        guess = self._rules.counted(position) if ended is None else ended
        return max(-self.max_score, min(self.max_score, guess))

    def plies_left(self, position: Position) -> int:
        return position.cells.count(0) + sum(position.counters)

    # -- identity -----------------------------------------------------------------------

    def encode(self, position: Position) -> Key:
        return self._keys.encode(position)

    def decode(self, key: Key, history: bytes = b"") -> Position:
        if history:
            raise GameError("positions of definitions have no history")
        return self._keys.decode(key)

    def symmetries(self, position: Position) -> list[Position]:
        return [position.image(by) for by in self.maps]

    def canonical(self, position: Position) -> Position:
        # The boards come first in the keys: only where several are smallest the rest decides.
        boards = [by.board(position.cells) for by in self.maps]
        least = min(boards)
        images = [position.image(by) for by, board in zip(self.maps, boards, strict=True)
                  if board == least]
        return min(images, key=lambda image: image.digits)

    # -- text -----------------------------------------------------------------------------

    def parse(self, text: str) -> Position:
        return self._writing.read(text)

    def format(self, position: Position) -> str:
        return self._writing.write(position)

    def draw(self, position: Position) -> str:
        return self._writing.draw(position)

    def picture(self, position: Position) -> Picture:
        return self._writing.picture(position)

    def side_to_move(self, position: Position) -> str:
        return self._tables.setup.sides[position.turn]

    def move_number(self, name: str) -> Move:
        """The number of the move with this name, which the rules can make somewhere."""
        return PASS if name == "pass" else self._tables.moves.index(name)

    def move_name(self, move: Move) -> str:
        if move == PASS:
            return "pass"
        names = self._tables.moves
        return names[move] if 0 <= move < len(names) else f"move number {move}"


def _group_of(maps: set[_Turn]) -> set[_Turn]:
    """These and what they come to one after another, in any order, as often as one likes."""
    while True:
        joined = {
            (tuple(other[cell] for cell in one), exchange != other_exchange)
            for one, exchange in maps for other, other_exchange in maps
        }
        if joined <= maps:
            return maps
        maps |= joined
