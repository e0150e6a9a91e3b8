"""The parameters of a definition, and the specs that set them: ``NAME:SIZE[,option=value]``."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from zermelo.games.definition.document import Table
from zermelo.games.definition.errors import DefinitionError, shorten, unknown
from zermelo.games.definition.expression import OWNERS, WORDS
from zermelo.games.definition.limits import MOST_NUMBER

MOST_PARAMS = 16
MOST_LISTED = 32
_NAME = re.compile(r"[a-z][a-z0-9_]{0,23}", re.ASCII)
_NUMBER = re.compile(r"[0-9]{1,7}", re.ASCII)

Value = int | tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Param:
    """One parameter: a number, a list of numbers, or one of several words."""

    name: str
    default: Value
    low: int
    high: int
    words: tuple[str, ...] = ()
    #: How many numbers a list may have; 0: it is no list.
    most: int = 0

    def parse(self, text: str) -> Value:
        if self.words:
            if text not in self.words:
                raise DefinitionError(
                    f"{self.name}={shorten(text)!r} is not allowed;"
                    f" choose {' or '.join(self.words)}"
                )
            return self.words.index(text)
        parts = text.split("-") if self.most else [text]
        if not all(_NUMBER.fullmatch(part) for part in parts):
            kind = "numbers such as 3-4-5" if self.most else "a whole number"
            raise DefinitionError(f"{self.name}={shorten(text)!r} is not {kind}")
        numbers = tuple(map(int, parts))
        for number in numbers:
            if not self.low <= number <= self.high:
                raise DefinitionError(
                    f"{self.name}={number} is not within {self.low} to {self.high}"
                )
        if self.most and len(numbers) > self.most:
            raise DefinitionError(f"{self.name}: {len(numbers)} numbers; at most {self.most}")
        return numbers if self.most else numbers[0]

    def write(self, value: Value) -> str:
        if self.words and isinstance(value, int):
            return self.words[value]
        return "-".join(map(str, value)) if isinstance(value, tuple) else str(value)

    def allowed(self) -> str:
        """What may be written, for people."""
        if self.words:
            return " or ".join(self.words)
        several = f", up to {self.most} of them joined by -" if self.most else ""
        return f"{self.low} to {self.high}{several}"


@dataclass(frozen=True, slots=True)
class Params:
    """All parameters of a definition; those in `size` stand first in a spec, without names."""

    game: str
    size: tuple[str, ...]
    params: Mapping[str, Param]

    def defaults(self) -> dict[str, Value]:
        return {name: param.default for name, param in self.params.items()}

    def parse(self, text: str) -> dict[str, Value]:
        """The values that the part of a spec behind the colon sets."""
        values = self.defaults()
        if not text:
            return values
        size, *options = text.split(",")
        if self.size:
            parts = size.split("x") if len(self.size) > 1 else [size]
            if len(parts) != len(self.size):
                raise DefinitionError(
                    f"malformed size '{shorten(size)}'; write {self.game}:{self.pattern()},"
                    f" e.g. {self.game}:{self.write_size(values)}"
                )
            for name, part in zip(self.size, parts, strict=True):
                values[name] = self.params[name].parse(part)
        elif size:
            options.insert(0, size)
        given = set()
        for item in options:
            name, equals, value = item.partition("=")
            if not (name and equals and value):
                raise DefinitionError(f"malformed option '{shorten(item)}'; write option=value")
            free = [other for other in self.params if other not in self.size]
            if name not in free:
                raise DefinitionError(f"{self.game}: {unknown('option', name, free)}")
            if name in given:
                raise DefinitionError(f"option {name!r} is given twice")
            given.add(name)
            values[name] = self.params[name].parse(value)
        return values

    def write(self, values: Mapping[str, Value], *, short: bool) -> str:
        options = [
            f"{name}={param.write(values[name])}"
            for name, param in self.params.items()
            if name not in self.size and not (short and values[name] == param.default)
        ]
        return ",".join([self.write_size(values), *options] if self.size else options)

    def write_size(self, values: Mapping[str, Value]) -> str:
        return "x".join(self.params[name].write(values[name]) for name in self.size)

    def pattern(self) -> str:
        return "x".join(name.upper() for name in self.size)

    def numbers(self, values: Mapping[str, Value]) -> dict[str, int]:
        """What expressions know: the parameters, and the words that parameters choose from."""
        found = {name: value for name, value in values.items() if isinstance(value, int)}
        for param in self.params.values():
            for at, word in enumerate(param.words):
                found.setdefault(word, at)
        return found


def read_params(document: Table, game: str) -> Params:
    table = document.table("params")
    found: dict[str, Param] = {}
    for name in table:
        place = table.place(name)
        if not _NAME.fullmatch(name) or name in OWNERS or name in WORDS:
            place.fail(f"'{shorten(name)}' is no name; names have a-z, 0-9 and _")
        found[name] = _read_param(table.table(name, optional=False), name)
    if len(found) > MOST_PARAMS:
        table.place().fail(f"{len(found)} parameters; at most {MOST_PARAMS}")
    size: tuple[str, ...] = ()
    if "spec" in document:
        size = tuple(part.strip() for part in document.text("spec").split(" x "))
        for name in size:
            if name not in found:
                document.place("spec").fail(unknown("parameter", name, found))
    return Params(game, size, found)


def _read_param(table: Table, name: str) -> Param:
    table.only("default", "min", "max", "choices", "most")
    words = table.texts("choices")
    if words:
        place = table.place("choices")
        if len(set(words)) != len(words) or not all(_NAME.fullmatch(word) for word in words):
            place.fail("the choices must be different names of a-z, 0-9 and _")
        default = table.choice("default", tuple(words), words[0])
        return Param(name, words.index(default), 0, len(words) - 1, tuple(words))
    low = table.integer("min", 0, MOST_NUMBER)
    high = table.integer("max", low, MOST_NUMBER)
    if "most" in table:
        most = table.integer("most", 1, MOST_LISTED)
        return Param(name, _numbers(table, low, high, most), low, high, most=most)
    return Param(name, table.integer("default", low, high), low, high)


def _numbers(table: Table, low: int, high: int, most: int) -> tuple[int, ...]:
    value, place = table.raw("default"), table.place("default")
    if not isinstance(value, list) or not value or len(value) > most:
        place.fail(f"{shorten(value)} is not a list of 1 to {most} numbers")
    for number in value:
        if type(number) is not int or not low <= number <= high:
            place.fail(f"{shorten(number)} is not within {low} to {high}")
    return tuple(value)
