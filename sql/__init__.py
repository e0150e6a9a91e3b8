"""SQL as files: the schema, numbered migrations and named queries.

A query is written once, in `queries/*.sql`, under a line ``-- name: its_name``; the
comment below that line says what the query is for. Python asks for it by name.
"""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files
from typing import NamedTuple

_NAME = re.compile(r"^-- name: (\w+)$", re.MULTILINE)
_MIGRATION = re.compile(r"(\d{4})_(\w+)\.sql")


class Migration(NamedTuple):
    version: int
    name: str
    script: bytes


def query(name: str) -> bytes:
    """The named query, with psycopg placeholders."""
    return _queries()[name]


def schema() -> bytes:
    """The script that creates everything in an empty database."""
    return files(__package__).joinpath("schema.sql").read_bytes()


@cache
def migrations() -> list[Migration]:
    """Every migration, oldest first; their versions count from 1 without a gap."""
    found = []
    for file in files(__package__).joinpath("migrations").iterdir():
        if matched := _MIGRATION.fullmatch(file.name):
            found.append(Migration(int(matched[1]), matched[2], file.read_bytes()))
    return sorted(found)


@cache
def _queries() -> dict[str, bytes]:
    found: dict[str, bytes] = {}
    for file in files(__package__).joinpath("queries").iterdir():
        if not file.name.endswith(".sql"):
            continue
        _, *parts = _NAME.split(file.read_text("utf-8"))
        for name, text in zip(parts[::2], parts[1::2], strict=True):
            if name in found:
                raise ValueError(f"query {name!r} is defined twice")
            found[name] = text.strip().encode()
    return found
