"""Each word that queries and services share is written in one place."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import zermelo
from zermelo.server.vocabulary import OPEN_WORKUNITS, Channel, Lock
from zermelo.sql import query, sets

ROOT = Path(zermelo.__file__).resolve().parent
QUERIES = {path.name: path.read_text() for path in (ROOT / "sql" / "queries").glob("*.sql")}
EVERY_QUERY = "\n".join(QUERIES.values())
OPEN_LIST = re.compile(r"'ready',\s*'leased',\s*'returned',\s*'exhausted'\)")


@cache
def strings_of_services() -> list[tuple[str, str]]:
    """All strings in the code that talks to the database, but for docstrings, by file."""
    found = []
    for folder in ("server", "research", "proof", "cli", "web"):
        for path in sorted((ROOT / folder).resolve().rglob("*.py")):
            if path.name == "vocabulary.py":
                continue
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, ast.Constant) and isinstance(node.value, str):
                    found.append((f"{folder}/{path.name}", node.value))
    return found


def test_the_open_states_are_written_once() -> None:
    assert sets()["open_states"] == str(tuple(str(state) for state in OPEN_WORKUNITS))
    assert [name for name, text in QUERIES.items() if OPEN_LIST.search(text)] == []
    assert EVERY_QUERY.count("{open_states}") > 10
    assert "{open_states}" not in query("open_workunits").decode()
    assert OPEN_LIST.search(query("open_workunits").decode())


def test_queries_notify_only_channels_that_have_a_name() -> None:
    told = set(re.findall(r"pg_notify\('(\w+)'", EVERY_QUERY))
    assert told
    assert told <= {str(channel) for channel in Channel}


def test_services_take_channels_from_the_vocabulary() -> None:
    channels = re.compile(rf"\b({'|'.join(Channel)})\b")
    # Metrics have names of their own, which look alike.
    found = [(file, text) for file, text in strings_of_services()
             if channels.search(text) and not file.endswith("metrics.py")]  # fmt: skip
    assert found == []


def test_locks_in_queries_are_those_of_the_vocabulary() -> None:
    locks = re.findall(r"pg_(?:try_)?advisory_\w*lock\((\w+|%s)(?:, %s)?\)", EVERY_QUERY)
    assert [int(lock) for lock in locks if lock.isdecimal()] == [Lock.TREE]
    assert f"pg_advisory_xact_lock({Lock.TREE}, %s)" in query("lock_tree").decode()
    assert len(set(Lock)) == len(Lock.__members__)


def test_every_query_is_used() -> None:
    names = re.findall(r"^-- name: (\w+)$", EVERY_QUERY, re.MULTILINE)
    assert set(names) - {text for _, text in strings_of_services()} == set()


def test_established_terms_have_not_become_metaphors_again() -> None:
    """What these were renamed to: docs/decisions/0016-one-vocabulary.md."""
    metaphors = re.compile(r"\b_?(mourn|condemn|clerk|desk|stock)(s|ed|ing)?\b")
    folders = ("client", "server", "research", "sql", "proto")
    found = [
        (f"{folder}/{path.name}", word[0])
        for folder in folders for path in sorted((ROOT / folder).resolve().rglob("*.py"))
        for word in metaphors.finditer(path.read_text())
    ]
    assert found == []
