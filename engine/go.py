"""The Go engine: questions and answers around the compiled proof-number search.

The score is found by yes/no questions, as MTD(f) asks them; every answer is a proof.
"""

from __future__ import annotations

import time
import zlib
from collections.abc import Iterable
from typing import Any

from zermelo.cext.go_search import Prover
from zermelo.engine.checkpoints import seal, unseal
from zermelo.engine.interface import (
    Answer,
    EngineError,
    Expansion,
    Known,
    Progress,
    Status,
    Window,
    checked_window,
)
from zermelo.engine.portable import PortableEngine
from zermelo.games import Bounds, Game, Move
from zermelo.games.go import PASS, Go, GoPosition

_MAGIC = b"ZGC2"


class _StoppedError(Exception):
    """The node limit was reached or somebody called `abort`."""


class GoEngine:
    """`options` switch techniques off for comparison; see `go_search.OPTIONS`."""

    def __init__(self, game: Go, *, hash_mb: int = 64, **options: bool) -> None:
        self.game: Game[Any] = game
        self._go = game
        self._prover = Prover(
            game.rows,
            game.cols,
            game.ko,
            game.ko == "basic" and game.cycle == "passes",
            game.suicide == "allowed",
            hash_mb,
        )
        self.switch(**options)
        self._bounds = game.score_range
        self._nodes = 0
        self._node_limit: int | None = None
        self._aborted = False

    def switch(self, **options: bool) -> None:
        """Switch techniques off, all others on, from now on; the table stays.

        Without ``share``, whatever the table holds only tells what to try first: no proof
        counts but those found from here on, each under its very history.
        """
        self._prover.set_options(**options)

    # -- the Engine protocol --------------------------------------------------------

    def solve(
        self,
        position: GoPosition,
        window: Window | None = None,
        *,
        algorithm: str = "mtdf",
        node_limit: int | None = None,
        known: Iterable[Known] = (),
    ) -> Answer:
        if algorithm != "mtdf":
            raise EngineError(f"the Go engine knows no algorithm {algorithm!r}; only mtdf")
        window = checked_window(self.game, window, algorithm)
        started = time.perf_counter()
        self._aborted, self._nodes, self._node_limit = False, 0, node_limit
        self._prover.allow()
        for seed in known:
            self._seed(seed)
        status = Status.SOLVED
        try:
            self._search(position, window)
        except _StoppedError:
            status = Status.ABORTED if self._aborted else Status.EXHAUSTED
        line = self._line(position)
        return Answer(
            status=status,
            bounds=self._bounds,
            move=line[0] if line else None,
            line=tuple(line),
            nodes=self._nodes,
            seconds=time.perf_counter() - started,
            proved=() if status is Status.SOLVED else self._proved_below(position),
        )

    def abort(self) -> None:
        self._aborted = True
        self._prover.stop()

    def progress(self) -> Progress:
        return Progress(self._nodes + self._prover.nodes, self._bounds, 0.0)

    def guess(self, position: GoPosition) -> int:
        if self.game.is_final(position):
            return self.game.score(position)
        return self.game.evaluate(position)

    def checkpoint(self) -> bytes:
        return seal(_MAGIC, self.game, zlib.compress(self._prover.dump(), 1))

    def restore(self, checkpoint: bytes) -> None:
        self._prover.load(zlib.decompress(unseal(_MAGIC, self.game, checkpoint)))

    def clear(self) -> None:
        self._prover.clear()

    def expand(self, keys: bytes) -> Expansion:
        return PortableEngine(self.game).expand(keys)

    # -- questions ------------------------------------------------------------------

    def _search(self, position: GoPosition, window: Window) -> None:
        self._bounds = self._known(position)
        if self.game.is_final(position):
            return
        guess = self.guess(position)
        while True:
            bounds = self._bounds
            if window.settled_by(bounds):
                return
            threshold = max(guess, bounds.lo + 1, window.alpha + 1)
            threshold = min(threshold, bounds.hi, window.beta)
            self._ask(position, threshold)
            guess = threshold + 1 if self._bounds.lo >= threshold else threshold - 1

    def _ask(self, position: GoPosition, threshold: int) -> None:
        """Narrow the bounds so that they tell whether the score is at least `threshold`."""
        self._prover.new_question()
        black = position.black_to_move
        target = threshold + self._go.komi if black else 1 - threshold + self._go.komi
        value, nodes = self._prover.prove(
            *self._seen(position),
            target=target,
            draw_value=self._go.komi,
            node_limit=None if self._node_limit is None else self._node_limit - self._nodes,
        )
        self._nodes += nodes
        if value is None:
            raise _StoppedError
        limit = len(self._go.board.points)
        area = Bounds(value, limit) if value >= target else Bounds(-limit, value)
        self._bounds &= self._as_score(area, position)

    # -- what the table knows ----------------------------------------------------------

    def _known(self, position: GoPosition) -> Bounds:
        if self.game.is_final(position):
            score = self.game.score(position)
            return Bounds(score, score)
        return self._as_score(Bounds(*self._prover.known(*self._seen(position))), position)

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
        return known

    def _line(self, position: GoPosition) -> list[Move]:
        """Best play as far as the table proves it: each move keeps the proved bound."""
        line: list[Move] = []
        target = self._bounds
        while target.exact and (moves := self.game.moves(position)):
            for move in moves:
                child = self.game.play(position, move)
                after = -self._known(child)
                if after.lo >= target.lo:
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


def best_reply(engine: GoEngine, position: GoPosition, answer: Answer) -> Move:
    """A move worth playing: the proved one, else the best by the evaluation, else a pass."""
    if answer.move is not None:
        return answer.move
    moves = engine.game.moves(position)
    return max(moves, key=lambda move: (-engine.guess(engine.game.play(position, move)),
                                        move != PASS))
