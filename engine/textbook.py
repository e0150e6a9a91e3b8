"""The algorithms of the textbooks over any rules: minimax, alpha-beta, negamax, NegaScout, MTD(f).

Each is written as it is printed. What a search proves is kept by `Proofs`; minimax and
alpha-beta write there and never look, the others also look.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from zermelo.engine.interface import Window
from zermelo.games import Bounds, Game


class Proofs(Protocol):
    """What is proved about positions."""

    def known(self, position: Any) -> Bounds: ...

    def tighten(self, position: Any, bounds: Bounds) -> None: ...


class Searches:
    """All five searches; `visit` counts a node, and raises to end the search."""

    def __init__(self, game: Game[Any], proofs: Proofs, visit: Callable[[], None]) -> None:
        self._game, self._proofs, self._visit = game, proofs, visit
        self._beyond = game.max_score + 1

    def minimax(self, position: Any, *, maximising: bool = True) -> int:
        """The score for the side that maximises; nothing is left out."""
        self._visit()
        children = self._children(position)
        if not children:
            return self._final(position, maximising=maximising)
        scores = [self.minimax(child, maximising=not maximising) for child in children]
        best = max(scores) if maximising else min(scores)
        score = best if maximising else -best
        self._proofs.tighten(position, Bounds(score, score))
        return best

    def alphabeta(
        self, position: Any, alpha: int, beta: int, *, maximising: bool = True
    ) -> int:
        """The score for the side that maximises. Fail-soft:

        result <= alpha:          the score is at most the result
        alpha < result < beta:    the score is the result
        result >= beta:           the score is at least the result
        """
        self._visit()
        children = self._children(position)
        if not children:
            return self._final(position, maximising=maximising)
        low, high = alpha, beta
        best = -self._beyond if maximising else self._beyond
        for child in children:
            score = self.alphabeta(child, low, high, maximising=not maximising)
            if maximising:
                best = max(best, score)
                low = max(low, best)
            else:
                best = min(best, score)
                high = min(high, best)
            if low >= high:
                break
        if maximising:
            self._record(position, best, alpha, beta)
        else:
            self._record(position, -best, -beta, -alpha)
        return best

    def negamax(self, position: Any, alpha: int, beta: int, *, scout: bool = False) -> int:
        """The score for the side to move, fail-soft as above. `scout`: NegaScout, which asks
        null windows after the first move, and again where one fails."""
        self._visit()
        children = self._children(position)
        if not children:
            return self._final(position, maximising=True)
        stored = self._proofs.known(position)
        if Window(alpha, beta).settled_by(stored):
            return stored.lo if stored.lo >= beta or stored.exact else stored.hi
        best, low = -self._beyond, alpha
        for number, child in enumerate(children):
            if scout and number and beta - low > 1:
                score = -self.negamax(child, -low - 1, -low, scout=True)
                if low < score < beta:
                    score = -self.negamax(child, -beta, -score, scout=True)
            else:
                score = -self.negamax(child, -beta, -low, scout=scout)
            best = max(best, score)
            low = max(low, best)
            if low >= beta:
                break
        self._record(position, best, alpha, beta)
        return best

    def mtdf(self, position: Any, window: Window, guess: int) -> None:
        """Null windows that close in on the score, until it is known within the window."""
        while not window.settled_by(bounds := self._proofs.known(position)):
            guess = self.negamax(position, *window.next_question(guess, bounds))

    def _children(self, position: Any) -> list[Any]:
        """Positions after all moves, those with the fewest replies first."""
        game = self._game
        children = [game.play(position, move) for move in game.moves(position)]
        return sorted(children, key=lambda child: len(game.moves(child)))

    def _final(self, position: Any, *, maximising: bool) -> int:
        score = self._game.score(position)
        self._proofs.tighten(position, Bounds(score, score))
        return score if maximising else -score

    def _record(self, position: Any, best: int, alpha: int, beta: int) -> None:
        proved = Window(alpha, beta).proved_by(best, self._game.score_range)
        self._proofs.tighten(position, proved)
