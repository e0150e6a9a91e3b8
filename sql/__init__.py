"""SQL as files: the schema, numbered migrations and named queries.

A query is written once, in `queries/*.sql`, under a line ``-- name: its_name``; the
comment below that line says what the query is for. Python asks for it by name. A name in
braces stands for one in `sets.sql`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from typing import NamedTuple

_NAME = re.compile(r"^-- name: (\w+)$", re.MULTILINE)
_SET = re.compile(r"\{(\w+)\}")
_COMMENT = re.compile(r"^--.*\n", re.MULTILINE)
_MIGRATION = re.compile(r"(\d{4})_(\w+)\.sql")
#: How a migration begins after which programs of a former version may go on.
_SERVES = re.compile(rb"-- Serves programs from version (\d+) on\.\n")


class Migration(NamedTuple):
    version: int
    name: str
    script: bytes
    #: The oldest version whose programs work with the schema of this one.
    serves: int


def query(name: str) -> bytes:
    """The named query, with psycopg placeholders."""
    return _queries()[name]


def schema() -> bytes:
    """The script that creates everything in an empty database."""
    return files(__package__).joinpath("schema.sql").read_bytes()


def new_database() -> str:
    """The script for an empty database that has no client yet: the schema, and a record of all
    migrations, whose names are words."""
    rows = ", ".join(f"({m.version}, '{m.name}', {m.serves})" for m in migrations())
    record = f"INSERT INTO schema_migrations (version, name, serves) VALUES {rows};\n"  # noqa: S608
    return schema().decode() + record


@cache
def migrations() -> list[Migration]:
    """Every migration, oldest first; their versions count from 1 without a gap."""
    found = []
    for file in files(__package__).joinpath("migrations").iterdir():
        if matched := _MIGRATION.fullmatch(file.name):
            version, script = int(matched[1]), file.read_bytes()
            found.append(Migration(version, matched[2], script, oldest_served(version, script)))
    return sorted(found)


def oldest_served(version: int, script: bytes) -> int:
    """The oldest version whose programs work after this migration, as its first line says."""
    said = _SERVES.match(script)
    return int(said[1]) if said else version


@cache
def sets() -> dict[str, str]:
    """The sets of states and expressions that queries name in braces."""
    text = files(__package__).joinpath("sets.sql").read_text("utf-8")
    return {name: _COMMENT.sub("", body).strip() for name, body in _named(text)}


@cache
def _queries() -> dict[str, bytes]:
    found: dict[str, bytes] = {}
    for file in files(__package__).joinpath("queries").iterdir():
        if not file.name.endswith(".sql"):
            continue
        for name, text in _named(file.read_text("utf-8")):
            if name in found:
                raise ValueError(f"query {name!r} is defined twice")
            found[name] = _SET.sub(lambda named: sets()[named[1]], text.strip()).encode()
    return found


def _named(text: str) -> Iterator[tuple[str, str]]:
    _, *parts = _NAME.split(text)
    return zip(parts[::2], parts[1::2], strict=True)
