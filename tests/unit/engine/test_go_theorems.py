"""The theorems of docs/go.md under histories that nobody would play, against plain search."""

from __future__ import annotations

from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.effort import examples
from tests.support.go_plain import TooLargeError, plain_value
from tests.support.go_positions import go
from zermelo.cext.go_retrograde import Retrograde
from zermelo.engine import Known, Status, Window
from zermelo.engine.conquest import Conquest
from zermelo.engine.go import GoEngine
from zermelo.games import Bounds
from zermelo.games.go import Go, GoPosition, Past

#: So much plain search is worth its while.
NODES = 1500


@cache
def engine_of(spec: str) -> GoEngine:
    """One table for all examples: what was proved under one history meets all others."""
    return GoEngine(go(spec), hash_mb=4)


@st.composite
def boards(draw: st.DrawFn, game: Go, signs: str = "XO.") -> tuple[int, int]:
    """Stones anywhere, without those that have no liberty."""
    cells = draw(st.lists(st.sampled_from(signs), min_size=len(game.board.points),
                          max_size=len(game.board.points)))  # fmt: skip
    black, white = (
        sum(1 << point for point, cell in zip(game.board.points, cells, strict=True) if cell == own)
        for own in "XO"
    )
    white &= ~game.board.without_liberties(white, black)
    return black & ~game.board.without_liberties(black, white), white


@st.composite
def positions(draw: st.DrawFn, game: Go, signs: str = "XO.") -> GoPosition:
    """Any board after any other boards."""
    position = GoPosition(*draw(boards(game, signs)), black_to_move=draw(st.booleans()))
    tags = st.integers(0, 1) if game.ko == "ssk" else st.just(0)
    past = {
        Past(*board, draw(tags)) for board in draw(st.lists(boards(game, signs), max_size=8))
    }
    now = Past(position.black, position.white, int(game.ko == "ssk" and position.black_to_move))
    return GoPosition(
        position.black, position.white, position.black_to_move, past=frozenset(past - {now})
    )


@pytest.mark.slow
@pytest.mark.parametrize("spec", ["1x5", "2x2", "2x3", "2x3,ko=ssk", "2x2,ko=ssk"])
@examples(4, 25)
@given(st.data())
def test_no_proof_is_reused_where_history_breaks_it(spec: str, data: st.DataObject) -> None:
    """Rules 1 to 4: what is given about a child of one position is also in the table."""
    game = go(spec)
    position = data.draw(positions(game))
    child = game.play(position, data.draw(st.sampled_from(game.moves(position))))
    known = []
    try:
        if not game.is_final(child):
            value = plain_value(game, child, NODES)
            known = [Known(child, Bounds(value, value))]
        value = plain_value(game, position, NODES)
    except TooLargeError:
        return
    assert engine_of(spec).solve(position, known=known).bounds == Bounds(value, value)


@cache
def without_ko_rule(rows: int, cols: int) -> Retrograde:
    return Retrograde(rows, cols, ko_rule=False, bottom=-rows * cols)


@pytest.mark.parametrize("rules", ["ko=psk", "ko=ssk", "ko=basic", "ko=basic,cycle=passes"])
@examples(6, 15)
@given(st.data())
def test_what_needs_no_ko_rule_holds_under_every_one(rules: str, data: st.DataObject) -> None:
    """Theorem 1."""
    spec = f"3x3,{rules}"
    game = go(spec)
    black, white = data.draw(boards(game))
    for black_to_move in (True, False):
        floor = without_ko_rule(3, 3).floor(black, white, black_to_move)
        threshold = floor if black_to_move else 1 - floor
        position = GoPosition(black, white, black_to_move)
        answer = engine_of(spec).solve(position, Window.question(threshold), node_budget=20_000)
        area = answer.bounds if black_to_move else -answer.bounds
        assert area.hi >= floor
        if answer.status is Status.SOLVED:
            assert area.lo >= floor


@pytest.mark.parametrize("ko", ["psk", "ssk"])
@examples(15, 40)
@given(st.data())
def test_whoever_conquers_owns_everything(ko: str, data: st.DataObject) -> None:
    """Theorem 3: a search that shares nothing and knows nothing of life does not object."""
    game = go(f"2x4,ko={ko}")
    position = data.draw(positions(game, "XXO.."))
    if not Conquest(game, hash_mb=1).ask(position, True, 500)[0]:
        return
    alone = GoEngine(game, hash_mb=4, share=False, life=False)
    bounds = alone.solve(position, node_budget=3000).bounds
    score = 8 if position.black_to_move else -8
    assert bounds.lo <= score <= bounds.hi
