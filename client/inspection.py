"""Workunits of a server that may be broken or hostile: refused before an engine sees them.

What a message may hold at all is checked when it is received (`proto.replies`). Here the rules
of the game decide: an engine is asked only about positions, scores and histories that occur.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from zermelo import ZermeloError
from zermelo.engine import Known
from zermelo.games import Bounds, Game
from zermelo.proto import coordinator_pb2 as pb
from zermelo.proto.known import from_message

#: What a result can report.
MOST_NODES = 10**15


class WorkunitError(ZermeloError, ValueError):
    """A workunit asks what no game can answer; the message says what is wrong with it."""


class Question(NamedTuple):
    """What a workunit asks, in the game's own terms."""

    position: Any
    threshold: int
    known: list[Known]


def question_of(game: Game[Any], workunit: pb.Workunit) -> Question:
    """The question of a workunit; a `ZermeloError` when it makes no sense in this game."""
    scores = game.score_range
    if not scores.lo < workunit.threshold <= scores.hi:
        raise WorkunitError(
            f"threshold {workunit.threshold} is beyond the scores {scores.lo} to {scores.hi}"
        )
    if not 0 < workunit.node_budget <= MOST_NODES:
        raise WorkunitError(f"a budget of {workunit.node_budget} nodes; 1 to {MOST_NODES:,} make"
                            " sense")  # fmt: skip
    position = _position(game, workunit.position, workunit.history)
    known = []
    for item in from_message(workunit.known):
        if not scores.lo <= item.lo <= item.hi <= scores.hi:
            raise WorkunitError(
                f"known bounds {item.lo} to {item.hi} are beyond the scores {scores.lo} to"
                f" {scores.hi}"
            )
        known.append(Known(_position(game, item.key, item.history), Bounds(item.lo, item.hi)))
    return Question(position, workunit.threshold, known)


def _position(game: Game[Any], key: bytes, history: bytes) -> Any:
    if history and not game.path_dependent:
        raise WorkunitError(f"a history of {len(history)} bytes; {game.name} has none")
    return game.decode(key, history)
