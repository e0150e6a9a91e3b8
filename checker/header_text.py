"""The header of a certificate as text: a JSON object of a few numbers and short texts."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from zermelo.checker.certificate import DamagedError, Header
from zermelo.checker.header_game import game_of
from zermelo.checker.limits import MAX_TEXT
from zermelo.games import GameError

_TYPES = {"int": int, "str": str}
#: What only headers of the second format have.
_OF_DEFINITIONS = ("definition", "symmetries")
#: Texts that the rules of the game read and bound themselves.
_READ_BY_RULES = ("position", "definition")


def header_text(header: Header) -> bytes:
    """The header as a file of its format has it."""
    told = asdict(header)
    if header.format == 1:
        for name in _OF_DEFINITIONS:
            del told[name]
    return json.dumps(told).encode()


def read_header(text: bytes, version: int = 1) -> Header:
    """The header; `DamagedError` unless it makes sense and can be shown on a terminal."""
    try:
        told = json.loads(text, object_pairs_hook=_distinct)
        _check_fields(told, version)
        header = Header(**told)
        if header.format != version:
            raise ValueError("it has no definition")
        game = game_of(header)
        game.parse(header.position)
        if not -game.max_score <= header.lo <= header.hi <= game.max_score:
            raise ValueError(f"bounds {header.lo}..{header.hi}")
        if not 0 <= header.leaves <= header.entries:
            raise ValueError(f"{header.entries} entries with {header.leaves} leaves")
    except RecursionError:
        raise DamagedError("the certificate's header makes no sense: it is nested") from None
    except (GameError, ValueError) as error:
        raise DamagedError(f"the certificate's header makes no sense: {error}") from None
    return header


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    told = dict(pairs)
    if len(told) != len(pairs):
        raise ValueError("it tells a field twice")
    return told


def _check_fields(told: Any, version: int) -> None:
    fields = {
        name: kind for name, kind in Header.__annotations__.items()
        if kind in _TYPES and (version > 1 or name not in _OF_DEFINITIONS)
    }
    if not isinstance(told, dict) or set(told) != set(fields):
        raise ValueError("it has other fields than a header has")
    for name, kind in fields.items():
        value = told[name]
        if type(value) is not _TYPES[kind]:
            raise ValueError(f"{name} is no {'number' if kind == 'int' else 'text'}")
        if isinstance(value, str) and name != "definition" and not value.isprintable():
            raise ValueError(f"{name} has signs that cannot be printed")
        if isinstance(value, str) and name not in _READ_BY_RULES and len(value) > MAX_TEXT:
            raise ValueError(f"{name} has {len(value)} characters; at most {MAX_TEXT} are allowed")
