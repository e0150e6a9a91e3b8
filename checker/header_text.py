"""The header of a certificate as text: a JSON object of a few numbers and short texts."""

from __future__ import annotations

import json
from typing import Any

from zermelo.checker.certificate import DamagedError, Header
from zermelo.checker.limits import MAX_TEXT
from zermelo.games import GameError, open_game

_TYPES = {"int": int, "str": str}


def read_header(text: bytes) -> Header:
    """The header; `DamagedError` unless it makes sense and can be shown on a terminal."""
    try:
        told = json.loads(text, object_pairs_hook=_distinct)
        _check_fields(told)
        header = Header(**told)
        game = open_game(header.game)
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


def _check_fields(told: Any) -> None:
    fields = {name: kind for name, kind in Header.__annotations__.items() if kind in _TYPES}
    if not isinstance(told, dict) or set(told) != set(fields):
        raise ValueError("it has other fields than a header has")
    for name, kind in fields.items():
        value = told[name]
        if type(value) is not _TYPES[kind]:
            raise ValueError(f"{name} is no {'number' if kind == 'int' else 'text'}")
        if isinstance(value, str) and not value.isprintable():
            raise ValueError(f"{name} has signs that cannot be printed")
        if isinstance(value, str) and name != "position" and len(value) > MAX_TEXT:
            raise ValueError(f"{name} has {len(value)} characters; at most {MAX_TEXT} are allowed")
