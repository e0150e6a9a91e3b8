"""Numbers as people write them."""

from __future__ import annotations

import pytest

from zermelo.figures import by, signed, span


@pytest.mark.parametrize(
    ("score", "text"), [(4, "+4"), (-4, "-4"), (0, "0"), (0.0, "0"), (-0.2, "0"), (12.0, "+12")]
)
def test_a_score_has_a_sign_unless_it_is_zero(score: float, text: str) -> None:
    assert signed(score) == text


def test_bounds() -> None:
    assert span(0, 0) == "0"
    assert span(-4, 0) == "-4 to 0"
    assert span(2, 36) == "+2 to +36"


@pytest.mark.parametrize(("margin", "max_score", "text"), [(1, 1, ""), (1, 64, " by 1")])
def test_a_game_that_is_only_won_or_lost_has_no_margin(
    margin: int, max_score: int, text: str
) -> None:
    assert by(margin, max_score) == text
