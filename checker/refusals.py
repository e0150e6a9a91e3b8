"""Why a certificate is refused: what can be wrong with an entry, in words for people."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import Any

from zermelo import ZermeloError
from zermelo.checker.certificate import NO_MOVE, Certificate
from zermelo.games import Game, GameError, Key


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


def refusal(
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
        except GameError:
            why = f" by move {move}"
    return f"{sign} {certificate.bounds[at]:+d}{why}"


def leaf_refusal(certificate: Certificate, game: Game[Any], at: int) -> Refusal:
    return refusal(certificate, game, at, Fault.WRONG_LEAF)


def _move_to(game: Game[Any], position: Any, key: Key, history: bytes) -> str:
    """The move that leads to this position or one symmetric to it."""
    wanted = game.canonical(game.decode(key, history))
    for move in game.moves(position):
        if game.canonical(game.play(position, move)) == wanted:
            return game.move_name(move)
    return "one of the moves"
