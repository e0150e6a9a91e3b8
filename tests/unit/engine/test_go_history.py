"""Where a table that forgets history goes wrong, and ours does not (docs/go.md)."""

from __future__ import annotations

import pytest

from tests.support.go_plain import plain_value
from tests.support.go_positions import go
from zermelo.engine.go import GoEngine
from zermelo.games import Bounds

#: Specs whose empty board is a trap: a naive table gives another value.
TRAPS = {"2x2": 1, "2x2,ko=ssk": 1}


@pytest.mark.parametrize(("spec", "value"), TRAPS.items())
def test_a_naive_table_is_wrong_where_ours_is_right(spec: str, value: int) -> None:
    game = go(spec)
    assert GoEngine(game).solve(game.initial()).bounds == Bounds(value, value)
    try:
        naive = GoEngine(game, naive=True).solve(game.initial()).bounds
    except ValueError as contradiction:
        assert "contradictory bounds" in str(contradiction)  # noqa: PT017
    else:
        assert naive != Bounds(value, value)


def test_2x2_by_plain_search_alone() -> None:
    """The trap on 2x2, with nothing but the reference rules."""
    game = go("2x2")
    position = game.initial()
    for name in ("a2", "b1"):
        position = game.play(position, game.find_move(position, name))
    assert plain_value(game, position, 2_000_000) == 1


@pytest.mark.slow
def test_one_board_two_histories_two_values() -> None:
    """The same stones and side to move are worth different scores."""
    game = go("2x2")
    engine = GoEngine(game)
    values: dict[bytes, set[int]] = {}
    frontier = [game.initial()]
    for _ in range(7):
        frontier = [game.play(p, m) for p in frontier for m in game.moves(p)]
        for position in frontier[:400]:
            bounds = engine.solve(position).bounds
            assert bounds.exact
            values.setdefault(game.encode(position), set()).add(bounds.lo)
    assert any(len(scores) > 1 for scores in values.values())
