"""The tables of a definition: every key is taken once, and what nobody took is an error."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

from zermelo.checker.definition.expressions import Tree, parse
from zermelo.checker.definition.limits import DEEPEST, LARGEST, LONGEST_TEXT, TextError


class Section:
    """A table of the text."""

    def __init__(self, values: Mapping[str, Any], where: str) -> None:
        self._values, self._where = values, where
        self._taken: set[str] = set()

    def fail(self, key: str, message: str) -> NoReturn:
        raise TextError(f"{self._where}{key}: {message}")

    def __contains__(self, key: str) -> bool:
        return key in self._values

    def names(self) -> list[str]:
        return list(self._values)

    def take(self, key: str, default: Any = None) -> Any:
        self._taken.add(key)
        value = self._values.get(key, default)
        if value is None:
            self.fail(key, "it is missing")
        return value

    def leave(self, *keys: str) -> None:
        """These keys may stand there and mean nothing."""
        self._taken.update(keys)

    def finish(self) -> None:
        """`TextError` for a key that nobody took: it might mean something."""
        for key in self._values:
            if key not in self._taken:
                self.fail(key[:40], "there is no such key")

    # -- values by type ---------------------------------------------------------------

    def text(self, key: str, default: str | None = None) -> str:
        value = self.take(key, default)
        if not isinstance(value, str):
            self.fail(key, "it is no text")
        return value

    def choice(self, key: str, choices: Sequence[str], default: str | None = None) -> str:
        value = self.text(key, default)
        if value not in choices:
            self.fail(key, f"it is none of {', '.join(choices)}")
        return value

    def whole(self, key: str, low: int, high: int) -> int:
        value = self.take(key)
        if type(value) is not int or not low <= value <= high:
            self.fail(key, f"it is no number from {low} to {high}")
        return value

    def flag(self, key: str) -> bool:
        value = self.take(key, default=False)
        if not isinstance(value, bool):
            self.fail(key, "it is neither true nor false")
        return value

    def texts(self, key: str) -> list[str]:
        """A list of texts, or one text."""
        value = self.take(key, default=[])
        found = [value] if isinstance(value, str) else value
        if not isinstance(found, list) or not all(isinstance(each, str) for each in found):
            self.fail(key, "it is no list of texts")
        return found

    def tree(self, key: str, default: str | None = None) -> Tree:
        """An expression; a number stands for itself."""
        value = self.take(key, default)
        if type(value) is int:
            value = str(value)
        if not isinstance(value, str):
            self.fail(key, "it is no expression")
        return self.parsed(key, value)

    def trees(self, key: str) -> list[Tree]:
        return [self.parsed(key, text) for text in self.texts(key)]

    def parsed(self, key: str, text: str) -> Tree:
        try:
            return parse(text)
        except TextError as error:
            self.fail(key, str(error))

    def section(self, key: str) -> Section:
        value = self.take(key, default={})
        if not isinstance(value, dict):
            self.fail(key, "it is no table")
        return Section(value, f"{self._where}{key}.")

    def sections(self, key: str) -> list[Section]:
        value = self.take(key, default=[])
        if not isinstance(value, list) or not all(isinstance(each, dict) for each in value):
            self.fail(key, "it is no list of tables")
        return [
            Section(each, f"{self._where}{key} {at}.") for at, each in enumerate(value, 1)
        ]


def read_text(text: str) -> Section:
    """The whole text as a table; `TextError` if it is too large or no TOML."""
    if len(text.encode("utf-8", "surrogatepass")) > LONGEST_TEXT:
        raise TextError(f"a definition of more than {LONGEST_TEXT} bytes")
    try:
        values = tomllib.loads(text)
    except (ValueError, RecursionError):
        raise TextError("the definition is no TOML") from None
    if _depth(values) > DEEPEST:
        raise TextError(f"the definition is nested deeper than {DEEPEST} levels")
    document = Section(values, "")
    if document.whole("zermelo", 0, LARGEST) != 1:
        document.fail("zermelo", "only version 1 of the language is known")
    return document


def _depth(values: object) -> int:
    """Levels of tables and lists; no deeper than what TOML itself could read."""
    depth, level = 0, [values]
    while level:
        below: list[object] = []
        for each in level:
            if isinstance(each, dict):
                below += each.values()
            elif isinstance(each, list):
                below += each
        level, depth = below, depth + 1
    return depth - 1
