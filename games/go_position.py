"""A position of Go: stones, turn, passes, ko, and what was there before."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from zermelo.games.go_board import Bitboard, Point
from zermelo.games.interface import Move

PASS: Move = 64
NO_KO: Point = -1


class Past(NamedTuple):
    """One entry of a history: a board that was there, as far as the ko rule looks at it."""

    black: Bitboard
    white: Bitboard
    #: psk: 0. ssk: 1 if Black was to move. basic: side, passes and ko point, packed.
    tag: int = 0
    #: Black's passes minus White's since then; kept for ``cycle=passes`` only.
    balance: int = 0


@dataclass(frozen=True, slots=True)
class GoPosition:
    black: Bitboard
    white: Bitboard
    black_to_move: bool = True
    #: Passes in a row just before this position; 2 ends the game.
    passes: int = 0
    #: Where the side to move may not recapture; ``basic`` only, superko needs no ko point.
    ko: Point = NO_KO
    #: What was there before and could still matter.
    past: frozenset[Past] = frozenset()
    #: White stones captured minus black ones; ``scoring=territory`` only.
    prisoners: int = 0

    @property
    def own(self) -> Bitboard:
        return self.black if self.black_to_move else self.white

    @property
    def opponent(self) -> Bitboard:
        return self.white if self.black_to_move else self.black
