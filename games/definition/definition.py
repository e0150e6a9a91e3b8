"""A definition: its text, its parameters, and the checked tables for values of them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache

from zermelo.games.definition.board import read_board
from zermelo.games.definition.document import Table, read_document
from zermelo.games.definition.errors import DefinitionError, shorten
from zermelo.games.definition.ground import ground
from zermelo.games.definition.limits import MOST_SCORE, MOST_STATE_BITS
from zermelo.games.definition.measure import Measure, prove_end
from zermelo.games.definition.model import read_model
from zermelo.games.definition.params import Params, Value, read_params
from zermelo.games.definition.picture import Style, read_style
from zermelo.games.definition.ranges import range_of
from zermelo.games.definition.sources import digest_of
from zermelo.games.definition.static import number
from zermelo.games.definition.symmetry import Symmetry, prove_symmetries
from zermelo.games.definition.tables import Tables
from zermelo.games.definition.terms import size_of

LANGUAGE = 1
KEYS = (
    "zermelo", "game", "title", "spec", "require", "score", "params", "board", "regions",
    "players", "pieces", "counters", "start", "move", "end", "limit", "picture",
)  # fmt: skip
LONGEST_TITLE = 100
_NAME = re.compile(r"[a-z][a-z0-9-]{0,31}", re.ASCII)


@dataclass(frozen=True)
class Compiled:
    """A definition with all parameters fixed, and what was proved about it."""

    tables: Tables
    symmetries: tuple[Symmetry, ...]
    measure: Measure
    max_score: int
    #: The number of positions that have a key, reachable or not.
    states: int
    style: Style

    @property
    def state_bits(self) -> int:
        return (self.states - 1).bit_length()

    @cached_property
    def work(self) -> int:
        """Operations that one position takes at most."""
        sides = []
        for moves, ends in zip(self.tables.instances, self.tables.ends, strict=True):
            every = [each for cases in moves for each in cases]
            forfeited = {each.forfeits for each in every}
            # What a move forfeits is asked for once more than whether it is possible.
            guards = sum(size_of(each.guard) * (1 + (each.rule in forfeited)) for each in every)
            sides.append(guards + sum(size_of(end.condition) for end in ends))
        return max(sides)


@dataclass(frozen=True)
class Definition:
    text: str
    #: What errors call it: the name of the file.
    file: str
    name: str
    title: str
    params: Params
    document: Table = field(repr=False, compare=False)

    @cached_property
    def digest(self) -> str:
        return digest_of(self.text)

    def compile(self, values: Mapping[str, Value]) -> Compiled:
        """Ground and check everything; `DefinitionError` says what is wrong and where."""
        return _compile(self, tuple(values.items()))

    def __hash__(self) -> int:
        return hash(self.text)


def read_definition(text: str, file: str = "definition") -> Definition:
    """The definition in a text, its form checked; `compile` checks the rest."""
    document = read_document(text, file)
    document.only(*KEYS)
    if document.integer("zermelo", 0, 1_000_000) != LANGUAGE:
        document.place("zermelo").fail(
            f"version {document.raw('zermelo')} of the language; this program knows {LANGUAGE}"
        )
    name = document.text("game")
    if not _NAME.fullmatch(name):
        document.place("game").fail(
            f"'{shorten(name)}' is no name of a game: 1 to 32 of a-z, 0-9 and -"
        )
    title = document.text("title", "")
    if len(title) > LONGEST_TITLE or not title.isprintable():
        document.place("title").fail(f"a title has at most {LONGEST_TITLE} printable characters")
    return Definition(text, file, name, title, read_params(document, name), document)


@lru_cache(maxsize=32)
def _compile(definition: Definition, items: tuple[tuple[str, Value], ...]) -> Compiled:
    document, values = definition.document, dict(items)
    numbers = definition.params.numbers(values)
    spec = f"{definition.name}:{definition.params.write(values, short=True)}"
    for text in document.texts("require"):
        if not number(document.parsed("require", text), numbers):
            document.place("require").fail(f"{text!r} does not hold for {spec}")
    board = read_board(document, values, numbers)
    model = read_model(document, board, numbers)
    tables = ground(document, model)
    states = _check_states(document, tables)
    max_score = _check_scores(document, tables)
    measure = prove_end(tables)
    if measure is None:
        place = document.place("limit" if tables.limit else "move")
        place.fail(_no_measure(tables))
    style = read_style(document, model)
    return Compiled(tables, tuple(prove_symmetries(tables)), measure, max_score, states, style)


def _no_measure(tables: Tables) -> str:
    if tables.limit is None:
        return (
            "that every game ends cannot be proved; write [limit] with plies = a number, and"
            " since = the rules after which the count starts again"
        )
    return (
        "the limit does not make every game end: the rules in `since` may be used for ever;"
        " leave out those that take nothing off the board"
    )


def _check_states(document: Table, tables: Tables) -> int:
    model = tables.model
    states: int = 2 * 2 * len(model.values) ** model.board.cells * (
        model.board.cells + 1 if model.chains else 1
    )
    for counter in model.counters:
        states *= counter.most + 1
    bits = (states - 1).bit_length()
    if bits > MOST_STATE_BITS:
        document.place("board").fail(
            f"a position takes {bits} bits; at most {MOST_STATE_BITS} are allowed"
        )
    return states


def _check_scores(document: Table, tables: Tables) -> int:
    most = 1
    for score in tables.scores:
        if score is None:
            continue
        try:
            low, high = range_of(score, tables.model)
        except DefinitionError as error:
            document.place("score").fail(str(error))
        most = max(most, -low, high)
    if most > MOST_SCORE:
        document.place("score").fail(f"scores up to {most}; at most {MOST_SCORE} are allowed")
    for _, _, instance in tables.every():
        for change in instance.changes:
            try:
                range_of(change.amount, tables.model)
            except DefinitionError as error:
                document.place("move").fail(f"then: {error}")
    return most
