"""The Go engine: questions and answers around the compiled searches.

The score is found by yes/no questions, as MTD(f) asks them; every answer is a proof. A search
of its own looks for the yes to whether one side owns the whole board (conquest.py).
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable
from typing import Any

from zermelo.cext.go_search import OPTIONS, Prover
from zermelo.engine.checkpoints import inflate, load_records, seal, unseal
from zermelo.engine.conquest import Conquest
from zermelo.engine.interface import (
    EngineError,
    Expansion,
    Known,
    Progress,
    SearchReport,
    Status,
    Window,
    narrowed,
)
from zermelo.engine.portable import PortableEngine
from zermelo.engine.searching import Searched, SearchingEngine
from zermelo.engine.shared_table import SharedTable
from zermelo.games import Bounds, Move
from zermelo.games.go import PASS, Go, GoPosition

_MAGIC = b"ZGC2"
#: What a checkpoint may hold: the table of 1 GiB, all of it.
_MOST_CHECKPOINT_BYTES = 1 << 30
#: Boards whose whole histories are searched for territory.
MOST_TERRITORY_POINTS = 4
_FIRST_SLICE = 1 << 16  # nodes
_CONQUEST_SHARE = 2, 12  # nodes of the conquest to one of the prover's, on small and large boards
_LARGE = 20  # points of a board on which owning everything is tried for any question,
_PLENTY = 1_000_000  # nodes of a search: with fewer, to weigh all sets would take longer


class _StoppedError(Exception):
    """The node budget was reached or somebody called `abort`."""


def open_go_engine(
    game: Go, *, threads: int, hash_mb: int, shared: SharedTable | None
) -> GoEngine:
    """The engine; its table is one that no other engine can use."""
    if threads > 1:
        raise EngineError(
            f"{threads} threads: the Go engine searches with one; `zermelo solve"
            f" {game.short_spec}` uses all cores"
        )
    return GoEngine(game, hash_mb=hash_mb)


def open_territory_engine(
    game: Go, *, threads: int, hash_mb: int, shared: SharedTable | None
) -> PortableEngine:
    """A search over whole histories: what the compiled ones share holds for area only."""
    if len(game.board.points) > MOST_TERRITORY_POINTS:
        raise EngineError(
            f"{game.short_spec}: territory and prisoners depend on the whole history, which"
            f" is searched on at most {MOST_TERRITORY_POINTS} points; choose a smaller board,"
            " or scoring=area"
        )
    if threads > 1:
        raise EngineError(f"{threads} threads: {game.short_spec} is searched with one")
    return PortableEngine(game)


class GoEngine(SearchingEngine):
    """`options` switch techniques off for comparison; see `go_search.OPTIONS`."""

    def __init__(self, game: Go, *, hash_mb: int = 64, **options: bool) -> None:
        self.game = game
        self._go = game
        self._conquest: Conquest | None = None
        if Conquest.suits(game):
            large = len(game.board.points) >= _LARGE
            self._conquest = Conquest(game, hash_mb=max(1, hash_mb // (2 if large else 16)))
            hash_mb = max(1, hash_mb // 2) if large else hash_mb
        self._prover = Prover(
            game.rows,
            game.cols,
            game.ko,
            game.ko == "basic" and game.cycle == "passes",
            game.suicide == "allowed",
            hash_mb,
        )
        self.switch(**options)
        self._running: Prover | Conquest | None = None
        self._textbook: PortableEngine | None = None
        self._bounds = game.score_range
        self._nodes = 0
        self._node_budget: int | None = None
        self._aborted = False

    def techniques(self) -> tuple[str, ...]:
        return (*OPTIONS, "conquest") if self._conquest is not None else OPTIONS

    def switched_algorithms(self) -> tuple[str, ...]:
        return ("mtdf",)

    def switch(self, *, conquest: bool = True, **options: bool) -> None:
        """Switch techniques off, all others on, from now on; the table stays.

        Without ``share``, whatever the table holds only tells what to try first: no proof
        counts but those found from here on, each under its very history.
        """
        self._prover.set_options(**options)
        # A conquest rests on unconditional life, and on theorems about history.
        self._may_conquer = conquest and not options

    # -- the Engine protocol --------------------------------------------------------

    def abort(self) -> None:
        self._aborted = True
        if (textbook := self._textbook) is not None:
            textbook.abort()
        self._prover.stop()
        if self._conquest is not None:
            self._conquest.stop()

    def progress(self) -> Progress:
        if (textbook := self._textbook) is not None:
            return textbook.progress()
        running = self._running
        return Progress(self._nodes + (running.nodes if running else 0), self._bounds, 0.0)

    def guess(self, position: GoPosition) -> int:
        if self.game.is_final(position):
            return self.game.score(position)
        if not self._large:
            return self.game.evaluate(position)
        stones = (self._go.after(position, point) for point in self._go.board.points)
        passing = self._influence(position)
        return max((-self._influence(child) for child in stones if child), default=passing)

    def _influence(self, position: GoPosition) -> int:
        """The score if every empty point goes to whoever is nearer, for the side to move.

        While one side has no stone yet, nothing is said about empty points.
        """
        black, white = position.black, position.white
        free = self._go.board.mask & ~(black | white) if black and white else 0
        while free:
            near_black = self._go.board.neighbours(black) & free
            near_white = self._go.board.neighbours(white) & free
            free &= ~(near_black | near_white)
            black |= near_black & ~near_white
            white |= near_white & ~near_black
            if not near_black | near_white:
                break
        score = black.bit_count() - white.bit_count() - self._go.komi
        return score if position.black_to_move else -score

    def efforts(self, position: GoPosition, threshold: int) -> None:
        return None

    def checkpoint(self) -> bytes:
        return seal(_MAGIC, self.game, zlib.compress(self._prover.dump(), 1))

    def restore(self, checkpoint: bytes) -> None:
        content = unseal(_MAGIC, self.game, checkpoint)
        load_records(self._prover.load, inflate(content, _MOST_CHECKPOINT_BYTES))

    def clear(self) -> None:
        self._prover.clear()
        if self._conquest is not None:
            self._conquest.clear()

    def expand(self, keys: bytes) -> Expansion:
        return PortableEngine(self.game).expand(keys)

    # -- questions ------------------------------------------------------------------

    def _searcher(self, algorithm: str) -> SearchingEngine:
        """All but MTD(f) as textbooks print them, over the reference rules and whole histories."""
        self._textbook = None if algorithm == "mtdf" else PortableEngine(self.game)
        return self._textbook or self

    def _search(
        self, position: GoPosition, window: Window, algorithm: str, node_budget: int | None,
        known: Iterable[Known],
    ) -> Searched:
        self._aborted, self._nodes, self._node_budget = False, 0, node_budget
        self._prover.allow()
        if self._conquest is not None:
            self._conquest.allow()
        for seed in known:
            self._seed(seed)
        status = Status.SOLVED
        try:
            self._settle(position, window)
        except _StoppedError:
            status = Status.ABORTED if self._aborted else Status.EXHAUSTED
        return Searched(status, self._bounds, self._nodes)

    def _settle(self, position: GoPosition, window: Window) -> None:
        """Ask until the window is settled."""
        self._bounds = self.known(position)
        if self.game.is_final(position):
            return
        guess = self._first_guess(position)
        while not window.settled_by(self._bounds):
            threshold = window.next_question(guess, self._bounds).beta
            self._ask(position, threshold)
            yes = self._bounds.lo >= threshold
            if guess in self._everything:
                guess = self.guess(position)
            else:
                guess = threshold + 1 if yes else threshold - 1

    def _first_guess(self, position: GoPosition) -> int:
        """On large boards whoever stands better often gets everything, and to find this out
        takes less than any other question."""
        guess = self.guess(position)
        if self._large and self._conquest_of(position) is not None:
            return self._everything[guess < 0]
        return guess

    @property
    def _large(self) -> bool:
        return len(self._go.board.points) >= _LARGE

    @property
    def _everything(self) -> tuple[int, int]:
        """The thresholds that ask for the whole board, for this side and for the other."""
        return self.game.score_range.hi, self.game.score_range.lo + 1

    def _ask(self, position: GoPosition, threshold: int) -> None:
        """Narrow the bounds so that they tell whether the score is at least `threshold`."""
        self._prover.new_question()
        target = (threshold if position.black_to_move else 1 - threshold) + self._go.komi
        limit = len(self._go.board.points)
        value = None
        conquest = self._conquest_of(position)
        whole = target in (limit, 1 - limit)
        if conquest is not None and (whole or self._might_get_all(position, target)):
            value = self._conquer_or_prove(conquest, position, target)
        while value is None:
            value = self._prove(position, target)
        area = Bounds(value, limit) if value >= target else Bounds(-limit, value)
        self._bounds = narrowed(self._bounds, self._as_score(area, position))

    def _might_get_all(self, position: GoPosition, target: int) -> bool:
        """Whether the side whose proof settles the question looks like owning everything."""
        guess = self.guess(position) if position.black_to_move else -self.guess(position)
        return self._large and (guess >= 0 if target > 0 else guess < 0)

    def _prove(self, position: GoPosition, target: int, nodes: int | None = None) -> int | None:
        """A bound of the area difference. Fail-soft:

        bound >= target:    Black can force at least this
        bound < target:     White can hold it to at most this
        None:               it takes more than `nodes`, and nothing is proved
        """
        left = self._left(nodes)
        self._running = self._prover
        value, spent = self._prover.prove(
            *self._seen(position), target=target, draw_value=self._go.komi, node_budget=left
        )
        self._spend(spent, enough=value is not None)
        return value

    def _conquer_or_prove(
        self, conquest: Conquest, position: GoPosition, target: int
    ) -> int | None:
        """Both searches in turns, with more and more nodes: a bound as in `_prove`.

        The conquest finds a yes soon or never; the prover can say no. None: the conquest has
        given up, nothing is proved, and the prover is to go on alone.
        """
        whole = len(self._go.board.points) * (1 if target > 0 else -1)
        nodes = _FIRST_SLICE
        while True:
            self._running = conquest
            won, spent = conquest.ask(position, target > 0, self._left(nodes) or nodes)
            self._spend(spent, enough=won)
            if won:
                return whole
            if conquest.over:
                return None
            value = self._prove(position, target, nodes // _CONQUEST_SHARE[self._large])
            if value is not None:
                return value
            nodes *= 2

    def _conquest_of(self, position: GoPosition) -> Conquest | None:
        """The search for the whole board, if it may be asked about this position."""
        enough = not self._large or self._node_budget is None or self._node_budget >= _PLENTY
        asked = self._may_conquer and enough and Conquest.may_be_asked(self._go, position)
        return self._conquest if asked else None

    def _left(self, nodes: int | None) -> int | None:
        """At most `nodes` nodes, within the node budget; None: as many as it takes."""
        if self._node_budget is None:
            return nodes
        left = self._node_budget - self._nodes
        return left if nodes is None else min(left, nodes)

    def _spend(self, nodes: int, *, enough: bool) -> None:
        """Count the nodes of a search; the end of all unless they were enough or more are left."""
        self._running = None
        self._nodes += nodes
        exhausted = self._node_budget is not None and self._nodes >= self._node_budget
        if not enough and (self._aborted or exhausted):
            raise _StoppedError

    # -- what the table knows ----------------------------------------------------------

    def known(self, position: GoPosition) -> Bounds:
        if self.game.is_final(position):
            score = self.game.score(position)
            return Bounds(score, score)
        bounds = self._as_score(Bounds(*self._prover.known(*self._seen(position))), position)
        return bounds & (self._conquered(position) or bounds)

    def _conquered(self, position: GoPosition) -> Bounds | None:
        """The score if one side is known to own everything."""
        conquest = self._conquest_of(position)
        for by_black in (True, False):
            if conquest is not None and conquest.knows(position, by_black):
                whole = len(self._go.board.points) * (1 if by_black else -1)
                return self._as_score(Bounds(whole, whole), position)
        return None

    def _seed(self, seed: Known) -> None:
        position: GoPosition = seed.position
        if self.game.is_final(position):
            return
        area = seed.bounds if position.black_to_move else -seed.bounds
        komi, limit = self._go.komi, len(self._go.board.points)
        if area.lo + komi > -limit:
            self._prover.seed(*self._seen(position), value=area.lo + komi, by_black=True)
        if area.hi + komi < limit:
            self._prover.seed(*self._seen(position), value=area.hi + komi, by_black=False)

    def _proved_below(self, position: GoPosition) -> list[Known]:
        """Children and grandchildren about which more is known than the rules tell."""
        known = []
        for moves, area in self._prover.known_below(*self._seen(position)):
            below = position
            for move in moves:
                below = self._go.play(below, move)
            known.append(Known(below, self._as_score(Bounds(*area), below)))
        if self._conquest_of(position) is not None:
            known += self._conquered_below(position)
        return known

    def _conquered_below(self, position: GoPosition) -> list[Known]:
        """Children and grandchildren that the conquest has settled."""
        return [
            Known(node, bounds)
            for node in self._below(position)
            if not self.game.is_final(node) and (bounds := self._conquered(node))
        ]

    def _line(self, position: GoPosition, found: Searched) -> list[Move]:
        """Best play as far as the table proves it: each move keeps the proved bound."""
        line: list[Move] = []
        target = found.bounds
        while target.exact and (moves := self.game.moves(position)):
            conquest = self._conquest_of(position)
            sure = None if conquest is None else conquest.move(position)
            for move in moves if sure is None else [sure]:
                child = self.game.play(position, move)
                after = -self.known(child)
                if move == sure or after.lo >= target.lo:
                    line.append(move)
                    position, target = child, -(after & target)
                    break
            else:
                break
        return line

    # -- a position as the prover sees it -------------------------------------------------

    def _seen(self, position: GoPosition) -> tuple[Any, ...]:
        """Stones, turn, passes, ko and history; the search counts passes up to a board."""
        past = [(*before[:3], -before.balance) for before in sorted(position.past)]
        return (
            position.black, position.white, position.black_to_move, position.passes,
            position.ko, past,
        )

    def _as_score(self, area: Bounds, position: GoPosition) -> Bounds:
        """What Black can force and White can hold, for the side to move."""
        score = Bounds(area.lo - self._go.komi, area.hi - self._go.komi)
        score = score if position.black_to_move else -score
        return score & self.game.score_range


def best_reply(engine: GoEngine, position: GoPosition, report: SearchReport) -> Move:
    """A move worth playing: the proved one, else the best by the evaluation, else a pass."""
    if report.move is not None:
        return report.move
    moves = engine.game.moves(position)
    return max(moves, key=lambda move: (-engine.guess(engine.game.play(position, move)),
                                        move != PASS))
