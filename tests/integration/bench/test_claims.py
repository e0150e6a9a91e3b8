"""The 8x8 table: which questions it asks, and the line through their costs."""

from __future__ import annotations

import math
import random
from pathlib import Path

import pytest

from bench.claims import CLAIM_EMPTIES, Solved, below, growth_of, measure, read_claims
from zermelo.engine.reversi import ReversiEngine
from zermelo.games import open_game

CLAIMS = """obf,count,score,alpha,beta
---------------------X----OOOO----XXO----OOOO--------O--------O- X;,0,22,-64,0
--------------------X-----OXXXX--OOOO----XOOO------------------- X;,0,-16,0,64
--------------------O----OXXXO----OOOOO----OOO------------------ X;,0,2,-2,4
"""


@pytest.fixture
def claims(tmp_path: Path) -> Path:
    path = tmp_path / "claims.csv"
    path.write_text(CLAIMS)
    return path


def test_a_claim_is_a_threshold_and_its_answer(claims: Path) -> None:
    found = read_claims(claims)  # the exact score is no claim about one threshold
    assert [(claim.threshold, claim.reached) for claim in found] == [(0, True), (1, False)]
    assert all(open_game("reversi:8x8").plies_left(claim.position) == CLAIM_EMPTIES
               for claim in found)


def test_questions_below_keep_threshold_and_side(claims: Path) -> None:
    engine = ReversiEngine(open_game("reversi:8x8,scoring=wof"), hash_mb=1)
    claim = read_claims(claims)[0]
    for empties in (49, 48, 14):
        question = below(engine, claim, empties, random.Random(empties))
        assert question is not None
        assert engine.game.plies_left(question.position) == empties
        turns = question.position.black_to_move != claim.position.black_to_move
        assert (question.threshold, question.reached) == ((1, False) if turns else (0, True))
    (solved,) = measure(engine, [claim], {12: 1}, None, 5)
    assert solved.answered
    assert solved.empties == 12


def test_growth_is_the_line_through_the_logarithms() -> None:
    solved = [Solved(e, "", 0, round(math.exp(e / 2)), 2.0, True) for e in (30, 30, 33, 36)]
    growth = growth_of(solved)
    assert growth is not None
    assert growth.per_empty == pytest.approx(math.exp(0.5))
    assert growth.claim_nodes == pytest.approx(math.exp(25), rel=1e-4)
    assert growth.claim_factor == pytest.approx(1, abs=1e-3)
    speed = sum(one.nodes for one in solved) / 8
    assert growth.claims_per_core_year == pytest.approx(
        365.25 * 86400 * speed / math.exp(25), rel=1e-4
    )
    assert growth_of(solved[:2]) is None
