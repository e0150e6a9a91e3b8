"""Texts of games in the client's folder: only what has the right digest is kept."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tests.support.definitions import TIC_TAC_TOE, WALK
from zermelo.client.definitions import MOST_KEPT, DefinitionFolder
from zermelo.games.definition.library import library_definition
from zermelo.games.definition.sources import digest_of

DIGEST = digest_of(TIC_TAC_TOE)
SPEC = f"tic-tac-toe@{DIGEST}:"


class Server:
    def __init__(self, reply: bytes) -> None:
        self.reply = reply
        self.asked: list[str] = []

    async def __call__(self, digest: str) -> bytes:
        self.asked.append(digest)
        return self.reply


def fetch(folder: Path, server: Server, *specs: str) -> DefinitionFolder:
    definitions = DefinitionFolder(folder, server)
    asyncio.run(definitions.fetch(specs))
    return definitions


def test_a_text_is_fetched_once(tmp_path: Path) -> None:
    server = Server(TIC_TAC_TOE.encode())
    assert fetch(tmp_path, server, SPEC, SPEC + "x").text(DIGEST) == TIC_TAC_TOE
    fetch(tmp_path, server, SPEC)
    assert server.asked == [DIGEST]


@pytest.mark.parametrize("reply", [b"", WALK.encode(), b"\xff" * 20, TIC_TAC_TOE.encode() + b"\n"])
def test_another_text_is_not_kept(tmp_path: Path, reply: bytes) -> None:
    assert fetch(tmp_path, Server(reply), SPEC).text(DIGEST) is None
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("spec", [
    "reversi:4x4", f"mnk@{library_definition('mnk').digest}:3x3", "mnk@../../x:3x3",
    f"mnk@{DIGEST[:31]}:3x3",
])
def test_what_is_not_asked_for(tmp_path: Path, spec: str) -> None:
    """Compiled games, the library's own, and what is no digest."""
    server = Server(TIC_TAC_TOE.encode())
    fetch(tmp_path, server, spec)
    assert server.asked == []


def test_a_damaged_file_is_fetched_again(tmp_path: Path) -> None:
    server = Server(TIC_TAC_TOE.encode())
    definitions = fetch(tmp_path, server, SPEC)
    (file,) = tmp_path.iterdir()
    file.write_bytes(b"damaged")
    assert definitions.text(DIGEST) is None
    assert fetch(tmp_path, server, SPEC).text(DIGEST) == TIC_TAC_TOE


def test_the_folder_stays_small(tmp_path: Path) -> None:
    for number in range(MOST_KEPT + 3):
        text = f"# {number}\n{TIC_TAC_TOE}"
        fetch(tmp_path, Server(text.encode()), f"tic-tac-toe@{digest_of(text)}:")
    assert len(list(tmp_path.iterdir())) == MOST_KEPT
    assert DefinitionFolder(tmp_path).text(digest_of(f"# {MOST_KEPT + 2}\n{TIC_TAC_TOE}"))
