"""A certificate of a definition whose text, digest or symmetries were changed is refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.campaigns import certify
from tests.support.certificates import certificate_bytes
from tests.support.databases import new_database
from zermelo.checker import (
    Certificate,
    DamagedError,
    RefusedError,
    read_certificate,
    verify,
    write_certificate,
)
from zermelo.checker.header_text import header_text
from zermelo.games.definition.library import library_definition
from zermelo.games.definition.sources import digest_of
from zermelo.server.database import connect_once

SPEC = "mnk:3x3"


@pytest.fixture(scope="module")
def original(postgres: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("original") / "proof"
    with new_database(postgres) as url, connect_once(url) as connection:
        certify(connection, SPEC, path, node_budget=40, full=True)
    return path


def with_header(original: Path, path: Path, change: Callable[[dict[str, Any]], object]) -> Path:
    """The same entries under another header; every digest of the file is right."""
    data = original.read_bytes()
    certificate = read_certificate(original)
    told = json.loads(header_text(certificate.header))
    change(told)
    length = int.from_bytes(data[10:14])
    at, blocks = 14 + length + 16, []
    while size := int.from_bytes(data[at : at + 4]):
        blocks.append(data[at + 4 : at + 4 + size])
        at += 4 + size + 16
    path.write_bytes(certificate_bytes(json.dumps(told).encode(), blocks, version=data[9]))
    return path


def test_the_original_is_accepted(original: Path, tmp_path: Path) -> None:
    report = verify(original)
    assert report.complete
    assert report.header.lo == report.header.hi == 0
    assert report.header.format == 2
    assert verify(with_header(original, tmp_path / "same", lambda told: None)).complete


def other_text(told: dict[str, Any]) -> None:
    told["definition"] = told["definition"].replace("not misere", "misere")


def other_text_with_its_digest(told: dict[str, Any]) -> None:
    other_text(told)
    told["game"] = told["game"].replace(
        told["game"].partition("@")[2][:32], digest_of(told["definition"])
    )


@pytest.mark.parametrize(("change", "message"), [
    (other_text, "has the digest"),
    (lambda told: told.update(definition=told["definition"] + " "), "has the digest"),
    (lambda told: told.update(definition=""), "no definition"),
    (lambda told: told.update(definition="\ud800"), "has the digest"),
    (lambda told: told.update(game=told["game"].replace("@", "@0", 1)), "by its digest"),
    (lambda told: told.update(game=told["game"].replace("mnk", "nim")), "defines mnk"),
    (lambda told: told.update(game=told["game"].replace("3x3", "3x99")), "not within"),
    (lambda told: told.update(symmetries="same rotate flip"), "no group"),
    (lambda told: told.update(symmetries="same turn"), "cannot be proved"),
    (lambda told: told.update(symmetries=""), "no list"),
    (lambda told: told.pop("definition"), "other fields"),
])
def test_a_changed_header_makes_no_sense(
    original: Path, tmp_path: Path, change: Callable[[dict[str, Any]], object], message: str
) -> None:
    with pytest.raises(DamagedError, match=message):
        verify(with_header(original, tmp_path / "changed", change))


@pytest.mark.parametrize("change", [
    other_text_with_its_digest,  # rules by which the first line wins nothing
    lambda told: told.update(game=told["game"].replace("k=3", "k=2")),
    lambda told: told.update(symmetries="same"),
    lambda told: told.update(lo=1, hi=1),
])
def test_entries_of_another_game_are_refused(
    original: Path, tmp_path: Path, change: Callable[[dict[str, Any]], object]
) -> None:
    with pytest.raises(RefusedError):
        verify(with_header(original, tmp_path / "changed", change))


def test_a_definition_needs_its_text(original: Path, tmp_path: Path) -> None:
    """The first format has none, and the library of the reader is not the author's."""
    certificate = read_certificate(original)
    bare = Certificate(certificate.header)
    told = json.loads(header_text(bare.header))
    for name in ("definition", "symmetries"):
        del told[name]
    assert told["game"].startswith(f"mnk@{library_definition('mnk').digest}")
    (tmp_path / "bare").write_bytes(certificate_bytes(json.dumps(told).encode(), []))
    with pytest.raises(DamagedError, match="text must be in the header"):
        verify(tmp_path / "bare")


def test_moves_are_checked(original: Path, tmp_path: Path) -> None:
    """Numbers of moves have two bytes; a move that is not legal is refused."""
    certificate = read_certificate(original)
    entries = list(certificate.entries())
    at = next(at for at, entry in enumerate(entries) if entry.move is not None)
    for move in (60_000, 255, 65_534):
        entries[at] = entries[at]._replace(move=move)
        write_certificate(tmp_path / "changed", certificate.header, entries)
        with pytest.raises(RefusedError, match="illegal"):
            verify(tmp_path / "changed")
