"""The engine for all definitions: questions and answers around the kernel in C."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor

from zermelo.cext import definition_large, definition_small
from zermelo.engine.checkpoints import seal, unseal
from zermelo.engine.definition_program import Program
from zermelo.engine.interface import (
    ALGORITHMS,
    CheckpointError,
    Efforts,
    EngineError,
    Expansion,
    Known,
    Progress,
    SearchReport,
    Status,
    Window,
    checked_window,
    narrowed,
)
from zermelo.engine.shared_table import SharedTable
from zermelo.games import KEY_BYTES, Bounds, GameError, Move
from zermelo.games.definition.game import DefinedGame
from zermelo.games.definition.reference import DefinedPosition

CHECKPOINT_EFFORT = 6  # entries that took fewer than 2^5 nodes are quicker found again
MOST_CHECKPOINT_BYTES = 64 << 20
#: Threads share nothing but the table, and these use none.
WITHOUT_TABLE = ("minimax", "alphabeta")
SAMPLED_GAMES = 64
SAMPLE_SEED = 1
#: ln(nodes) of solving small boards of eight games, divided by the plies of random games: 0.5 to
#: 0.9 (docs/decisions/0021).
LOG_NODES_A_PLY = 0.7
_RECORD_BYTES = 19
_MAGIC = b"ZDC2"


def open_definition_engine(
    game: DefinedGame, *, threads: int, hash_mb: int, shared: SharedTable | None
) -> DefinitionEngine:
    """The engine; its table is one that no other engine can use."""
    return DefinitionEngine(game, hash_mb=hash_mb, threads=threads)


class DefinitionEngine:
    algorithms = ALGORITHMS

    def __init__(self, game: DefinedGame, *, hash_mb: int = 64, threads: int = 1) -> None:
        self.game = game
        try:
            program = Program(game.compiled)
            kernel = definition_small if program.small else definition_large
            self.core = kernel.Core(program.parts, game.max_score, hash_mb << 20, threads)
        except MemoryError as error:
            raise EngineError(f"{error}; choose a smaller --hash-mb") from None
        self._bounds = game.score_range
        self._root_moves = 1

    # -- the Engine protocol --------------------------------------------------------

    def solve(
        self,
        position: DefinedPosition,
        window: Window | None = None,
        *,
        algorithm: str = "mtdf",
        node_budget: int | None = None,
        known: Iterable[Known] = (),
    ) -> SearchReport:
        window = checked_window(self, window, algorithm)
        started = time.perf_counter()
        limits = self.game.score_range
        for item in known:
            bounds = item.bounds & limits
            self.core.tell(self.game.encode(item.position), bounds.lo, bounds.hi)
        self._bounds = limits
        key = self.game.encode(position)
        self._root_moves = max(1, len(self._children(key)))
        self.core.prepare(node_budget)
        self._search(key, window, algorithm)
        status, nodes = Status(self.core.status), max(1, self.core.nodes)
        solved = status is Status.SOLVED
        line = self._line(key) if solved else []
        return SearchReport(
            status=status,
            bounds=self._bounds,
            move=line[0] if line else None,
            line=tuple(line),
            nodes=nodes,
            seconds=time.perf_counter() - started,
            proved=() if solved else self._proved_below(key),
        )

    def abort(self) -> None:
        self.core.abort()

    def progress(self) -> Progress:
        return Progress(
            self.core.nodes, self._bounds, min(1.0, self.core.root_done / self._root_moves)
        )

    def guess(self, position: DefinedPosition) -> int:
        return self.game.evaluate(position)

    def efforts(self, position: DefinedPosition, threshold: int) -> Efforts:
        """How long random games last, and how often they answer yes."""
        key = self.game.encode(position)
        reached, plies = self.core.chances(key, threshold, SAMPLED_GAMES, SAMPLE_SEED)
        nodes = LOG_NODES_A_PLY * plies / SAMPLED_GAMES
        chance = (reached + 1) / (SAMPLED_GAMES + 2)
        return Efforts(nodes - math.log(chance), nodes - math.log(1 - chance))

    def count_lines(self, position: DefinedPosition, plies: int) -> int:
        lines: int = self.core.perft(self.game.encode(position), plies)
        return lines

    def checkpoint(self) -> bytes:
        effort = CHECKPOINT_EFFORT
        records = self.core.dump(effort)
        while len(records) > MOST_CHECKPOINT_BYTES:
            effort += 1
            records = self.core.dump(effort)
        return seal(_MAGIC, self.game, records)

    def restore(self, checkpoint: bytes) -> None:
        records = unseal(_MAGIC, self.game, checkpoint)
        if len(records) % _RECORD_BYTES:
            raise CheckpointError("the checkpoint is damaged")
        self.core.load(records)

    def clear(self) -> None:
        self.core.clear()

    def expand(self, keys: bytes) -> Expansion:
        if len(keys) % KEY_BYTES:
            raise GameError(f"{len(keys)} bytes are no sequence of {KEY_BYTES}-byte keys")
        try:
            return Expansion(*self.core.expand(keys))
        except ValueError as error:
            raise GameError(f"{self.game.short_spec}: {error}") from None

    # -- searching --------------------------------------------------------------------

    def _search(self, key: bytes, window: Window, algorithm: str) -> None:
        """Ask until the window is settled, or the search is stopped."""
        limits = self.game.score_range
        guess = self.guess(self.game.decode(key))
        while not window.settled_by(self._bounds):
            bounds = self._bounds
            alpha, beta = max(window.alpha, limits.lo - 1), min(window.beta, limits.hi + 1)
            if algorithm == "mtdf":
                beta = max(bounds.lo + 1, alpha + 1, min(guess, bounds.hi, beta))
                alpha = beta - 1
            if algorithm == "minimax":
                alpha, beta = limits.lo - 1, limits.hi + 1
            found = self._ask(key, algorithm, alpha, beta)
            if found is None:
                return
            guess = found
            self._bounds = narrowed(bounds, Bounds(
                found if found > alpha else limits.lo, found if found < beta else limits.hi
            ))

    def _ask(self, key: bytes, algorithm: str, alpha: int, beta: int) -> int | None:
        """One search by all threads; the first that has an answer stops the others."""
        self.core.ask_again()
        if self.core.threads == 1 or algorithm in WITHOUT_TABLE:
            found: int | None = self.core.run(key, algorithm, alpha, beta)
            return found
        with ThreadPoolExecutor(self.core.threads) as pool:
            answers = list(pool.map(
                lambda thread: self.core.run(key, algorithm, alpha, beta, thread),
                range(self.core.threads),
            ))
        return next((answer for answer in answers if answer is not None), None)

    # -- what the table knows ---------------------------------------------------------

    def _children(self, key: bytes) -> list[tuple[Move, bytes]]:
        found = self.core.children(key)
        return [] if isinstance(found, int) else found

    def _proved_below(self, key: bytes) -> list[Known]:
        """Children and grandchildren about which the table knows more than the rules tell."""
        children = [child for _, child in self._children(key)]
        grandchildren = [below for child in children for _, below in self._children(child)]
        proved = []
        for below in [*children, *grandchildren]:
            entry = self.core.ask(below)
            if entry is not None and Bounds(*entry) != self.game.score_range:
                proved.append(Known(self.game.decode(below), Bounds(*entry)))
        return proved

    def _line(self, key: bytes) -> list[Move]:
        """Best play to the end from an exact value; the first move if only a bound is known.

        A search below proves each move; it finds nearly everything in the table.
        """
        line: list[Move] = []
        value = self._bounds.lo
        while children := self._children(key):
            for move, after in children:
                found = self._ask(after, "negamax", -value, 1 - value)
                if found is None:
                    return line
                if found <= -value:
                    line.append(move)
                    key, value = after, -value
                    break
            else:
                return line
            if not self._bounds.exact:
                return line
        return line
