"""The Go engine: questions, deepening and answers around the compiled proof search.

The score is found by yes/no questions, as MTD(f) asks them. For one question two
*provers* take turns: the side to move tries to force the threshold, the other side
tries to hold the score below it, each a little deeper than the last time; whoever has
used fewer nodes goes next. Only proofs count, so the answer is right whoever finishes.
"""

from __future__ import annotations

import time
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
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

_MAGIC = b"ZGC1"
_DEEPEST = 250


class _StoppedError(Exception):
    """The node limit was reached or somebody called `abort`."""


@dataclass(slots=True)
class _Side:
    """One prover's share in answering a question."""

    black: bool
    target: int
    depth: int
    nodes: int = 0


class GoEngine:
    """`options` switch techniques off for comparison; see `go_search.OPTIONS`."""

    def __init__(self, game: Go, *, hash_mb: int = 64, **options: bool) -> None:
        self.game: Game[Any] = game
        self._go = game
        self._options = options
        self._prover = Prover(
            game.rows,
            game.cols,
            game.ko,
            game.ko == "basic" and game.cycle == "passes",
            game.suicide == "allowed",
            hash_mb,
        )
        self._prover.set_options(**options)
        self._bounds = game.score_range
        self._nodes = 0
        self._node_limit: int | None = None
        self._aborted = False
        self._running = False

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
        """Narrow the bounds until they tell whether the score is at least `threshold`.

        A failure on record can hide a proof that another history allows. So after a quick
        attempt come others, by turns one that compares histories exactly, with ever more
        nodes, and a quick one that starts from no failures and another order of moves.
        """
        self._prover.new_question()
        before = self._nodes
        attempt = 0
        while self._bounds.answers(threshold) is None:
            exact, shuffle = attempt % 2 == 1, attempt // 2
            self._prover.set_options(exact_fails=exact, shuffle=shuffle, **self._options)
            if attempt and not exact:
                self._prover.forget_failures()
            patience = _DEEPEST if exact else self._patience(position) + 4 * shuffle
            allowance = 20_000 + (self._nodes - before) if exact else None
            self._attempt(position, threshold, patience, allowance)
            attempt += 1

    def _attempt(
        self, position: GoPosition, threshold: int, patience: int, allowance: int | None
    ) -> None:
        """Let both sides try, up to a depth and a number of nodes."""
        mover = position.black_to_move
        yes = _Side(mover, self._as_area(threshold, mover), depth=1)
        no = _Side(not mover, self._as_area(1 - threshold, not mover), depth=0)
        while self._bounds.answers(threshold) is None:
            side = yes if yes.nodes <= no.nodes else no
            if side.depth > patience:
                return
            left = None if allowance is None else allowance - yes.nodes - no.nodes
            if left is not None and left <= 0:
                return
            self._deepen(position, side, left)

    def _patience(self, position: GoPosition) -> int:
        """A depth by which a quick attempt has found what it will find."""
        return self.game.plies_left(position) + 12

    def _deepen(self, position: GoPosition, side: _Side, allowance: int | None) -> None:
        left = None if self._node_limit is None else self._node_limit - self._nodes
        limits = [limit for limit in (left, allowance) if limit is not None]
        value, nodes = self._prover.prove(
            *self._seen_by(position, side.black),
            target=side.target,
            depth=side.depth,
            draw_value=self._go.komi if side.black else -self._go.komi,
            salt=self._salt(side.black),
            node_limit=min(limits, default=None),
        )
        self._nodes += nodes
        side.nodes += nodes
        side.depth += 2
        if value is not None:
            self._bounds &= self._as_bounds(value, side.black, position)
        elif self._aborted or (left is not None and nodes >= left):
            raise _StoppedError

    # -- what the table knows ----------------------------------------------------------

    def _known(self, position: GoPosition) -> Bounds:
        bounds = self.game.score_range
        if self.game.is_final(position):
            score = self.game.score(position)
            return Bounds(score, score)
        for black in (True, False):
            found = self._prover.known(*self._seen_by(position, black), salt=self._salt(black))
            if found is not None:
                bounds &= self._as_bounds(found, black, position)
        return bounds

    def _seed(self, seed: Known) -> None:
        position: GoPosition = seed.position
        mover = position.black_to_move
        for black, floor in ((mover, seed.bounds.lo), (not mover, -seed.bounds.hi)):
            if floor > -self.game.max_score and not self.game.is_final(position):
                self._prover.seed(
                    *self._seen_by(position, black),
                    value=max(-len(self._go.board.points), self._as_area(floor, black)),
                    salt=self._salt(black),
                )

    def _proved_below(self, position: GoPosition) -> list[Known]:
        """Children and grandchildren about which more is known than the rules tell."""
        game = self.game
        children = [game.play(position, move) for move in game.moves(position)]
        grandchildren = [game.play(child, move) for child in children for move in game.moves(child)]
        known = [Known(below, self._known(below)) for below in [*children, *grandchildren]]
        return [item for item in known if item.bounds != game.score_range]

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

    # -- a position as the provers see it ------------------------------------------------

    def _seen_by(self, position: GoPosition, black: bool) -> tuple[Any, ...]:
        """Stones, turn, passes, ko and history in the prover's terms."""
        own, other = position.black, position.white
        if not black:
            own, other = other, own
        past = [
            (
                (before.black, before.white) if black else (before.white, before.black)
            ) + (self._tag(before.tag, black), -before.balance if black else before.balance)
            for before in position.past
        ]
        return own, other, position.black_to_move == black, position.passes, position.ko, past

    def _tag(self, tag: int, black: bool) -> int:
        """The tag of a past board with the side told as prover or not."""
        return tag if self._go.ko == "psk" or black else tag ^ 1

    def _as_area(self, score: int, black: bool) -> int:
        return score + self._go.komi if black else score - self._go.komi

    def _as_bounds(self, area: int, black: bool, position: GoPosition) -> Bounds:
        """What "this colour can force this area difference" says about the score."""
        score = area - self._go.komi if black else area + self._go.komi
        limit = self.game.max_score
        if black == position.black_to_move:
            return Bounds(max(score, -limit), limit)
        return Bounds(-limit, min(-score, limit))

    def _salt(self, black: bool) -> int:
        """Proofs are shared between the colours unless a draw is worth different area."""
        return int(black) if self._go.komi and self._go.ko == "basic" else 0


def best_reply(engine: GoEngine, position: GoPosition, answer: Answer) -> Move:
    """A move worth playing: the proved one, else the best by the evaluation, else a pass."""
    if answer.move is not None:
        return answer.move
    moves = engine.game.moves(position)
    return max(moves, key=lambda move: (-engine.guess(engine.game.play(position, move)),
                                        move != PASS))
