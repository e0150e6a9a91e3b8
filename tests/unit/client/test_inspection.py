"""Workunits that make no sense in their game are refused before an engine sees them."""

from __future__ import annotations

from typing import Any

import pytest

from zermelo import ZermeloError
from zermelo.client.inspection import MOST_NODES, question_of
from zermelo.games import Bounds, open_game
from zermelo.proto import coordinator_pb2 as pb

GAME = open_game("reversi:4x4")
ROOT = GAME.canonical(GAME.initial())
KEY = GAME.encode(ROOT)
LARGEST = GAME.max_score


def workunit(**fields: Any) -> pb.Workunit:
    values: dict[str, Any] = {
        "lease_id": 1, "game": GAME.spec, "position": KEY, "threshold": 1, "node_budget": 1000,
        **fields,
    }  # fmt: skip
    return pb.Workunit(**values)


def known(lo: int, hi: int, **fields: Any) -> pb.KnownBounds:
    return pb.KnownBounds(**{"positions": KEY, "lo": [lo], "hi": [hi], **fields})


@pytest.mark.parametrize("threshold", [-LARGEST + 1, 0, LARGEST])
def test_questions_about_scores_that_occur_are_asked(threshold: int) -> None:
    question = question_of(
        GAME,
        workunit(threshold=threshold, node_budget=MOST_NODES, known=known(-LARGEST, LARGEST)),
    )
    assert question.position == ROOT
    assert question.threshold == threshold
    assert [item.bounds for item in question.known] == [Bounds(-LARGEST, LARGEST)]


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"threshold": -LARGEST}, "threshold -16 is beyond"),
        ({"threshold": LARGEST + 1}, "threshold 17 is beyond"),
        ({"threshold": 2**31 - 1}, "threshold"),
        ({"node_budget": 0}, "budget of 0 nodes"),
        ({"node_budget": MOST_NODES + 1}, "a budget of 1000000000000001 nodes"),
        ({"position": b""}, "key"),
        ({"position": b"\xff" * 16}, "key"),
        ({"history": b"x"}, "history of 1 bytes"),
        ({"known": known(-LARGEST - 1, 0)}, "known bounds -17 to 0"),
        ({"known": known(0, LARGEST + 1)}, "known bounds 0 to 17"),
        ({"known": known(1, 0)}, "contradictory"),
        ({"known": known(0, 0, positions=KEY[:15])}, "do not fit together"),
        ({"known": known(0, 0, positions=b"\xff" * 16)}, "key"),
        ({"known": known(0, 0, histories=[b"x"])}, "history of 1 bytes"),
    ],
)
def test_others_are_refused(fields: dict[str, Any], words: str) -> None:
    with pytest.raises(ZermeloError, match=words):
        question_of(GAME, workunit(**fields))
