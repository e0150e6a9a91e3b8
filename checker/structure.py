"""Whether every statement of a certificate follows from the others and the rules.

Every entry is checked by itself: its position is one of the game and canonical, its move
is legal, every reply is covered, and the bounds of the positions after them suffice.
That the entry about the root is among them makes the whole a proof, provided that no
chain of reasons comes back to where it began.

For reversi this is compiled (`reversi.pyx`); for all other games it is done here, on the
plain rules. Tests hold the two against each other.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

from zermelo import ZermeloError
from zermelo.checker.certificate import AT_MOST, LEAF, NO_MOVE, Certificate
from zermelo.checker.reversi import ReversiRules
from zermelo.games import Game, GameError, Key, open_game
from zermelo.games.reversi import Reversi

#: Called now and then with the number of entries checked.
Tell = Callable[[int], None]


class Fault(IntEnum):
    """What can be wrong with an entry; the same numbers as in reversi_structure.h."""

    NO_POSITION = 1
    NOT_CANONICAL = 2
    OUT_OF_ORDER = 3
    BAD_BOUND = 4
    BAD_KIND = 5
    GAME_OVER = 6
    ILLEGAL_MOVE = 7
    MISSING = 8
    TOO_WEAK = 9
    WRONG_SCORE = 10
    CIRCULAR = 11
    NO_ROOT = 12
    WRONG_LEAF = 13


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a certificate is refused: the first offending position and what is wrong there."""

    fault: Fault
    #: The number of the entry in the file; None if the fault is that there is none.
    entry: int | None
    #: What the certificate says there, and what is wrong with that.
    reason: str
    #: The position, drawn.
    board: str
    position: str


class RefusedError(ZermeloError):
    """A certificate does not prove what it says."""

    exit_code = 1

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal.reason)
        self.refusal = refusal


def check_structure(certificate: Certificate, tell: Tell = lambda count: None) -> None:
    """`RefusedError` for the first entry that does not follow from the others."""
    game = open_game(certificate.header.game)
    _check_root(certificate, game)
    if isinstance(game, Reversi):
        rules = ReversiRules(game.rows, game.cols, game.scoring == "wof")
        if any(certificate.histories):
            at = next(at for at, history in enumerate(certificate.histories) if history)
            raise RefusedError(_refusal(certificate, game, at, Fault.NO_POSITION))
        found = rules.first_fault(
            certificate.keys, certificate.flags, certificate.bounds, certificate.moves
        )
        if found is not None:
            at, fault, key = found
            raise RefusedError(_refusal(certificate, game, at, Fault(fault), key))
        tell(len(certificate))
    else:
        PlainStructure(certificate, game).check(tell)


def _check_root(certificate: Certificate, game: Game[Any]) -> None:
    """The statements of the header must be among the entries."""
    header = certificate.header
    start = game.parse(header.position)
    root = game.canonical(start)
    key, history = game.encode(root), game.history(root)
    needed = {}
    if game.is_final(root):
        score = game.score(root)
        if (header.lo, header.hi) == (score, score):
            return
        needed[True] = header.lo
    else:
        if header.lo > -game.max_score:
            needed[True] = header.lo
        if header.hi < game.max_score:
            needed[False] = header.hi
    found = {}
    at = certificate.keys.find(key)
    while at >= 0:
        place, rest = divmod(at, len(key))
        if not rest and certificate.history(place) == history:
            found[certificate.at_least(place)] = certificate.bounds[place]
        at = certificate.keys.find(key, at + 1)
    for at_least, bound in needed.items():
        stated = found.get(at_least)
        if stated is None or (stated < bound if at_least else stated > bound):
            sign = "at least" if at_least else "at most"
            raise RefusedError(Refusal(
                Fault.NO_ROOT, None,
                f"nothing in the file proves that this position is worth {sign} {bound:+d}",
                game.draw(start), game.format(start),
            ))


class PlainStructure:
    """The check for any game, on the plain rules, history and all."""

    def __init__(self, certificate: Certificate, game: Game[Any]) -> None:
        self._certificate, self._game = certificate, game
        self._places: dict[tuple[Key, bytes, bool], int] = {}
        for at in range(len(certificate)):
            statement = (certificate.key(at), certificate.history(at), certificate.at_least(at))
            self._places.setdefault(statement, at)
        #: The entries that each entry rests on.
        self._below: list[list[int]] = []

    def check(self, tell: Tell = lambda count: None) -> None:
        for at in range(len(self._certificate)):
            self._below.append([])
            fault = self._fault(at)
            if fault is not None:
                kind, position = fault
                raise RefusedError(_refusal(
                    self._certificate, self._game, at, kind,
                    self._game.encode(position) if position is not None else None,
                    self._game.history(position) if position is not None else b"",
                ))
            tell(at + 1)
        circular = self._circular()
        if circular is not None:
            raise RefusedError(
                _refusal(self._certificate, self._game, circular, Fault.CIRCULAR)
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
        if at and (certificate.key(at - 1), certificate.history(at - 1),
                   not certificate.at_least(at - 1)) >= (key, history, bool(flags & AT_MOST)):
            return Fault.OUT_OF_ORDER, None
        if abs(bound) > game.max_score:
            return Fault.BAD_BOUND, None
        if flags & ~(AT_MOST | LEAF) or (move == NO_MOVE) != bool(flags):
            return Fault.BAD_KIND, None
        moves = game.moves(position)
        if not moves:
            return Fault.GAME_OVER, None
        if flags & LEAF:
            return None
        if not flags & AT_MOST:
            if move not in moves:
                return Fault.ILLEGAL_MOVE, None
            moves = [move]
        for each in moves:
            child = game.play(position, each)
            fault = self._child_fault(at, child, -bound)
            if fault is not None:
                return fault, child
        return None

    def _child_fault(self, at: int, child: Any, needed: int) -> Fault | None:
        """Whether the child's score, or what is stated about it, meets what is needed."""
        game, at_least = self._game, not self._certificate.at_least(at)
        if game.is_final(child):
            score = game.score(child)
            enough = score >= needed if at_least else score <= needed
            return None if enough else Fault.WRONG_SCORE
        least = game.canonical(child)
        place = self._places.get((game.encode(least), game.history(least), at_least))
        if place is None:
            return Fault.MISSING
        self._below[at].append(place)
        bound = self._certificate.bounds[place]
        enough = bound >= needed if at_least else bound <= needed
        return None if enough else Fault.TOO_WEAK

    def _circular(self) -> int | None:
        """An entry that rests on itself, if there is one."""
        waiting = [0] * len(self._below)
        for below in self._below:
            for place in below:
                waiting[place] += 1
        free = [at for at, count in enumerate(waiting) if not count]
        while free:
            for place in self._below[free.pop()]:
                waiting[place] -= 1
                if not waiting[place]:
                    free.append(place)
        return next((at for at, count in enumerate(waiting) if count), None)


_REASONS = {
    Fault.NO_POSITION: "there is no such position",
    Fault.NOT_CANONICAL: "it is not the smallest of its symmetric images",
    Fault.OUT_OF_ORDER: "it is not in its place, or told twice",
    Fault.BAD_BOUND: "no score of the game is that large",
    Fault.BAD_KIND: "it gives no reason that an entry can give",
    Fault.GAME_OVER: "the game is over there, and the rules alone tell its score",
    Fault.ILLEGAL_MOVE: "the move is illegal",
    Fault.MISSING: "nothing is stated about the position after",
    Fault.TOO_WEAK: "too little is stated about the position after",
    Fault.WRONG_SCORE: "the game ends with another score after",
    Fault.CIRCULAR: "it rests on itself",
    Fault.WRONG_LEAF: "searching the position again gives another answer",
}
_ABOUT_A_MOVE = (Fault.MISSING, Fault.TOO_WEAK, Fault.WRONG_SCORE)


def _refusal(
    certificate: Certificate, game: Game[Any], at: int, fault: Fault,
    after: Key | None = None, after_history: bytes = b"",
) -> Refusal:
    statement = describe(certificate, game, at)
    try:
        position = game.decode(certificate.key(at), certificate.history(at))
        board, text = game.draw(position), game.format(position)
    except GameError:
        position, board, text = None, f"key {certificate.key(at).hex()}", ""
    reason = _REASONS[fault]
    if fault in _ABOUT_A_MOVE and position is not None and after is not None:
        reason = f"{reason} {_move_to(game, position, after, after_history)}"
    return Refusal(fault, at, f"entry {at} states {statement}, but {reason}", board, text)


def describe(certificate: Certificate, game: Game[Any], at: int) -> str:
    """What an entry states, in words."""
    sign = "at least" if certificate.at_least(at) else "at most"
    move = certificate.moves[at]
    why = ""
    if certificate.is_leaf(at):
        why = " (a leaf)"
    elif move != NO_MOVE:
        try:
            why = f" by {game.move_name(move)}"
        except (GameError, IndexError):
            why = f" by move {move}"
    return f"{sign} {certificate.bounds[at]:+d}{why}"


def leaf_refusal(certificate: Certificate, game: Game[Any], at: int) -> Refusal:
    return _refusal(certificate, game, at, Fault.WRONG_LEAF)


def _move_to(game: Game[Any], position: Any, key: Key, history: bytes) -> str:
    """The move that leads to this position or one symmetric to it."""
    wanted = game.canonical(game.decode(key, history))
    for move in game.moves(position):
        if game.canonical(game.play(position, move)) == wanted:
            return game.move_name(move)
    return "one of the moves"
