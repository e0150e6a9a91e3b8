"""The engine for all definitions: questions and answers around the kernel in C."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor

from zermelo.engine.capabilities import Secured
from zermelo.engine.compiled import CompiledEngine
from zermelo.engine.definition_program import Program
from zermelo.engine.definition_strategy import StrategyReader
from zermelo.engine.dispatch import compiled
from zermelo.engine.interface import (
    EVERY_ALGORITHM,
    Efforts,
    EngineError,
    Known,
    Progress,
    Status,
    Window,
    narrowed,
)
from zermelo.engine.searching import Searched
from zermelo.engine.shared_table import SharedTable
from zermelo.games import Bounds, Move
from zermelo.games.definition.game import DefinedGame
from zermelo.games.definition.reference import DefinedPosition

#: Threads share nothing but the table, and these use none.
WITHOUT_TABLE = ("minimax", "alphabeta")
#: Algorithms that ask whether a threshold is reached, again and again.
NULL_WINDOWS = ("mtdf", "pns")
SAMPLED_GAMES = 64
SAMPLE_SEED = 1
#: ln(nodes) of solving small boards of eight games, divided by the plies of random games: 0.5 to
#: 0.9 (docs/decisions/0021).
LOG_NODES_A_PLY = 0.7
_RECORD_BYTES = 19


def open_definition_engine(
    game: DefinedGame, *, threads: int, hash_mb: int, shared: SharedTable | None
) -> DefinitionEngine:
    """The engine; its table is one that no other engine can use."""
    return DefinitionEngine(game, hash_mb=hash_mb, threads=threads)


class DefinitionEngine(CompiledEngine):
    algorithms = EVERY_ALGORITHM
    game: DefinedGame
    checkpoint_kind = b"ZDC2"
    checkpoint_effort = 6  # 2^5 nodes

    def __init__(self, game: DefinedGame, *, hash_mb: int = 64, threads: int = 1) -> None:
        self.game = game
        try:
            program = Program(game.compiled)
            kernel = (
                compiled("definition_small", built=("avx2",)) if program.small
                else compiled("definition_large", built=())
            )
            self.core = kernel.Core(program.parts, game.max_score, hash_mb << 20, threads)
        except MemoryError as error:
            raise EngineError(f"{error}; choose a smaller --hash-mb") from None
        self._bounds = game.score_range
        self._root_moves = 1

    # -- the Engine protocol --------------------------------------------------------

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

    def _load(self, records: bytes) -> None:
        if len(records) % _RECORD_BYTES:
            raise ValueError("half a record")
        self.core.load(records)

    def strategies(self, statements: Iterable[Secured]) -> Iterator[Secured]:
        self.core.prepare(None)
        return StrategyReader(self.core, self._reaches).follow(statements)

    def _reaches(self, key: bytes, threshold: int) -> bool:
        found = self._ask(key, "negamax", threshold - 1, threshold)
        return found is not None and found >= threshold

    # -- searching --------------------------------------------------------------------

    def _search(
        self, position: DefinedPosition, window: Window, algorithm: str, node_budget: int | None,
        known: Iterable[Known],
    ) -> Searched:
        for item in known:
            bounds = item.bounds & self.game.score_range
            self.core.tell(self.game.encode(item.position), bounds.lo, bounds.hi)
        self._bounds = self.game.score_range
        key = self.game.encode(position)
        self._root_moves = max(1, len(self._keys_after(key)))
        self.core.prepare(node_budget)
        self._settle(key, window, algorithm)
        return Searched(Status(self.core.status), self._bounds, max(1, self.core.nodes))

    def _settle(self, key: bytes, window: Window, algorithm: str) -> None:
        """Ask until the window is settled, or the search is stopped."""
        limits = self.game.score_range
        all_scores = Window(limits.lo - 1, limits.hi + 1)
        guess = self.guess(self.game.decode(key))
        while not window.settled_by(self._bounds):
            if algorithm in NULL_WINDOWS:
                asked = window.next_question(guess, self._bounds)
            elif algorithm == "minimax":
                asked = all_scores
            else:
                asked = Window(
                    max(window.alpha, all_scores.alpha), min(window.beta, all_scores.beta)
                )
            found = self._ask(key, algorithm, *asked)
            if found is None:
                return
            guess = found
            self._bounds = narrowed(self._bounds, asked.proved_by(found, limits))

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

    def _keys_after(self, key: bytes) -> list[tuple[Move, bytes]]:
        found = self.core.children(key)
        return [] if isinstance(found, int) else found

    def known(self, position: DefinedPosition) -> Bounds:
        return self._known_of(self.game.encode(position))

    def _known_of(self, key: bytes) -> Bounds:
        entry = self.core.ask(key)
        return self.game.score_range if entry is None else Bounds(*entry)

    def _proved_below(self, position: DefinedPosition) -> list[Known]:
        """As elsewhere, but by keys: most are unknown, and not worth decoding."""
        children = [child for _, child in self._keys_after(self.game.encode(position))]
        grandchildren = [below for child in children for _, below in self._keys_after(child)]
        known = ((key, self._known_of(key)) for key in [*children, *grandchildren])
        return [
            Known(self.game.decode(key), bounds)
            for key, bounds in known if bounds != self.game.score_range
        ]

    def _line(self, position: DefinedPosition, found: Searched) -> list[Move]:
        """Best play to the end from an exact value; the first move if only a bound is known.

        A search below proves each move; it finds nearly everything in the table.
        """
        line: list[Move] = []
        key, value = self.game.encode(position), found.bounds.lo
        while found.solved and (children := self._keys_after(key)):
            # What the table knows to be good needs no search; a worse move may need a long one.
            children.sort(key=lambda child: self._known_of(child[1]).hi > -value)
            for move, after in children:
                score = self._ask(after, "negamax", -value, 1 - value)
                if score is None:
                    return line
                if score <= -value:
                    line.append(move)
                    key, value = after, -value
                    break
            else:
                return line
            if not found.bounds.exact:
                return line
        return line
