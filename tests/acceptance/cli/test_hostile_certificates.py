"""Certificates made to exhaust or to confuse: one line, an exit code, little memory, soon."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from tests.support.certificates import (
    SPEC,
    certificate_bytes,
    endless_frame,
    header,
    leaf_block,
    zeros_frame,
)
from tests.support.command import zermelo
from zermelo.games import open_game

GAME = open_game(SPEC)
#: Address space that a check of a small file may take: the interpreter and its libraries, one
#: block twice, and the table of the solver.
MOST_BYTES = 1 << 30
MOST_SECONDS = 30

VERIFIED, REFUSED, DAMAGED, PARTLY_CHECKED, BEYOND_LIMITS = 0, 1, 3, 4, 5
ROOT = GAME.encode(GAME.canonical(GAME.initial()))
GO = "go:4x4,ko=psk,cycle=draw,suicide=forbidden,komi=0"
#: Of a game with a past: every history different, none of the size that a game reaches.
HISTORIES = [at.to_bytes(4, "big") * 225 for at in range(65_000)]


def verify(path: Path, content: bytes, *options: str) -> subprocess.CompletedProcess[str]:
    path.write_bytes(content)
    return zermelo(
        "proof", "verify", path, *options, most_bytes=MOST_BYTES, seconds=MOST_SECONDS
    )


def nested(depth: int) -> bytes:
    return b"[" * depth + b"]" * depth


HOSTILE = {
    "1 GiB in a frame": (
        lambda: certificate_bytes(header(entries=1), [zeros_frame(1 << 30)]), DAMAGED),
    "8 GiB in a frame": (
        lambda: certificate_bytes(header(entries=1), [endless_frame(1 << 16)]), DAMAGED),
    "histories without end": (
        lambda: certificate_bytes(
            header(game=GO, entries=120 * 65_000, leaves=120 * 65_000),
            120 * [leaf_block([bytes(16)] * 65_000, histories=HISTORIES)],
        ), REFUSED),
    "a long history": (
        lambda: certificate_bytes(
            header(game=GO, entries=1, leaves=1), [leaf_block([bytes(16)], histories=[bytes(8192)])]
        ), DAMAGED),
    "entries beyond the count": (
        lambda: certificate_bytes(
            header(entries=1, leaves=1),
            [leaf_block([at.to_bytes(16, "big") for at in range(1000)])] * 200,
        ), DAMAGED),
    "repeated keys": (
        lambda: certificate_bytes(
            header(entries=400 << 16, leaves=400 << 16),
            [leaf_block([bytes(16)] * (1 << 16))] * 400,
        ), DAMAGED),
    "a key told twice": (
        lambda: certificate_bytes(header(entries=2, leaves=2), [leaf_block([ROOT, ROOT])]),
        REFUSED),
    "a million entries in 3 kB": (
        lambda: certificate_bytes(
            header(entries=1 << 20, leaves=1 << 20),
            [leaf_block([at.to_bytes(8, "big") + bytes(8) for at in range(1 << 16)])] * 16,
        ), DAMAGED),
    "more entries than memory": (
        lambda: certificate_bytes(header(entries=10**12), []), BEYOND_LIMITS),
    "a nested header": (lambda: certificate_bytes(nested(30_000), []), DAMAGED),
    "a lone surrogate": (
        lambda: certificate_bytes(header(campaign="\ud800"), []), DAMAGED),
    "an escape sequence": (
        lambda: certificate_bytes(header(campaign="\x1b[31mVERIFIED"), []), DAMAGED),
    "a field told twice": (
        lambda: certificate_bytes(header()[:-1] + b', "lo": 16}', []), DAMAGED),
    "version 0": (lambda: certificate_bytes(header(), [], version=0), DAMAGED),
    "no certificate": (lambda: b"SQLite format 3\0", DAMAGED),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_it_ends_with_one_line_and_its_code(tmp_path: Path, name: str) -> None:
    make, code = HOSTILE[name]
    done = verify(tmp_path / "proof", make())
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    line = done.stdout.splitlines()[-1:] if code == REFUSED else done.stderr.splitlines()
    assert len(line) == 1
    assert line[0].isprintable()


def wrong_root() -> bytes:
    """The initial position of 4x4 is worth -8; this file has a leaf that says at least +16."""
    return certificate_bytes(
        header(lo=16, entries=1, leaves=1), [leaf_block([ROOT], bound=16)]
    )


@pytest.mark.parametrize("leaves", ["none", "sample:0"])
def test_what_is_believed_is_not_verified(tmp_path: Path, leaves: str) -> None:
    done = verify(tmp_path / "proof", wrong_root(), "--leaves", leaves)
    assert done.returncode == PARTLY_CHECKED, done.stderr
    assert "PARTLY CHECKED" in done.stdout
    assert "VERIFIED" not in done.stdout
    told = verify(tmp_path / "proof", wrong_root(), "--leaves", leaves, "--json")
    assert told.returncode == PARTLY_CHECKED
    verdict = json.loads(told.stdout)
    assert (verdict["verdict"], verdict["accepted"]) == ("partly checked", False)


def test_all_leaves_find_the_wrong_root(tmp_path: Path) -> None:
    done = verify(tmp_path / "proof", wrong_root())
    assert done.returncode == REFUSED
    assert done.stdout.splitlines()[-1].startswith("REFUSED")


def test_nothing_left_to_believe_is_verified(tmp_path: Path) -> None:
    done = verify(tmp_path / "proof", certificate_bytes(header(), []), "--leaves", "none")
    assert done.returncode == VERIFIED, done.stderr
    assert "VERIFIED" in done.stdout


def test_a_search_ends_with_its_time(tmp_path: Path) -> None:
    """A leaf that no computer can search: the initial position of 8x8."""
    spec = "reversi:8x8,start=diagonal,scoring=raw"
    game = open_game(spec)
    root = game.encode(game.canonical(game.initial()))
    content = certificate_bytes(
        header(game=spec, lo=1, entries=1, leaves=1), [leaf_block([root], bound=1)]
    )
    done = verify(tmp_path / "proof", content, "--max-seconds", "1")
    assert done.returncode == BEYOND_LIMITS
    assert "--max-seconds" in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_memory_is_limited_as_asked(tmp_path: Path) -> None:
    keys = [at.to_bytes(16, "big") for at in range(60_000)]
    content = certificate_bytes(header(entries=60_000, leaves=60_000), [leaf_block(keys)])
    done = verify(tmp_path / "proof", content, "--max-memory", "1")
    assert done.returncode == BEYOND_LIMITS
    assert "--max-memory" in done.stderr


def test_histories_count_as_memory(tmp_path: Path) -> None:
    number = 5 * len(HISTORIES)
    blocks = [
        leaf_block([bytes([at]) * 16] * len(HISTORIES), histories=HISTORIES) for at in range(5)
    ]
    content = certificate_bytes(header(game=GO, entries=number, leaves=number), blocks)
    done = verify(tmp_path / "proof", content, "--max-memory", "128")
    assert done.returncode == BEYOND_LIMITS, done.stderr
    assert "--max-memory" in done.stderr


def test_no_square_off_the_board_is_named(tmp_path: Path) -> None:
    block = leaf_block([ROOT], flags=0, moves=63)
    done = verify(tmp_path / "proof", certificate_bytes(header(lo=-15, entries=1), [block]))
    assert done.returncode == REFUSED, done.stderr
    assert "by move 63, but the move is illegal" in done.stdout


def test_a_file_that_is_not_there_is_wrong_input() -> None:
    done = zermelo("proof", "verify", "nowhere.proof")
    assert done.returncode == 2
    assert "nowhere.proof" in done.stderr
