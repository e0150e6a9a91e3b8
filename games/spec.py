"""Game specs: ``NAME:ROWSxCOLS[,option=value]...``, the same string everywhere."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from zermelo.games.interface import GameError

_SIZE = re.compile(r"([0-9]{1,3})x([0-9]{1,3})", re.ASCII)
_LONGEST_SPEC = 200


@dataclass(frozen=True, slots=True)
class Spec:
    """A spec taken apart, before a game has checked that it makes sense."""

    name: str
    rows: int
    cols: int
    options: Mapping[str, str]

    def size(self, low: int, high: int) -> tuple[int, int]:
        """Rows and columns, each checked to lie within ``low..high``."""
        if not (low <= self.rows <= high and low <= self.cols <= high):
            raise GameError(
                f"{self.name} board {self.rows}x{self.cols}: each side must be {low} to {high}"
            )
        return self.rows, self.cols

    def choices(self, allowed: Mapping[str, Sequence[str]]) -> dict[str, str]:
        """Every allowed option with its value; the first choice is the default."""
        for option, value in self.options.items():
            if option not in allowed:
                raise GameError(
                    f"{self.name} has no option {option!r}; known: {', '.join(allowed)}"
                )
            if value not in allowed[option]:
                raise GameError(
                    f"{option}={value!r} is not allowed; choose {' or '.join(allowed[option])}"
                )
        return {option: self.options.get(option, values[0]) for option, values in allowed.items()}


def definition_digest(spec: str) -> str:
    """The digest in ``name@digest:params``; empty for a spec that names no definition by it."""
    return spec.partition(":")[0].partition("@")[2]


def check_length(text: str) -> None:
    if len(text) > _LONGEST_SPEC:
        raise GameError(f"game spec of {len(text)} characters; at most {_LONGEST_SPEC} allowed")


def parse_spec(text: str) -> Spec:
    check_length(text)
    name, colon, rest = text.partition(":")
    size, *options = rest.split(",")
    matched = _SIZE.fullmatch(size)
    if not (name and colon and matched):
        raise GameError(
            f"malformed game spec {text!r}; write NAME:ROWSxCOLS[,option=value], e.g. reversi:6x6"
        )
    pairs: dict[str, str] = {}
    for item in options:
        option, equals, value = item.partition("=")
        if not (option and equals and value):
            raise GameError(f"malformed option {item!r} in {text!r}; write option=value")
        if option in pairs:
            raise GameError(f"option {option!r} is given twice in {text!r}")
        pairs[option] = value
    return Spec(name, int(matched[1]), int(matched[2]), pairs)


def format_spec(
    name: str, rows: int, cols: int, options: Mapping[str, str], defaults: Mapping[str, str]
) -> str:
    """The spec of these parameters, without the options that have their default value."""
    parts = [f"{option}={value}" for option, value in options.items()
             if value != defaults.get(option)]
    return ",".join([f"{name}:{rows}x{cols}", *parts])
