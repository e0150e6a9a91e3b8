"""Numbers as people write them."""

from __future__ import annotations

import pytest

from zermelo.figures import signed, span


@pytest.mark.parametrize(
    ("score", "text"), [(4, "+4"), (-4, "-4"), (0, "0"), (0.0, "0"), (-0.2, "0"), (12.0, "+12")]
)
def test_a_score_has_a_sign_unless_it_is_zero(score: float, text: str) -> None:
    assert signed(score) == text


def test_bounds() -> None:
    assert span(0, 0) == "0"
    assert span(-4, 0) == "-4 to 0"
    assert span(2, 36) == "+2 to +36"
