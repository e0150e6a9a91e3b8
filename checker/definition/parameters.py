"""The parameters of a definition and the values that a spec gives them."""

from __future__ import annotations

import re
from dataclasses import dataclass

from zermelo.checker.definition.limits import LARGEST, TextError
from zermelo.checker.definition.reading import Section

Value = int | tuple[int, ...]
_NAME = re.compile(r"[a-z][a-z0-9_]{0,23}", re.ASCII)
_NUMBER = re.compile(r"[0-9]{1,7}", re.ASCII)
_MOST_PARAMETERS = 16
_LONGEST_LIST = 32


@dataclass(frozen=True, slots=True)
class Parameter:
    default: Value
    low: int
    high: int
    words: tuple[str, ...]
    #: How many numbers a list may have; 0: it is one number, or a word.
    length: int

    def value(self, text: str) -> Value:
        """What a spec says; `TextError` if that is not allowed."""
        if self.words:
            if text not in self.words:
                raise TextError(f"{text[:40]!a} in the spec is none of {', '.join(self.words)}")
            return self.words.index(text)
        parts = text.split("-") if self.length else [text]
        if len(parts) > max(self.length, 1) or not all(map(_NUMBER.fullmatch, parts)):
            raise TextError(f"{text[:40]!a} in the spec cannot be read")
        numbers = tuple(int(part) for part in parts)
        if not all(self.low <= number <= self.high for number in numbers):
            raise TextError(f"{text[:40]!a} in the spec is not within {self.low} to {self.high}")
        return numbers if self.length else numbers[0]


@dataclass(frozen=True, slots=True)
class Values:
    """The parameters with their values."""

    given: dict[str, Value]
    #: What expressions know: the numbers, and the words of choices as their places.
    numbers: dict[str, int]


def read_values(document: Section, params: str) -> Values:
    """The values that the part of a spec behind the colon gives the parameters."""
    table = document.section("params")
    known = {name: _parameter(table, name) for name in table.names()}
    if len(known) > _MOST_PARAMETERS:
        table.fail("", f"more than {_MOST_PARAMETERS} parameters")
    leading = []
    if "spec" in document:
        leading = [part.strip() for part in document.text("spec").split(" x ")]
    if any(name not in known for name in leading):
        document.fail("spec", "it names no parameter")
    given = {name: parameter.default for name, parameter in known.items()}
    for name, text in _assignments(leading, params):
        if name not in known:
            raise TextError(f"the spec sets {name[:40]!a}, which is no parameter")
        given[name] = known[name].value(text)
    numbers = {name: value for name, value in given.items() if isinstance(value, int)}
    for parameter in known.values():
        for place, word in enumerate(parameter.words):
            numbers.setdefault(word, place)
    return Values(given, numbers)


def _assignments(leading: list[str], params: str) -> list[tuple[str, str]]:
    """The names and texts of a spec: first those that stand without a name."""
    found: list[tuple[str, str]] = []
    if not params:
        return found
    pieces = params.split(",")
    if leading:
        texts = pieces.pop(0).split("x") if len(leading) > 1 else [pieces.pop(0)]
        if len(texts) != len(leading):
            raise TextError(f"the spec has {len(texts)} sizes where {len(leading)} are needed")
        found += zip(leading, texts, strict=True)
    for piece in pieces:
        name, _, text = piece.partition("=")
        if any(name == other for other, _ in found):
            raise TextError(f"the spec sets {name[:40]!a} twice")
        found.append((name, text))
    return found


def _parameter(table: Section, name: str) -> Parameter:
    if not _NAME.fullmatch(name):
        table.fail(name[:40], "it is no name")
    inner = table.section(name)
    words = tuple(inner.texts("choices"))
    if words:
        default = words.index(inner.choice("default", words, words[0]))
        inner.leave("min", "max", "most")
        inner.finish()
        return Parameter(default, 0, len(words) - 1, words, 0)
    low = inner.whole("min", 0, LARGEST)
    high = inner.whole("max", low, LARGEST)
    if "most" in inner:
        length = inner.whole("most", 1, _LONGEST_LIST)
        values = inner.take("default")
        if not isinstance(values, list) or not 1 <= len(values) <= length or not all(
            type(value) is int and low <= value <= high for value in values
        ):
            inner.fail("default", "it is no list of allowed numbers")
        inner.finish()
        return Parameter(tuple(values), low, high, (), length)
    default = inner.whole("default", low, high)
    inner.finish()
    return Parameter(default, low, high, (), 0)
