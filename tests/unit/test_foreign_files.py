"""Readers of foreign files: the corpus of the fuzzers, and what they or readers of them found."""

from __future__ import annotations

import hashlib
import io
import lzma
import struct
import tracemalloc
import zlib
from pathlib import Path

import pytest

from tests.fuzz.readers import CORPUS, READERS
from zermelo.checker import Entry, Header, Leaf, read_certificate, write_certificate
from zermelo.checker.limits import MAX_BLOCK_BYTES
from zermelo.cli.gtp import GoSession
from zermelo.cli.gtp_session import MAX_LINE, limited_lines, run_session
from zermelo.cli.plain_errors import CommandError
from zermelo.cli.suite import load_suite
from zermelo.engine.checkpoints import inflate, seal
from zermelo.engine.interface import CheckpointError, EngineError
from zermelo.engine.portable import PortableEngine
from zermelo.engine.reversi import ReversiEngine
from zermelo.engine.weights import DIGEST_BYTES, MAGIC, load_weights, read_provenance
from zermelo.games import GameError
from zermelo.games.foreign_files import MAX_LINE as MAX_TEXT_LINE
from zermelo.games.foreign_files import MAX_TEXT_BYTES
from zermelo.games.go import Go
from zermelo.games.go_sgf import MAX_MOVES, MAX_NODES, read_sgf
from zermelo.games.reversi import Reversi
from zermelo.server.claims import ClaimError, read_claims

MIB = 1 << 20
GAME = Reversi(4, 4)


@pytest.mark.parametrize("name", READERS)
def test_the_corpus(name: str) -> None:
    inputs = sorted((CORPUS / name).iterdir())
    assert inputs, "a reader without a corpus"
    for path in inputs:
        READERS[name](path.read_bytes())


# -- checkpoints -----------------------------------------------------------------------------


def reversi_record(own: int, opponent: int, lo: int, hi: int, best: int) -> bytes:
    facts = lo & 255 | (hi & 255) << 8 | best << 16 | 64 << 24 | 20 << 32
    return struct.pack("=QQQ", own, opponent, facts)


@pytest.mark.parametrize("record", [
    reversi_record(3, 2, -1, 1, 0),
    reversi_record(1 << 63, 2, -1, 1, 0),
    reversi_record(1, 2, 1, -1, 0),
    reversi_record(1, 2, -17, 1, 0),
    reversi_record(1, 2, -1, 1, 200),
    b"half",
], ids=["overlap", "off the board", "no bounds", "no score", "no move", "half a record"])
def test_a_reversi_checkpoint_of_nonsense(record: bytes) -> None:
    engine = ReversiEngine(GAME, hash_mb=1)
    engine.restore(seal(b"ZRC1", GAME, reversi_record(1, 2, -1, 1, 0)))
    with pytest.raises(CheckpointError, match="damaged"):
        engine.restore(seal(b"ZRC1", GAME, record))


@pytest.mark.parametrize("record", [
    struct.pack(">16sHhh", bytes(16), 9, 0, 0),
    struct.pack(">16sHhh", bytes(16), 0, 1, -1),
    struct.pack(">16sHhh", bytes(16), 0, -99, 0),
    b"half",
])
def test_a_portable_checkpoint_of_nonsense(record: bytes) -> None:
    with pytest.raises(CheckpointError, match="damaged"):
        PortableEngine(GAME).restore(seal(b"ZPC1", GAME, record))


@pytest.mark.parametrize("content", [b"no zlib", zlib.compress(bytes(100))[:-3],
                                     zlib.compress(b"") + b"more", zlib.compress(bytes(101))])
def test_what_does_not_inflate_is_damaged(content: bytes) -> None:
    assert inflate(zlib.compress(bytes(100)), 100) == bytes(100)
    with pytest.raises(CheckpointError):
        inflate(content, 100)


# -- weights ---------------------------------------------------------------------------------


def weight_bytes(provenance: bytes, packed: bytes) -> bytes:
    rest = provenance + b"\n" + packed
    return MAGIC + hashlib.blake2b(rest, digest_size=DIGEST_BYTES).digest() + rest


def test_weights_are_inflated_no_further_than_needed(tmp_path: Path) -> None:
    path = tmp_path / "file.weights"
    path.write_bytes(weight_bytes(b"{}", lzma.compress(bytes(32 * MIB), preset=0)))
    tracemalloc.start()
    try:
        with pytest.raises(EngineError, match="more weights, not 100"):
            load_weights(path, 100)
        assert tracemalloc.get_traced_memory()[1] < 4 * MIB
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("packed", [
    lzma.compress(bytes(200))[:-4], lzma.compress(bytes(200)) + b"more", b"", b"nothing",
])
def test_damaged_weights(tmp_path: Path, packed: bytes) -> None:
    path = tmp_path / "file.weights"
    path.write_bytes(weight_bytes(b"{}", packed))
    with pytest.raises(EngineError):
        load_weights(path, 100)


@pytest.mark.parametrize("provenance", [b"[" * 50_000, b"[]", b"{", b"\xff"])
def test_weights_of_unknown_origin(tmp_path: Path, provenance: bytes) -> None:
    path = tmp_path / "file.weights"
    path.write_bytes(weight_bytes(provenance, lzma.compress(bytes(200))))
    with pytest.raises(EngineError, match="where it comes from"):
        read_provenance(path)


# -- texts -----------------------------------------------------------------------------------


@pytest.mark.parametrize("content", [
    b"#\n" * (MAX_TEXT_BYTES // 2 + 1), b"-" * (MAX_TEXT_LINE + 1), b"\xff\xfe",
], ids=["long", "a long line", "no text"])
def test_lists_of_positions_have_limits(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "list"
    path.write_bytes(content)
    with pytest.raises(CommandError, match="cannot read"):
        load_suite(str(path))
    with pytest.raises(ClaimError, match="cannot read"):
        read_claims(path, GAME)


def test_a_device_is_no_list() -> None:
    with pytest.raises(ClaimError, match="cannot read"):
        read_claims(Path("/dev/zero"), GAME)


def test_records_have_limits() -> None:
    game = Go(1, 2, ko="basic", cycle="passes")
    start = b"(;SZ[2:1]"
    with pytest.raises(GameError, match="nodes"):
        read_sgf(game, start + b";" * MAX_NODES + b")")
    setups = b";AB[aa]AE[ba]" * 3
    assert read_sgf(game, start + setups + b")").black == 1
    with pytest.raises(GameError, match="bytes"):
        read_sgf(game, start + b" " * (1 << 20) + b")")


# -- GTP -------------------------------------------------------------------------------------


def gtp_answers(lines: str) -> list[str]:
    output = io.StringIO()
    session = GoSession(Go(3, 3), hash_mb=1, node_budget=100)
    run_session(session, limited_lines(io.StringIO(lines)), output)
    return output.getvalue().split("\n\n")[:-1]


def test_a_long_line_is_one_unknown_command() -> None:
    answers = gtp_answers("name\n" + "play " * MAX_LINE + "\nname\n" + "x" * MAX_LINE)
    assert answers == ["= Zermelo", "? unknown command", "= Zermelo", "? unknown command"]


def test_a_colour_that_passes_for_ever() -> None:
    answers = gtp_answers("play b pass\n" * (MAX_MOVES + 2) + "clear_board\nplay b pass\n")
    assert answers[:MAX_MOVES] == ["="] * MAX_MOVES
    refused = f"? more than {MAX_MOVES} moves; clear the board"
    assert answers[MAX_MOVES:] == [refused, refused, "=", "="]


# -- histories -------------------------------------------------------------------------------


@pytest.mark.parametrize("tag", [63 << 2, 1 << 2, 1 << 2 | 2])
def test_a_history_with_a_ko_that_is_none(tag: int) -> None:
    game = Go(3, 3, ko="basic")
    entry = (1).to_bytes(7, "big") + (4).to_bytes(7, "big")
    key = game.encode(game.initial())
    assert game.decode(key, entry + bytes([1, 128])).past
    with pytest.raises(GameError, match="tag"):
        game.decode(key, entry + bytes([tag, 128]))


@pytest.mark.parametrize("balance", [0, 1, 255])
def test_a_history_with_more_passes_than_a_byte_can_count(balance: int) -> None:
    game = Go(3, 3, ko="basic", cycle="passes")
    entry = (1).to_bytes(7, "big") + (4).to_bytes(7, "big") + bytes([1])
    key = game.encode(game.initial())
    with pytest.raises(GameError, match="passes"):
        game.decode(key, entry + bytes([balance]))
    position = game.decode(key, entry + bytes([254]))
    for move in game.moves(position):
        assert game.history(game.play(position, move))


# -- certificates ----------------------------------------------------------------------------


def test_a_writer_keeps_to_the_limits_of_the_reader(tmp_path: Path) -> None:
    """Long histories make blocks shorter, so that each is one that a reader accepts."""
    game = Go(3, 3)
    key, history = game.encode(game.initial()), bytes(8000)
    number = MAX_BLOCK_BYTES // len(history) + 10
    entries = [
        Entry(key, at.to_bytes(4, "big") + history, True, 0, None, Leaf(1, 1, 1))
        for at in range(number)
    ]
    header = Header(game.spec, "score", "c", game.format(game.initial()), -9, 9, 0, 0, "1", "now")
    path = tmp_path / "proof"
    write_certificate(path, header, entries)
    assert len(read_certificate(path)) == number
