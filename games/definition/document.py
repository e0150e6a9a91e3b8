"""The text of a definition: TOML whose every value knows the line it stands on."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

from zermelo.games.definition.errors import DefinitionError, shorten, unknown
from zermelo.games.definition.expression import Node, parse_expression
from zermelo.games.definition.limits import MOST_NESTING, MOST_TEXT_BYTES

Path = tuple[str | int, ...]

_HEADER = re.compile(r"\s*\[(\[)?\s*([A-Za-z0-9_.-]+)\s*\]")
_KEY = re.compile(r"\s*([A-Za-z0-9_-]+)\s*[=.]")
_AT_LINE = re.compile(r" \(at line (\d+), column \d+\)$")


@dataclass(frozen=True, slots=True)
class Place:
    """Where in a definition something stands."""

    file: str
    line: int
    key: str

    def fail(self, message: str) -> NoReturn:
        raise DefinitionError(f"{self.file}:{self.line}: {self.key}: {message}")


@dataclass(frozen=True, slots=True)
class Expression:
    """A parsed expression with its text and place."""

    text: str
    tree: Node
    place: Place


class Table:
    """A table of the definition; every look at it checks what it finds."""

    def __init__(
        self, values: Mapping[str, Any], file: str, lines: Mapping[Path, int], path: Path = ()
    ) -> None:
        self._values, self._file, self._lines, self._path = values, file, lines, path

    def place(self, key: str | int = "") -> Place:
        path: Path = (*self._path, key) if key != "" else self._path
        known = path
        while known and known not in self._lines:
            known = known[:-1]
        words = [part if isinstance(part, str) else f"number {part + 1}" for part in path]
        return Place(self._file, self._lines.get(known, 1), ".".join(words) or "definition")

    def only(self, *known: str) -> None:
        """Fail for a key that is none of these."""
        for key in self._values:
            if key not in known:
                self.place(key).fail(unknown("key", key, known))

    def __contains__(self, key: str) -> bool:
        return key in self._values

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def raw(self, key: str) -> Any:
        if key not in self._values:
            self.place().fail(f"{key!r} is missing")
        return self._values[key]

    def _typed(self, key: str, kind: type, what: str) -> Any:
        value = self.raw(key)
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            self.place(key).fail(f"{shorten(value)} is not {what}")
        return value

    def text(self, key: str, default: str | None = None) -> str:
        if default is not None and key not in self:
            return default
        value: str = self._typed(key, str, "a text in quotes")
        return value

    def choice(self, key: str, choices: tuple[str, ...], default: str | None = None) -> str:
        value = self.text(key, default)
        if value not in choices:
            self.place(key).fail(unknown("value", value, choices))
        return value

    def integer(self, key: str, low: int, high: int, default: int | None = None) -> int:
        if default is not None and key not in self:
            return default
        value: int = self._typed(key, int, "a whole number")
        if not low <= value <= high:
            self.place(key).fail(f"{shorten(value)} is not within {low} to {high}")
        return value

    def flag(self, key: str) -> bool:
        return key in self and bool(self._typed(key, bool, "true or false"))

    def texts(self, key: str) -> list[str]:
        """A list of texts; one text stands for a list of one."""
        if key not in self:
            return []
        value = self.raw(key)
        found = [value] if isinstance(value, str) else value
        if not isinstance(found, list) or not all(isinstance(item, str) for item in found):
            self.place(key).fail(f"{shorten(value)} is not a list of texts in quotes")
        return list(found)

    def expression(self, key: str, default: str | None = None) -> Expression:
        value = self._values.get(key, default)
        if isinstance(value, int) and not isinstance(value, bool):
            value = str(value)
        if value is None or not isinstance(value, str):
            value = self.text(key)
        return self.parsed(key, value)

    def parsed(self, key: str, text: str) -> Expression:
        """An expression that is part of the value of `key`."""
        place = self.place(key)
        try:
            return Expression(text, parse_expression(text), place)
        except DefinitionError as error:
            place.fail(str(error))

    def table(self, key: str, *, optional: bool = True) -> Table:
        if optional and key not in self:
            return Table({}, self._file, self._lines, (*self._path, key))
        value = self._typed(key, dict, f"a table; write [{key}]")
        return Table(value, self._file, self._lines, (*self._path, key))

    def tables(self, key: str) -> list[Table]:
        if key not in self:
            return []
        value = self._typed(key, list, f"a list of tables; write [[{key}]]")
        for item in value:
            if not isinstance(item, dict):
                self.place(key).fail(f"{shorten(item)} is not a table; write [[{key}]]")
        return [
            Table(item, self._file, self._lines, (*self._path, key, number))
            for number, item in enumerate(value)
        ]


def read_document(text: str, file: str) -> Table:
    """The whole definition as a table; `DefinitionError` if it is no TOML or too large."""
    size = len(text.encode("utf-8", "surrogatepass"))
    if size > MOST_TEXT_BYTES:
        raise DefinitionError(
            f"{file}:1: a text of {size} bytes; at most {MOST_TEXT_BYTES} are allowed"
        )
    try:
        values = tomllib.loads(text)
    except RecursionError:
        raise DefinitionError(f"{file}:1: nested deeper than {MOST_NESTING} levels") from None
    except ValueError as error:
        message = str(error)
        found = _AT_LINE.search(message)
        line = int(found[1]) if found else text.count("\n") + 1
        reason = _AT_LINE.sub("", message).replace(" (at end of document)", ": the text ends")
        raise DefinitionError(f"{file}:{line}: this is no TOML: {shorten(reason)}") from None
    _check_nesting(values, file)
    return Table(values, file, line_numbers(text))


def _check_nesting(values: object, file: str) -> None:
    level, depth = [values], 0
    while level:
        if depth > MOST_NESTING:
            raise DefinitionError(f"{file}:1: nested deeper than {MOST_NESTING} levels")
        below: list[object] = []
        for item in level:
            if isinstance(item, dict):
                below.extend(item.values())
            elif isinstance(item, list):
                below.extend(item)
        level, depth = below, depth + 1


def line_numbers(text: str) -> dict[Path, int]:
    """The line of every table and key, as far as a look at each line by itself can tell."""
    found: dict[Path, int] = {}
    counts: dict[str, int] = {}
    path: Path = ()
    for number, line in enumerate(text.splitlines(), 1):
        if header := _HEADER.match(line):
            name = header[2]
            path = tuple(name.split("."))
            if header[1]:
                path = (*path, counts.get(name, 0))
                counts[name] = counts.get(name, 0) + 1
            found.setdefault(path[:1], number)
            found.setdefault(path, number)
        elif key := _KEY.match(line):
            found.setdefault((*path, key[1]), number)
    return found
