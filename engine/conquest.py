"""Whole-board questions: the search that owns everything or says nothing, beside the prover.

docs/go.md, "Conquest", says which positions it may be asked about, and why a yes holds.
"""

from __future__ import annotations

from array import array
from functools import cache

from zermelo.cext import go_conquest
from zermelo.engine.weights import CONQUEST_FILE, load_weights
from zermelo.games.go import NO_KO, Go, GoPosition


@cache
def conquest_weights() -> tuple[array[int], array[int]]:
    """The weights of move priors, for the prover and for the opponent."""
    weights = load_weights(CONQUEST_FILE, 2 * go_conquest.WEIGHTS)
    return weights[: go_conquest.WEIGHTS], weights[go_conquest.WEIGHTS :]


class Conquest:
    """The compiled search, deepened step by step for one position after another."""

    def __init__(self, game: Go, *, hash_mb: int) -> None:
        self._go = game
        self._search = go_conquest.Conquest(game.rows, game.cols, hash_mb)
        self._search.learned(*conquest_weights())
        self._asked: tuple[GoPosition, bool] | None = None
        self._plies = 0
        self.over = False  # whether to go on would be in vain

    @staticmethod
    def suits(game: Go) -> bool:
        return (
            game.suicide == "forbidden"
            and min(game.rows, game.cols) > 1
            and game.rows * game.cols <= go_conquest.POINTS
        )

    @staticmethod
    def may_be_asked(game: Go, position: GoPosition) -> bool:
        """A cycle may also be closed by the opponent, so there the past must be empty."""
        return not position.passes and not (game.ko == "basic" and position.past)

    def ask(self, position: GoPosition, by_black: bool, node_budget: int) -> tuple[bool, int]:
        """Whether this side was found to own everything; and the nodes.

        Asked again about the same position, the search goes on where it was.
        """
        to_move = position.black_to_move == by_black
        if self._asked != (position, by_black):
            self._asked, self.over = (position, by_black), False
            self._plies = 1 if to_move else 2
        spent = 0
        while not self.over and spent < node_budget:
            won, nodes = self._search.prove(
                *self._stones(position, by_black), to_move, position.ko,
                self._fewest(position, by_black), self._plies, node_budget - spent,
            )  # fmt: skip
            spent += nodes
            if won:
                return True, spent
            if won is None:
                break
            self._plies += 2
            self.over = self._plies > go_conquest.DEEPEST or self.knows(position, by_black) is False
        return False, spent

    def knows(self, position: GoPosition, by_black: bool) -> bool | None:
        """True: this side owns everything; False: never; None: nobody knows."""
        if position.ko != NO_KO or not self.may_be_asked(self._go, position):
            return None  # the table is about positions without a ban
        return self._search.known(
            *self._stones(position, by_black), position.black_to_move == by_black,
            self._fewest(position, by_black),
        )  # fmt: skip

    def move(self, position: GoPosition) -> int | None:
        """How the side to move goes on to own everything, if it is known to."""
        by_black = position.black_to_move
        if not self.knows(position, by_black):
            return None
        stones = self._stones(position, by_black)
        return self._search.move(*stones, self._fewest(position, by_black))

    @property
    def nodes(self) -> int:
        return self._search.nodes

    def stop(self) -> None:
        self._search.stop()

    def allow(self) -> None:
        self._search.allow()

    def clear(self) -> None:
        self._search.clear()
        self._asked = None

    @staticmethod
    def _stones(position: GoPosition, by_black: bool) -> tuple[int, int]:
        stones = position.black, position.white
        return stones if by_black else stones[::-1]

    @staticmethod
    def _fewest(position: GoPosition, by_black: bool) -> int:
        """With more stones of this side a board cannot be one that was there before."""
        return max(
            ((past.black if by_black else past.white).bit_count() for past in position.past),
            default=0,
        )
