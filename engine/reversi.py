"""The compiled reversi engine in the words of the Engine interface."""

from __future__ import annotations

import math
import time
from array import array
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from zermelo.engine.appraisal import Appraisers
from zermelo.engine.capabilities import Run
from zermelo.engine.compiled import CompiledEngine
from zermelo.engine.dispatch import compiled
from zermelo.engine.interface import (
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
from zermelo.engine.weights import PHASE_SPAN, Layout, load_weights, weight_file
from zermelo.games import Bounds, Move
from zermelo.games.reversi import PASS, Reversi, ReversiPosition

TEXTBOOK = ("minimax", "alphabeta", "negamax")
FAST = ("negascout", "mtdf")
#: What rests on the trained evaluation.
TRAINED = ("evaluation", "lookahead", "probable", "presumed")
TECHNIQUES = ("table", "symmetry", "stability", "enhanced", "parity", *TRAINED)
#: Orderings compared together, besides every one for itself.
COMBINATIONS = (
    ("killer", "history"),
    ("mobility", "corners"),
    ("killer", "history", "mobility"),
    ("killer", "history", "transposition", "mobility"),
    ("discs", "mobility", "corners", "c_squares", "x_squares", "frontier", "stable",
     "sandwiched", "wiped_out", "positional", "edges"),
    ("transposition", "trained"),
    ("killer", "history", "transposition", "trained"),
)
NO_MOVE = 64
#: Passes that presume, by least number of empties: how much each trusts the evaluation.
PASSES = ((24, (3, 2, 1)), (18, (3, 2)), (0, ()))
#: A question may take this many times its nodes, and so many more, for a bound that is a usual
#: score. (Of 15 questions about 6x6 with 28 and 29 empties 11 left an unusual one, and all of those
#: lost it for 1.02 times their nodes.)
SHARPENED, SHARPENED_NODES = 1.125, 1000
MOST_BITS = 128.0  # the effort of what looks impossible
_LN_2 = math.log(2)


class ReversiEngine(CompiledEngine):
    """Alpha-beta on bitboards; see docs/engine.md for how it searches."""

    game: Reversi
    checkpoint_kind = b"ZRC1"
    checkpoint_effort = 8  # 2^8 nodes

    def __init__(
        self,
        game: Reversi,
        *,
        threads: int = 1,
        hash_mb: int = 64,
        shared: SharedTable | None = None,
        weights: Path | None = None,
        **techniques: bool,
    ) -> None:
        self.game = game
        self._shared = shared
        wof = game.scoring == "wof"
        place = (shared.memory, shared.salt(game)) if shared else ()
        path = weights or weight_file(game)
        layout = Layout.of(game)
        loaded = None
        if weights is not None or path.exists():
            loaded = load_weights(path, layout.size)

        def make_core(threads: int, table_bytes: int, *place: Any) -> Any:
            core = compiled("reversi").Core(
                game.rows, game.cols, wof, threads, table_bytes, *place
            )
            core.set_patterns(layout.instances, PHASE_SPAN)
            if loaded is not None:
                core.set_weights(loaded)
            return core

        try:
            self.core = make_core(threads, hash_mb << 20, *place)
        except MemoryError as error:
            raise EngineError(f"{error}; choose a smaller --hash-mb") from None
        self._appraisers = Appraisers(lambda: make_core(1, 0))
        self.threads = threads
        self.switch(**techniques)
        self._helpers = ThreadPoolExecutor(threads - 1) if threads > 1 else None
        self._bounds = game.score_range
        #: None once the value is found: the line of play is about other positions.
        self._root_moves: int | None = 1
        self._aborted = False
        self.passes_for_questions = self.sharpens_answers = False

    # -- the Engine protocol --------------------------------------------------------

    def abort(self) -> None:
        self._aborted = True
        self.core.abort()

    def progress(self) -> Progress:
        moves = self._root_moves
        fraction = 1.0 if moves is None else self.core.root_done / moves
        return Progress(self.core.nodes, self._bounds, fraction)

    def guess(self, position: ReversiPosition) -> int:
        guess = self.core.guess(position.own, position.opponent)
        if guess is not None:
            return self._clamp(guess)
        if self.game.is_final(position):
            return self.game.score(position)
        return self.game.evaluate(position)

    def efforts(self, position: ReversiPosition, threshold: int) -> Efforts | None:
        bits = self.core.efforts(position.own, position.opponent, threshold)
        return None if bits is None else _efforts(bits)

    # -- capabilities -----------------------------------------------------------------

    def count_lines(self, position: ReversiPosition, plies: int) -> int:
        return int(self.core.perft(position.own, position.opponent, plies))

    def guess_all(self, positions: Sequence[ReversiPosition]) -> list[int]:
        guesses = self._appraisers.guesses(positions) if positions else None
        if guesses is None:
            return [self.guess(position) for position in positions]
        return [self._clamp(guess) for guess in guesses]

    def efforts_all(
        self, questions: Sequence[tuple[ReversiPosition, int]]
    ) -> list[Efforts] | None:
        if not questions:
            return []
        thresholds = array("i", (threshold for _, threshold in questions))
        bits = self._appraisers.efforts([position for position, _ in questions], thresholds)
        return None if bits is None else [_efforts(pair) for pair in bits]

    def techniques(self) -> tuple[str, ...]:
        return tuple(name for name in TECHNIQUES if name not in TRAINED or self._has_weights())

    def switched_algorithms(self) -> tuple[str, ...]:
        return FAST

    def switch(self, **techniques: bool) -> None:
        self.core.set_options(**techniques)

    def orderings(self, algorithm: str) -> Iterator[tuple[str, ...]]:
        yield ()
        if algorithm == "minimax":
            return  # it visits everything, in whatever order
        single = [(order,) for order in compiled("reversi").ORDERS]
        for orders in (*single, *COMBINATIONS):
            if "trained" in orders and not self._has_weights():
                continue
            if "transposition" in orders and algorithm == "alphabeta":
                continue  # the textbook's alpha-beta keeps no table
            yield orders

    def search_by_textbook(
        self, position: ReversiPosition, algorithm: str, orders: tuple[str, ...], node_budget: int
    ) -> Run:
        if self.game.is_final(position):
            return Run(self.game.score(position), 1, 0.0)
        self.core.prepare(self.game.plies_left(position), node_budget)
        limits = self.game.score_range
        started = time.perf_counter()
        found = self.core.textbook(
            position.own, position.opponent, algorithm, limits.lo - 1, limits.hi + 1, orders
        )
        seconds = time.perf_counter() - started
        return Run(None if found is None else found[0], self.core.nodes, seconds)

    def _has_weights(self) -> bool:
        start = self.game.initial()
        return self.core.guess(start.own, start.opponent) is not None

    # -- searching --------------------------------------------------------------------

    def _search(
        self, position: ReversiPosition, window: Window, algorithm: str, node_budget: int | None,
        known: Iterable[Known],
    ) -> Searched:
        limits = self.game.score_range
        for item in known:
            bounds = item.bounds & limits
            self.core.tell(item.position.own, item.position.opponent, *_pair(bounds))
        self._bounds, self._aborted = limits, False
        self._root_moves = max(1, len(self.core.moves(position.own, position.opponent)))
        if node_budget is not None and algorithm in TEXTBOOK:
            node_budget *= self.threads  # shared out among threads of which one searches
        age = self._shared.age() if self._shared else None
        self.core.prepare(self.game.plies_left(position), node_budget, age)
        if self.game.is_final(position):
            score = self.game.score(position)
            self._bounds, move = Bounds(score, score), None
        elif algorithm in TEXTBOOK:
            move = self._textbook(position, algorithm, window)
        else:
            move = self._settle(position, algorithm, window)
        status = Status(self.core.status)
        if self.sharpens_answers and status is Status.SOLVED and window.beta - window.alpha == 1:
            self._sharpen(position, node_budget)
        return Searched(status, self._bounds, max(1, self.core.nodes), move)

    def _settle(self, position: ReversiPosition, algorithm: str, window: Window) -> Move | None:
        """Ask until the window is settled; the best move of the last answer at or above alpha."""
        best: Move | None = None
        guess = self.guess(position)
        if algorithm == "mtdf":
            guess = self._presume(position, window, guess)
        while not window.settled_by(self._bounds):
            asked = window.next_question(guess, self._bounds) if algorithm == "mtdf" else window
            found = self._ask(position, *asked)
            if found is None:
                return best
            guess, move = found
            self._bounds = narrowed(self._bounds, asked.proved_by(guess, self.game.score_range))
            if best is None or guess > asked.alpha:
                best = move
        return best

    def _sharpen(self, position: ReversiPosition, node_budget: int | None) -> None:
        """Exclude the score next to an answer if hardly any game ends with it, where that is cheap.

        Nearly all boards are full at the end, so a no to -2 nearly always means at most -4: the
        table knows most of its proof, and a campaign is spared a test of its own for it.
        """
        limits, lo, hi = self.game.score_range, self._bounds.lo, self._bounds.hi
        if lo > limits.lo and (limits.hi - lo) % 2:
            question = Window.question(lo + 1)
        elif hi < limits.hi and (limits.hi - hi) % 2:
            question = Window.question(hi)
        else:
            return
        if question.settled_by(self._bounds):
            return
        most = round(self.core.nodes * SHARPENED) + SHARPENED_NODES
        self.core.limit(most if node_budget is None else min(most, node_budget))
        found = self._ask(position, *question)
        if found is not None:
            self._bounds = narrowed(self._bounds, question.proved_by(found[0], limits))

    def _presume(self, position: ReversiPosition, window: Window, guess: int) -> int:
        """A better guess, and moves for the table, by passes that believe the evaluation.

        One question alone needs the moves, not the guess: it has passes where they are asked for.
        What is won or lost by far is settled sooner without.
        """
        limits, empties = self.game.score_range, self.game.plies_left(position)
        asked = Window(max(window.alpha, limits.lo - 1), min(window.beta, limits.hi + 1))
        alone = asked.beta - asked.alpha < 3
        if ((alone and not self.passes_for_questions) or 2 * abs(guess) > self.game.max_score
                or not self.core.presume(0)):
            return guess
        try:
            for trust in next(trusts for least, trusts in PASSES if empties >= least):
                self.core.presume(trust)
                bounds = limits
                while not asked.settled_by(bounds):
                    question = asked.next_question(guess, bounds)
                    found = self._ask(position, *question)
                    if found is None:
                        break
                    guess = found[0]
                    told = question.proved_by(guess, limits)
                    if told.lo > bounds.hi or told.hi < bounds.lo:
                        break  # presumptions may contradict each other
                    bounds = bounds & told
        finally:
            self.core.presume(0)  # whatever comes next is to be proved
        return guess

    def _ask(
        self, position: ReversiPosition, alpha: int, beta: int
    ) -> tuple[int, Move | None] | None:
        """One search with all threads: score and best move; None if it was stopped. Fail-soft:

        score <= alpha:          the true score is at most this
        alpha < score < beta:    the true score
        score >= beta:           the true score is at least this
        """
        question = (position.own, position.opponent, alpha, beta)
        helpers = [
            self._helpers.submit(self.core.run, thread, *question)
            for thread in range(1, self.threads)
        ] if self._helpers else []
        answers = [self.core.run(0, *question), *(helper.result() for helper in helpers)]
        found = next((answer for answer in answers if answer is not None), None)
        self.core.resume()
        if found is None:
            return None
        score, square = found
        return score, self._move(position, square)

    def _move(self, position: ReversiPosition, square: int) -> Move | None:
        """A square that a search names as the move it means, if it means one."""
        if not self.core.moves(position.own, position.opponent):
            return PASS
        return None if square == NO_MOVE else square

    def _textbook(self, position: ReversiPosition, algorithm: str, window: Window) -> Move | None:
        """Narrow the bounds by one search that may be fail-hard: outside the window the score
        is no more than a bound on its side."""
        limits = self.game.score_range
        asked = Window(max(window.alpha, limits.lo - 1), min(window.beta, limits.hi + 1))
        found = self.core.textbook(
            position.own, position.opponent, algorithm, *asked, TEXTBOOK_ORDER
        )
        if found is None:
            return None
        score, square = found
        exact = algorithm == "minimax"
        self._bounds = Bounds(score, score) if exact else asked.proved_by(score, limits)
        return self._move(position, square)

    # -- what the table knows ---------------------------------------------------------

    def _children(self, position: ReversiPosition) -> list[tuple[Move, ReversiPosition]]:
        turn = not position.black_to_move
        placements = self.core.moves(position.own, position.opponent)
        if placements:
            return [(square, ReversiPosition(own, opp, turn)) for square, own, opp in placements]
        other = ReversiPosition(position.opponent, position.own, turn)
        return [(PASS, other)] if self.core.moves(other.own, other.opponent) else []

    def known(self, position: ReversiPosition) -> Bounds:
        entry = self.core.ask(position.own, position.opponent)
        return self.game.score_range if entry is None else Bounds(entry[0], entry[1])

    def _line(self, position: ReversiPosition, found: Searched) -> list[Move]:
        """Best play to the end, from an exact value; the first move if only a bound is known.

        The search below proves each move; it finds nearly everything in the table.
        """
        if not found.solved:
            return []
        if not found.bounds.exact:
            return [] if found.move is None else [found.move]
        value = found.bounds.lo
        self._root_moves = None
        line: list[Move] = []
        while children := self._children(position):
            entry = self.core.ask(position.own, position.opponent)
            preferred = entry[2] if entry and line else found.move
            children.sort(key=lambda child: child[0] != preferred)
            for chosen, after in children:
                self.core.turn_to(self.game.plies_left(after))
                answer = self._ask(after, -value, 1 - value)
                if answer is None or self._aborted:
                    return line
                if answer[0] <= -value:
                    line.append(chosen)
                    position, value = after, -value
                    break
            else:
                # No move keeps the value: it rests on known bounds that are false.
                return line
        return line

    def _clamp(self, score: int) -> int:
        return max(-self.game.max_score, min(self.game.max_score, score))


#: How the textbook algorithms order moves when a user just wants the value.
TEXTBOOK_ORDER = ("killer", "history", "mobility")


def _efforts(bits: tuple[float, float]) -> Efforts:
    yes, no = bits
    return Efforts(_LN_2 * min(yes, MOST_BITS), _LN_2 * min(no, MOST_BITS))


def _pair(bounds: Bounds) -> tuple[int, int]:
    return bounds.lo, bounds.hi
