"""Reversi by depth: the compiled search with a textbook evaluation, perfect at the end if asked."""

from __future__ import annotations

import re
from collections.abc import Mapping

from zermelo.engine.reversi_depth import EVALUATIONS, FEATURES, ReversiDepth, TrainedDepth
from zermelo.engine.weights import weight_file
from zermelo.games import Move
from zermelo.games.reversi import Reversi, ReversiPosition
from zermelo.players.interface import PlayerError
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


def has_evaluation(text: str) -> bool:
    """Whether this names an evaluation of reversi, or features with weights."""
    return text in ("", TRAINED, *EVALUATIONS) or _WEIGHTS.fullmatch(text) is not None


def has_trained(game: Reversi) -> bool:
    """Whether there are trained weights for this board."""
    return weight_file(game).exists()


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
