"""Reversi by depth: the compiled search with a textbook evaluation, perfect at the end if asked."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from zermelo.engine.reversi_depth import (
    EVALUATIONS,
    FEATURES,
    LARGEST_WEIGHT,
    ReversiDepth,
    TrainedDepth,
)
from zermelo.engine.weights import weight_file
from zermelo.games import Move
from zermelo.games.reversi import Reversi, ReversiPosition
from zermelo.players.interface import Player, PlayerError
from zermelo.players.look_ahead import DEEPEST, LookAhead
from zermelo.players.solving import EnginePlayer

#: What plays the last moves perfectly may take this many nodes: 16 empty squares take far fewer.
PERFECT_NODES = 1_000_000_000
MOST_PERFECT = 20
DEFAULT_EVALUATION = "features"
#: The evaluation that the engine was trained to.
TRAINED = "trained"

_WEIGHTS = re.compile(r"[a-z-]+=-?[0-9]{1,4}(?:\+[a-z-]+=-?[0-9]{1,4})*", re.ASCII)


class DepthPlayer:
    """Looks `plies` ahead. With at most `perfect` empty squares it plays what is proved best."""

    def __init__(
        self, game: Reversi, plies: int, evaluation: str, name: str, perfect: int = 0
    ) -> None:
        """`evaluation` is a name, or features with weights; empty for the usual one."""
        self.name = name
        self._game, self._plies, self._perfect = game, plies, perfect
        self._search = (
            TrainedDepth(game) if evaluation == TRAINED
            else ReversiDepth(game, read_weights(evaluation))
        )  # fmt: skip
        self._end = EnginePlayer(game, PERFECT_NODES, name) if perfect else None

    def choose(self, position: ReversiPosition) -> Move:
        empty = self._game.max_score - (position.own | position.opponent).bit_count()
        if self._end is not None and empty <= self._perfect:
            return self._end.choose(position)
        return self._search.choose(position, self._plies).move

    def begin(self) -> None:
        pass


class ReversiLookAhead(LookAhead[Reversi]):
    """Reversi by the compiled search."""

    deepest = DEEPEST
    perfect_end = True
    features = MappingProxyType({name: EVALUATIONS["features"].get(name, 0) for name in FEATURES})
    largest_weight = LARGEST_WEIGHT
    rivals = (
        "minimax:3,discs", "minimax:3,matrix", "minimax:6,discs", "minimax:6,matrix", "minimax:6",
    )  # fmt: skip
    fair = "minimax:6"
    summary = (
        f"of reversi also {', '.join(EVALUATIONS)}, {TRAINED} or weights such as"
        " discs=1+corners=10, and perfect at the end with minimax:N,EVALUATION,perfect=16"
    )

    def evaluations(self, game: Reversi) -> Sequence[str]:
        return (*EVALUATIONS, *([TRAINED] if weight_file(game).exists() else []))

    def open(
        self, game: Reversi, plies: int, evaluation: str, perfect: str, name: str
    ) -> Player:
        if has_evaluation(evaluation):
            return DepthPlayer(game, plies, evaluation, name, read_perfect(perfect))
        return super().open(game, plies, evaluation, perfect, name)


def has_evaluation(text: str) -> bool:
    """Whether this names an evaluation of reversi, or features with weights."""
    return text in ("", TRAINED, *EVALUATIONS) or _WEIGHTS.fullmatch(text) is not None


def read_weights(text: str) -> Mapping[str, int]:
    """The weights of an evaluation by name, or as in ``discs=1+corners=10``."""
    name = text or DEFAULT_EVALUATION
    if name in EVALUATIONS:
        return EVALUATIONS[name]
    if not _WEIGHTS.fullmatch(name):
        raise PlayerError(
            f"unknown evaluation {text!r}; known: {', '.join(EVALUATIONS)}, {TRAINED}, or weights"
            f" such as discs=1+corners=10 of {', '.join(FEATURES)}"
        )
    return {feature: int(weight) for feature, _, weight in
            (part.partition("=") for part in name.split("+"))}  # fmt: skip


def read_perfect(text: str) -> int:
    """How many empty squares ``perfect=16`` means; 0 for nothing."""
    if not text:
        return 0
    found = re.fullmatch(r"perfect=([0-9]{1,2})", text, re.ASCII)
    if found is None or int(found[1]) > MOST_PERFECT:
        raise PlayerError(f"{text!r}: write perfect=N, N up to {MOST_PERFECT} empty squares")
    return int(found[1])
