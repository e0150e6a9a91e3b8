"""Every reader of foreign bytes, as a function of them that never fails but as documented.

`run.py` lets atheris look for bytes with which one of them fails otherwise, and
tests/unit/test_foreign_files.py replays the corpus without it.
"""

from __future__ import annotations

import hashlib
import io
import resource
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import zstandard

from tests.fuzz.peer import http2
from tests.support.certificates import certificate_bytes, header
from zermelo import ZermeloError
from zermelo.checker import read_certificate, verify
from zermelo.checker.limits import Memory
from zermelo.cli.game_files import read_file
from zermelo.cli.gtp import GoSession
from zermelo.cli.gtp_session import limited_lines, run_session
from zermelo.cli.suite import load_suite
from zermelo.engine.checkpoints import seal
from zermelo.engine.go import GoEngine
from zermelo.engine.portable import PortableEngine
from zermelo.engine.reversi import ReversiEngine
from zermelo.engine.weights import DIGEST_BYTES, MAGIC, load_weights, read_provenance
from zermelo.games import open_game
from zermelo.games.definition.game import DefinedGame
from zermelo.games.go import Go
from zermelo.games.go_sgf import read_sgf
from zermelo.games.reversi import Reversi
from zermelo.server.claims import read_claims

CORPUS = Path(__file__).parent / "corpus"
REVERSI = "reversi:4x4,start=diagonal,scoring=raw"
GAMES = [
    REVERSI,
    "reversi:6x6,start=diagonal,scoring=wof",
    "go:2x2,ko=psk,cycle=draw,suicide=forbidden,komi=0",
    "go:3x3,ko=basic,cycle=passes,suicide=allowed,komi=1",
    "go:3x4,ko=ssk,cycle=draw,suicide=forbidden,komi=0",
]
_NODES = 200
#: What a definition may cost in processor time and memory, and how much slower a reader is while
#: its coverage is measured.
DEFINITION_SECONDS, DEFINITION_BYTES, SLOWED = 1.0, 64 << 20, 4.0
_FOLDER = Path(tempfile.gettempdir())


def _file(data: bytes) -> Path:
    """The same bytes as a file, in a place of this process."""
    path = Path(tempfile.mkdtemp(prefix="zermelo-fuzz-", dir=_FOLDER)) / "file"
    path.write_bytes(data)
    return path


class _Foreign:
    def __init__(self, data: bytes) -> None:
        self._path = _file(data)

    def __enter__(self) -> Path:
        return self._path

    def __exit__(self, *error: object) -> None:
        self._path.unlink(missing_ok=True)
        self._path.parent.rmdir()


def certificate(data: bytes) -> None:
    """The file as it is: magic, lengths, digests."""
    with _Foreign(data) as path, suppress(ZermeloError):
        verify(path, sample=0, max_memory=1 << 24, max_seconds=20)


def certificate_entries(data: bytes) -> None:
    """A block with right digests: the columns, the structure, and what is said about faults.

    The first byte chooses the game, the next two the counts and the bound of the header.
    """
    if len(data) < 3:
        return
    spec, entries = GAMES[data[0] % len(GAMES)], data[1]
    game = open_game(spec)
    lo = max(-game.max_score, min(game.max_score, data[2] - 128))
    packed = zstandard.ZstdCompressor(level=1).compress(data[3:])
    leaves = sum(bool(flag & 2) for flag in data[7 : 7 + entries])
    head = header(game=spec, entries=entries, leaves=leaves, lo=lo)
    with _Foreign(certificate_bytes(head, [packed])) as path, suppress(ZermeloError):
        read_certificate(path, memory=Memory(1 << 24))
        verify(path, sample=0, max_memory=1 << 24, max_seconds=20)


def certificate_header(data: bytes) -> None:
    """The header with a right digest."""
    with _Foreign(certificate_bytes(data, [])) as path, suppress(ZermeloError):
        verify(path, sample=0, max_memory=1 << 24, max_seconds=20)


def checkpoint(data: bytes) -> None:
    """The tables of all engines, with and without a right digest; then a search with them."""
    if not data:
        return
    engine: Any
    magic, engine = (
        (b"ZPC1", PortableEngine(open_game(REVERSI))),
        (b"ZGC2", _GO_ENGINE),
        (ReversiEngine.checkpoint_kind, _REVERSI_ENGINE),
    )[data[0] % 3]
    sealed = data[1:] if data[0] & 4 else seal(magic, engine.game, data[1:])
    with suppress(ZermeloError):
        engine.clear()
        engine.restore(sealed)
        engine.solve(engine.game.initial(), node_budget=_NODES)


def weights(data: bytes) -> None:
    """Weight files, with and without a right digest."""
    if data[:1] == b"d":
        rest = data[1:]
        digest = hashlib.blake2b(rest, digest_size=DIGEST_BYTES).digest()
        data = MAGIC + digest + rest
    with _Foreign(data) as path:
        with suppress(ZermeloError):
            load_weights(path, 100)
        with suppress(ZermeloError):
            read_provenance(path)


def definition(data: bytes) -> None:
    """A game of a stranger: read, checked and played, within a second and 64 MB."""
    started, before = time.process_time(), _peak_bytes()
    with _Foreign(data) as path, suppress(ZermeloError):
        game = DefinedGame(read := read_file(path), read.params.parse(""))
        position = game.initial()
        for _ in range(4):
            moves = game.moves(position)
            assert game.is_final(position) or moves
            if not moves:
                break
            position = game.parse(game.format(game.play(position, moves[len(data) % len(moves)])))
    seconds, grown = time.process_time() - started, _peak_bytes() - before
    assert seconds < DEFINITION_SECONDS * SLOWED, f"{seconds:.1f} s"
    assert grown < DEFINITION_BYTES, f"{grown} bytes"


def sgf(data: bytes) -> None:
    for game in _SGF_GAMES:
        with suppress(ZermeloError):
            game.format(read_sgf(game, data))


def obf(data: bytes) -> None:
    with _Foreign(data) as path, suppress(ZermeloError):
        load_suite(str(path))


def claims(data: bytes) -> None:
    with _Foreign(data) as path:
        for game in (None, *_CLAIM_GAMES):
            with suppress(ZermeloError):
                read_claims(path, game)


def gtp(data: bytes) -> None:
    """A session as the command runs it; every answer has the form that the protocol asks for."""
    session = GoSession(Go(3, 3), hash_mb=1, node_budget=_NODES)
    stream = io.TextIOWrapper(io.BytesIO(data), "utf-8", errors="replace")
    output = io.StringIO()
    run_session(session, _without_files(limited_lines(stream)), output)
    for answer in filter(None, output.getvalue().split("\n\n")):
        assert answer[0] in "=?", answer


def _without_files(lines: Any) -> Any:
    """Inputs must not open whatever files this machine has; SGF has a reader of its own."""
    return (line for line in lines if "loadsgf" not in line)


def _peak_bytes() -> int:
    """The most memory that this process ever had."""
    return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


_GO_ENGINE = GoEngine(Go(3, 3), hash_mb=1)
_REVERSI_ENGINE = ReversiEngine(Reversi(4, 4), hash_mb=1)
_SGF_GAMES = [Go(3, 3), Go(3, 4, ko="basic", cycle="passes"), Go(7, 7, suicide="allowed")]
_CLAIM_GAMES = [Reversi(4, 4), Go(3, 3)]

READERS: dict[str, Callable[[bytes], None]] = {
    reader.__name__: reader
    for reader in (
        certificate, certificate_header, certificate_entries, checkpoint, weights, definition,
        sgf, obf, claims, gtp, http2,
    )
}
