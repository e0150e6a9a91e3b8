"""Whether every statement of a certificate follows from the others and the rules.

Every entry is checked by itself: its position is one of the game and canonical, its move
is legal, every reply is covered, and the bounds of the positions after them suffice.
That the entry about the root is among them makes the whole a proof, provided that no
chain of reasons comes back to where it began.

Here this is done on the plain rules of any game. Reversi has it compiled (`reversi.pyx`);
tests hold the two against each other.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from typing import Any

from zermelo.checker.certificate import AT_MOST, LEAF, NO_MOVE, Certificate, Order
from zermelo.checker.interface import Tell
from zermelo.checker.refusals import Fault, RefusedError, refusal
from zermelo.games import Game, GameError

_BLOCK = 256


class PlainStructure:
    """The check for any game, on the plain rules, history and all."""

    def __init__(self, certificate: Certificate, game: Game[Any]) -> None:
        self._certificate, self._game = certificate, game
        #: The entries that each entry rests on, one after the other, and where those of an
        #: entry begin. Numbers only: a large file must fit into memory.
        self._below = array("I")
        self._begin = array("Q")
        #: The order of the first entry of each block: searched much faster than the entries.
        self._blocks = [certificate.order(at) for at in range(0, len(certificate), _BLOCK)]

    def check(self, tell: Tell = lambda count: None) -> None:
        for at in range(len(self._certificate)):
            self._begin.append(len(self._below))
            fault = self._fault(at)
            if fault is not None:
                kind, position = fault
                raise RefusedError(refusal(
                    self._certificate, self._game, at, kind,
                    self._game.encode(position) if position is not None else None,
                    self._game.history(position) if position is not None else b"",
                ))
            tell(at + 1)
        circular = self._circular()
        if circular is not None:
            raise RefusedError(
                refusal(self._certificate, self._game, circular, Fault.CIRCULAR)
            )

    def _fault(self, at: int) -> tuple[Fault, Any] | None:
        certificate, game = self._certificate, self._game
        flags, bound, move = certificate.flags[at], certificate.bounds[at], certificate.moves[at]
        key, history = certificate.key(at), certificate.history(at)
        try:
            position = game.decode(key, history)
        except GameError:
            return Fault.NO_POSITION, None
        least = game.canonical(position)
        if (game.encode(least), game.history(least)) != (key, history):
            return Fault.NOT_CANONICAL, None
        if at and certificate.order(at - 1) >= certificate.order(at):
            return Fault.OUT_OF_ORDER, None
        if abs(bound) > game.max_score:
            return Fault.BAD_BOUND, None
        if flags & ~(AT_MOST | LEAF) or (move == NO_MOVE) != bool(flags):
            return Fault.BAD_KIND, None
        if flags & LEAF:
            return (Fault.GAME_OVER, None) if game.is_final(position) else None
        if flags & AT_MOST:
            moves = game.moves(position)
        else:
            moves = [move] if game.is_legal(position, move) else []
        if not moves:
            return (Fault.GAME_OVER if game.is_final(position) else Fault.ILLEGAL_MOVE), None
        for each in moves:
            child = game.play(position, each)
            fault = self._child_fault(at, child, -bound)
            if fault is not None:
                return fault, child
        return None

    def _child_fault(self, at: int, child: Any, needed: int) -> Fault | None:
        """Whether the child's score, or what is stated about it, meets what is needed.

        A child that has an entry is not asked whether it is final: the check of that entry does.
        """
        game, at_least = self._game, not self._certificate.at_least(at)
        least = game.canonical(child)
        place = self._find((game.encode(least), game.history(least), not at_least))
        if place is None:
            if not game.is_final(child):
                return Fault.MISSING
            score = game.score(child)
            enough = score >= needed if at_least else score <= needed
            return None if enough else Fault.WRONG_SCORE
        self._below.append(place)
        bound = self._certificate.bounds[place]
        enough = bound >= needed if at_least else bound <= needed
        return None if enough else Fault.TOO_WEAK

    def _find(self, wanted: Order) -> int | None:
        """The entry with this order, if the entries are in order, which `_fault` checks."""
        order, entries = self._certificate.order, len(self._certificate)
        block = bisect_left(self._blocks, wanted)
        within = range(max(0, block - 1) * _BLOCK, min(entries, block * _BLOCK + 1))
        place = within.start + bisect_left(within, wanted, key=order)
        return place if place < entries and order(place) == wanted else None

    def _circular(self) -> int | None:
        """An entry that rests on itself, if there is one."""
        begin = self._begin + array("Q", [len(self._below)])
        waiting = array("I", [0]) * len(self._begin)
        for place in self._below:
            waiting[place] += 1
        free = array("I", (at for at, count in enumerate(waiting) if not count))
        while free:
            at = free.pop()
            for place in self._below[begin[at] : begin[at + 1]]:
                waiting[place] -= 1
                if not waiting[place]:
                    free.append(place)
        return next((at for at, count in enumerate(waiting) if count), None)
