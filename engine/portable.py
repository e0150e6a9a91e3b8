"""An engine for every game, over the plain Python rules.

It proves with the same vocabulary as the compiled engines, a few thousand times
slower: for games that have no compiled engine, and as a yardstick in tests. Its
table is keyed by key *and* history, so it is sound for path-dependent games too.
"""

from __future__ import annotations

import struct
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from zermelo.engine.checkpoints import load_records, seal, unseal
from zermelo.engine.interface import Expansion, Known, Progress, Status, Window, narrowed
from zermelo.engine.searching import Searched, SearchingEngine
from zermelo.engine.textbook import Searches
from zermelo.games import KEY_BYTES, Bounds, Game, Move

Entry = tuple[bytes, bytes]

#: Calls of Python within each other; they take no room on the stack of C.
DEEPEST = 100_000

_MAGIC = b"ZPC1"
_RECORD = struct.Struct(f">{KEY_BYTES}sHhh")


class _StoppedError(Exception):
    """Unwinds the search when the node budget is reached or somebody aborts."""

    def __init__(self, status: Status) -> None:
        self.status = status


@contextmanager
def _deep_recursion() -> Iterator[None]:
    """Lines of a game with superko are longer than Python's usual limit, at two calls a ply."""
    usual = sys.getrecursionlimit()
    sys.setrecursionlimit(max(usual, DEEPEST))
    try:
        yield
    finally:
        sys.setrecursionlimit(usual)


class PortableEngine(SearchingEngine):
    def __init__(self, game: Game[Any]) -> None:
        self.game = game
        self._table: dict[Entry, Bounds] = {}
        self._nodes = 0
        self._node_budget: int | None = None
        self._aborted = False
        self._root: Any = None

    # -- the Engine protocol --------------------------------------------------------

    def abort(self) -> None:
        self._aborted = True

    def progress(self) -> Progress:
        return Progress(self._nodes, self.known(self._root), 0.0)

    def guess(self, position: Any) -> int:
        moves = self.game.moves(position)
        if not moves:
            return self.game.score(position)
        return max(-self.game.evaluate(self.game.play(position, move)) for move in moves)

    def efforts(self, position: Any, threshold: int) -> None:
        return None

    def checkpoint(self) -> bytes:
        records = [
            _RECORD.pack(key, len(history), bounds.lo, bounds.hi) + history
            for (key, history), bounds in self._table.items()
        ]
        return seal(_MAGIC, self.game, b"".join(records))

    def restore(self, checkpoint: bytes) -> None:
        load_records(self._load, unseal(_MAGIC, self.game, checkpoint))

    def _load(self, records: bytes) -> None:
        """Put dumped records back; `ValueError`, and none is, if one of them cannot be true."""
        table: dict[Entry, Bounds] = {}
        at, limits = 0, self.game.score_range
        while at < len(records):
            if len(records) - at < _RECORD.size:
                raise ValueError("half a record")
            key, length, lo, hi = _RECORD.unpack_from(records, at)
            at += _RECORD.size
            history, at = records[at : at + length], at + length
            if at > len(records) or not limits.lo <= lo <= hi <= limits.hi:
                raise ValueError("a record of no position")
            table[key, history] = Bounds(lo, hi)
        self._table |= table

    def clear(self) -> None:
        self._table.clear()

    def expand(self, keys: bytes) -> Expansion:
        children: list[bytes] = []
        counts: list[int] = []
        for at in range(0, len(keys), KEY_BYTES):
            position = self.game.decode(keys[at : at + KEY_BYTES])
            distinct = {
                self.game.encode(self.game.canonical(self.game.play(position, move)))
                for move in self.game.moves(position)
            }
            children.extend(sorted(distinct))
            counts.append(len(distinct))
        return Expansion(b"".join(children), counts)

    # -- the search -------------------------------------------------------------------

    def _search(
        self, position: Any, window: Window, algorithm: str, node_budget: int | None,
        known: Iterable[Known],
    ) -> Searched:
        self._root, self._nodes, self._node_budget = position, 0, node_budget
        self._aborted = False
        for seed in known:
            self.tighten(seed.position, seed.bounds)
        status = Status.SOLVED
        try:
            with _deep_recursion():
                self._run(position, window, algorithm)
        except _StoppedError as stopped:
            status = stopped.status
        return Searched(status, self.known(position), self._nodes)

    def _run(self, position: Any, window: Window, algorithm: str) -> None:
        searches = Searches(self.game, self, self._visit)
        if algorithm == "minimax":
            searches.minimax(position)
        elif algorithm == "alphabeta":
            searches.alphabeta(position, *window)
        elif algorithm == "mtdf":
            searches.mtdf(position, window, self.guess(position))
        else:
            searches.negamax(position, *window, scout=algorithm == "negascout")

    def _visit(self) -> None:
        self._nodes += 1
        if self._aborted:
            raise _StoppedError(Status.ABORTED)
        if self._node_budget is not None and self._nodes > self._node_budget:
            raise _StoppedError(Status.EXHAUSTED)

    # -- the table --------------------------------------------------------------------

    def _entry(self, position: Any) -> Entry:
        canonical = self.game.canonical(position)
        return self.game.encode(canonical), self.game.history(canonical)

    def known(self, position: Any) -> Bounds:
        if position is None:
            return self.game.score_range
        return self._table.get(self._entry(position), self.game.score_range)

    def tighten(self, position: Any, bounds: Bounds) -> None:
        entry = self._entry(position)
        self._table[entry] = narrowed(self._table.get(entry, self.game.score_range), bounds)

    def _line(self, position: Any, found: Searched) -> list[Move]:
        """Best play as far as the table proves it: each move keeps the proved bound."""
        line: list[Move] = []
        while moves := self.game.moves(position):
            target = self.known(position)
            best = max(moves, key=lambda move: -self.known(self.game.play(position, move)).hi)
            after = -self.known(self.game.play(position, best))
            if not target.exact or after.lo != target.lo:
                break
            line.append(best)
            position = self.game.play(position, best)
        return line
